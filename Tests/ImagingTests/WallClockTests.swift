import Foundation
import ImageWorkerProtocol
import Testing

@testable import PhotoConversion

@Suite struct WallClockTests {
    @Test(
        arguments: [
            ("0000:00:00 00:00:00", nil), ("2021:13:01 10:00:00", nil), ("2021:02:30 10:00:00", nil),
            ("2023:02:29 10:00:00", nil), ("2021:05:01 24:00:00", nil), ("2021:05:01 10:60:00", nil),
            ("    :  :     :  :  ", nil), ("2021:05:01", nil), ("", nil), ("1500:01:01 00:00:00", nil),
            ("2024:02:29 10:00:00", 1_709_200_800_000), ("2021:05:01 10:00:00", 1_619_863_200_000),
            ("2021-05-01T10:00:00", 1_619_863_200_000), ("1969:12:31 23:59:59", -1000),
            ("9999:12:31 23:59:59", 253_402_300_799_000), ("1800:01:01 00:00:00", -5_364_662_400_000),
            ("2016:12:31 23:59:60", 1_483_228_799_000),
        ] as [(String, Int64?)])
    func absurdDatesAreNone(_ text: String, _ expected: Int64?) {
        #expect(WallClock(exif: text, fraction: nil, offset: "+09:00")?.milliseconds == expected)
    }

    @Test(arguments: [
        ("5", 500), ("05", 50), ("123", 123), ("1239", 123), ("", 0), ("ab", 0), ("7x", 700), (" 25", 250),
    ])
    func fractionsAreDigitsAfterThePoint(_ text: String, _ expected: Int) throws {
        let date = try #require(WallClock(exif: "2021:05:01 10:00:00", fraction: text, offset: nil))
        #expect(date.millisecond == expected)
    }

    @Test(
        arguments: [
            ("+02:00", 120), ("-05:30", -330), ("Z", 0), ("+14:00", 840), ("+99:99", nil), ("   :  ", nil),
            ("", nil), ("+2:00", nil), ("0200", nil), ("+-1:00", nil), ("-0330", -210), ("+16:00", nil),
        ] as [(String, Int?)])
    func absurdOffsetsAreNone(_ text: String, _ expected: Int?) throws {
        let date = try #require(WallClock(exif: "2021:05:01 10:00:00", fraction: nil, offset: text))
        #expect(date.offset == expected)
    }

    @Test(
        arguments: [
            ("2019", nil, nil), ("2019-06", nil, nil), ("2019-06-12", 0, nil), ("2019-06-12T14:33", 52_380_000, nil),
            ("2019-06-12T14:33:05", 52_385_000, nil), ("2019-06-12T14:33:05Z", 52_385_000, 0),
            ("2019-06-12T14:33:05.25-07:00", 52_385_250, -420), ("2019-06-12T14:33+02:00", 52_380_000, 120),
            ("2019:06:12T14:33:05", 52_385_000, nil), ("2019-06-12T14:33:05.526GMT+02:00", 52_385_526, 120),
            ("2019-06-12T14:33:05, 2019-06-12", 52_385_000, nil), (" 2019-06-12 14:33:05\n", 52_385_000, nil),
            ("2019-06-12T25:00:00", nil, nil), ("2019-13-12T10:00:00", nil, nil), ("0000-00-00T00:00:00", nil, nil),
            ("2019-06-12Tx", nil, nil), ("", nil, nil), ("12.06.2019", nil, nil), ("1799-12-31", nil, nil),
        ] as [(String, Int64?, Int?)])
    func xmpsDatesAreWholeToTheDay(_ text: String, _ ofDay: Int64?, _ offset: Int?) {
        let date = WallClock(xmp: text)
        #expect(date?.milliseconds == ofDay.map { 1_560_297_600_000 + $0 })
        #expect(date?.offset == offset)
    }

    @Test(
        arguments: [
            ("20190612", "143305+0200", 52_385_000, 120), ("20190612", "143305-0330", 52_385_000, -210),
            ("20190612", "143305", 52_385_000, nil), ("20190612", nil, 0, nil), ("20190612", "nonsense", 0, nil),
            ("20190612", "250000+0000", 0, nil), ("2019:06:12", "14:33:05+02:00", 52_385_000, 120),
            ("20190600", "143305+0200", nil, nil), ("00000000", "000000+0000", nil, nil), ("", "143305", nil, nil),
        ] as [(String, String?, Int64?, Int?)])
    func iptcsDateAndTimeAreOne(_ date: String, _ time: String?, _ ofDay: Int64?, _ offset: Int?) {
        let found = WallClock(iptc: date, time: time)
        #expect(found?.milliseconds == ofDay.map { 1_560_297_600_000 + $0 })
        #expect(found?.offset == offset)
    }

    /// Every day of four hundred years, after which the calendar begins anew, by way of the C library.
    @Test func daysAreCountedAsTheCalendarDoes() throws {
        for day in -62_091...84_006 {
            var seconds = time_t(day) * 86_400
            var parts = tm()
            gmtime_r(&seconds, &parts)
            func two(_ number: Int32) -> String { String(number + 100).suffix(2).description }
            let text = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            let date = try #require(WallClock(xmp: text), "\(text)")
            guard date.milliseconds != Int64(day) * 86_400_000 else { continue }
            Issue.record("\(text) is \(date.milliseconds)")
        }
    }

    @Test func theFutureIsNone() throws {
        let now: Int64 = 1_619_863_200_000
        func taken(_ text: String, _ offset: String?) throws -> CameraDate? {
            try #require(WallClock(exif: text, fraction: nil, offset: offset)).date(.exif, now: now)
        }
        #expect(try taken("2021:05:01 10:00:00", nil)?.clock == now)
        #expect(try taken("2021:05:02 10:00:00", nil) != nil)
        #expect(try taken("2021:05:02 10:00:01", nil) == nil)
        // Where it says how far it is from UTC, the moment counts.
        #expect(try taken("2021:05:02 23:00:00", "+13:00") != nil)
        #expect(try taken("2021:05:02 09:00:00", "-02:00") == nil)
        #expect(try taken("9999:12:31 23:59:59", nil) == nil)
    }
}
