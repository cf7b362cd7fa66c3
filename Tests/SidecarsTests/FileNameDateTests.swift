import DateTexts
import Foundation
import Testing

@testable import Sidecars

/// 2026-01-01 12:00 UTC.
let now: Int64 = 1_767_268_800_000

/// On the wall clock as if UTC, by Foundation: a second opinion on the calendar.
func milliseconds(_ text: String) throws -> Int64 {
    Int64((try Date(text, strategy: .iso8601).timeIntervalSince1970 * 1000).rounded())
}

struct FileNameDateTests {
    @Test(arguments: [
        ("IMG_20190612_140533.jpg", "2019-06-12T14:05:33Z"), ("20190612_140533.jpg", "2019-06-12T14:05:33Z"),
        ("20190612140533.jpg", "2019-06-12T14:05:33Z"), ("IMG20190612140533.jpg", "2019-06-12T14:05:33Z"),
        ("00001IMG_00001_BURST20190612140533.jpg", "2019-06-12T14:05:33Z"),
        ("VID_20190612_140533.mp4", "2019-06-12T14:05:33Z"), ("2019-06-12 14.05.33.jpg", "2019-06-12T14:05:33Z"),
        ("2019-06-12 14.05.33-1.jpg", "2019-06-12T14:05:33Z"), ("2019-06-12-14-05-33.jpg", "2019-06-12T14:05:33Z"),
        ("photo_2019-06-12_14-05-33 (2).jpg", "2019-06-12T14:05:33Z"),
        ("Screenshot_20190612-140533_App.png", "2019-06-12T14:05:33Z"),
        ("Screenshot 2019-06-12 at 14.05.33.png", "2019-06-12T14:05:33Z"),
        ("Screenshot 2019-06-12 at 2.05.33 PM.png", "2019-06-12T14:05:33Z"),
        ("Screenshot 2019-06-12 at 2.05.33\u{202F}PM.png", "2019-06-12T14:05:33Z"),
        ("Screen Shot 2019-06-12 at 12.05.33 AM.png", "2019-06-12T00:05:33Z"),
        ("Bildschirmfoto 2019-06-12 um 14.05.33.png", "2019-06-12T14:05:33Z"),
        ("Capture d’écran 2019-06-12 à 14.05.33.png", "2019-06-12T14:05:33Z"),
        ("WhatsApp Image 2019-06-12 at 14.05.33.jpeg", "2019-06-12T14:05:33Z"),
        ("signal-2019-06-12-140533.jpg", "2019-06-12T14:05:33Z"), ("P20190612-140533.jpg", "2019-06-12T14:05:33Z"),
        ("IMG_20190612_140533(1).jpg", "2019-06-12T14:05:33Z"),
        ("IMG_20190612_140533-edited.jpg", "2019-06-12T14:05:33Z"),
        ("IMG_20190612_140533~2.jpg", "2019-06-12T14:05:33Z"), ("IMG_20200229_000000_HDR.jpg", "2020-02-29T00:00:00Z"),
        ("Screenshot_2024-08-31-00-53-48_com.snapchat.jpg", "2024-08-31T00:53:48Z"),
        ("IMG_19991231_235959.jpg", "1999-12-31T23:59:59Z"), ("18500612_140533.jpg", "1850-06-12T14:05:33Z"),
        ("Imagen de WhatsApp 2019-06-12 a las 14.05.33.jpg", "2019-06-12T14:05:33Z"),
        ("Skärmbild 2019-06-12 kl. 14.05.33.png", "2019-06-12T14:05:33Z"),
        ("Снимок экрана 2019-06-12 в 14.05.33.png", "2019-06-12T14:05:33Z"),
        ("截屏2019-06-12 下午2.05.33.png", "2019-06-12T14:05:33Z"), ("截屏2019-06-12 上午12.05.33.png", "2019-06-12T00:05:33Z"),
        ("스크린샷 2019-06-12 오후 2.05.33.png", "2019-06-12T14:05:33Z"),
    ]) func deviceClock(name: String, time: String) throws {
        let found = FileNameDate.date(in: name, now: now)
        #expect(found == CaptureTime(milliseconds: try milliseconds(time), clock: .wall(offsetMinutes: nil)), "\(name)")
    }

    @Test(arguments: [
        ("signal-2019-06-12-14-05-33-123.jpg", 123), ("IMG_20190612_140533123.jpg", 123),
        ("Screenshot_2019-06-12-14-05-33-647_com.app.jpg", 647), ("20190612140533123.jpg", 123),
        ("IMG_20190612_140533_123.jpg", 0),
    ]) func thousandths(name: String, millisecond: Int64) throws {
        let second = try milliseconds("2019-06-12T14:05:33Z")
        #expect(FileNameDate.date(in: name, now: now)?.milliseconds == second + millisecond, "\(name)")
    }

    @Test(arguments: [
        ("PXL_20230401_123456789.jpg", Int64(1_680_352_496_789)),
        ("PXL_20230401_123456789.PORTRAIT-01.jpg", 1_680_352_496_789),
        ("PXL_20230401_123456789~2.jpg", 1_680_352_496_789), ("1560348333123.jpg", 1_560_348_333_123),
        ("FB_IMG_1560348333123.jpg", 1_560_348_333_123), ("mmexport1560348333123(1).jpg", 1_560_348_333_123),
    ]) func instants(name: String, milliseconds: Int64) {
        let found = FileNameDate.date(in: name, now: now)
        #expect(found == CaptureTime(milliseconds: milliseconds, clock: .universal), "\(name)")
        #expect(found?.isUTC == true)
    }

    @Test(arguments: [
        "IMG-20190612-WA0007.jpg", "VID-20190612-WA0001.mp4", "2019-06-12.jpg", "20190612.jpg", "scan 2019.06.12.tif",
        "2019-06-12 (2).jpg", "IMG_20190612_0001.jpg", "2019-06-12-003.jpg", "2019-06-12 at sea.jpg",
        "2019-06-12 - 3 children.jpg", "2019-06-12 day 3 at sea.jpg", "2019-06-12 take2.05.33.jpg",
        "2019-06-12 and a great many other words 14.05.33.jpg",
        "9e8449ee-9f27-440f-949b-20190613fab1_2019-06-12.jpg",
    ]) func onlyTheDay(name: String) throws {
        let day = CaptureTime(
            milliseconds: try milliseconds("2019-06-12T00:00:00Z"), clock: .wall(offsetMinutes: nil), precision: .day)
        #expect(FileNameDate.date(in: name, now: now) == day, "\(name)")
    }

    @Test(arguments: [
        "", ".jpg", "DSC_0001.jpg", "IMG_0001.jpg", "Photo 12-06-2019.jpg", "12-06-2019-01-02.jpg", "12.06.2019.jpg",
        // What no calendar has.
        "IMG_00000000_000000.jpg", "IMG_20191312_140533.jpg", "IMG_20190230_140533.jpg", "IMG_20190229_140533.jpg",
        "IMG_20190612_240000.jpg", "IMG_20190612_146033.jpg", "2019-02-30 14.05.33.jpg", "2019-06-12 25.05.33.jpg",
        "Screenshot 2019-06-12 at 14.05.33 PM.png", "0000-00-00 00.00.00.jpg", "IMG-20190600-WA0007.jpg",
        // Before photographs, and after the day after now.
        "18391231_scan.jpg", "18010612_140533.jpg", "IMG_20260103_120000.jpg", "2999-01-01.jpg",
        "4006381333931.jpg", "9999999999999.jpg",
        // Numbers of another kind.
        "120190612_140533.jpg", "13039_20190612_537645323_9470255_n.jpg", "4711_20190612_n.jpg",
        "20190612_10155203123456789_n.jpg",
        "D20190612-D2D5-4A62-AFCE-9CF465CB7D66.jpeg", "9CF20190612B.jpg", "x20190612y.jpg",
        "0516c0a9-5402-1971-11-02-196711025211.jpg", "20190612-5402-f3d7-ae27-19671102f52c.jpg",
        "1560348333123_4711_n.jpg",
        "IMG15603483331234.jpg", "0560348333123.jpg", "EAN 1560348333123.jpg", "2019-6-12.jpg", "2019-06-123.jpg",
    ]) func none(name: String) {
        #expect(FileNameDate.date(in: name, now: now) == nil, "\(name)")
    }

    @Test func aDayAheadIsAnotherZone() {
        #expect(FileNameDate.date(in: "IMG_20260102_120000.jpg", now: now) != nil)
        #expect(FileNameDate.date(in: "IMG_20260102_120001.jpg", now: now) == nil)
        #expect(FileNameDate.date(in: "IMG_20190612_120000.jpg", now: .max) != nil)
        #expect(FileNameDate.date(in: "IMG_20190612_120000.jpg", now: .min) == nil)
    }
}
