import Foundation
import Testing

@testable import DateTexts

/// On the clock as if it were UTC, by Foundation: a second opinion on the calendar.
private func milliseconds(_ text: String) throws -> Int64 {
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
    return Int64((try Date(text, strategy: format).timeIntervalSince1970 * 1000).rounded())
}

@Suite struct WrittenDateTests {
    private struct Expected: CustomTestStringConvertible {
        var text: String
        var moment: String
        var precision = DatePrecision.second
        var offset: Int?
        var testDescription: String { text }
    }

    @Test(arguments: [
        Expected(text: "2019:06:12 14:05:33", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019-06-12T14:05:33", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019/06/12 14:05:33", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019.06.12 14.05.33", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019-6-2 4:5:3", moment: "2019-06-02T04:05:03Z"),
        Expected(text: "2019年06月12日 14時05分33秒", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019:06:12:14:05:33", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "20190612T140533", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "20190612140533", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "20190612140533123", moment: "2019-06-12T14:05:33.123Z"),
        Expected(text: "  2019:06:12 14:05:33\0", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019:06:12 14:05:33\0\0Canon", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019:06:12 02:05:33 PM", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019:06:12 12:05:33 am", moment: "2019-06-12T00:05:33Z"),
        Expected(text: "2019-06-12T14:05:33.5+05:45", moment: "2019-06-12T14:05:33.500Z", offset: 345),
        Expected(text: "2019-06-12T14:05:33,12Z", moment: "2019-06-12T14:05:33.120Z", offset: 0),
        Expected(text: "2019-06-12T14:05:33.123456-0330", moment: "2019-06-12T14:05:33.123Z", offset: -210),
        Expected(text: "2019:06:12 14:05:33+02", moment: "2019-06-12T14:05:33Z", offset: 120),
        Expected(text: "2019-06-12T14:05:33GMT+02:00", moment: "2019-06-12T14:05:33Z", offset: 120),
        Expected(text: "2019-06-12T14:05:33 UTC", moment: "2019-06-12T14:05:33Z", offset: 0),
        Expected(text: "2019-06-12T14:05:33+26:00", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019-06-12-14-05-33-123", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019-06-12T14:05", moment: "2019-06-12T14:05:00Z", precision: .minute),
        Expected(text: "2019-06-12T14:05+02:00", moment: "2019-06-12T14:05:00Z", precision: .minute, offset: 120),
        Expected(text: "2019-06-12T14:05-04:00", moment: "2019-06-12T14:05:00Z", precision: .minute, offset: -240),
        Expected(text: "2019-06-12T14:05-0330", moment: "2019-06-12T14:05:00Z", precision: .minute, offset: -210),
        Expected(text: "2019-06-12 14-05-33", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "2019:06:12 14:05:", moment: "2019-06-12T14:05:00Z", precision: .minute),
        Expected(text: "2019:06:12 14:05:60", moment: "2019-06-12T14:05:00Z", precision: .minute),
        Expected(text: "2019:06:12 24:05:33", moment: "2019-06-12T00:00:00Z", precision: .day),
        Expected(text: "2019:06:12 14:60:33", moment: "2019-06-12T00:00:00Z", precision: .day),
        Expected(text: "2019:06:12   :  :  ", moment: "2019-06-12T00:00:00Z", precision: .day),
        Expected(text: "2019-06-12T14", moment: "2019-06-12T00:00:00Z", precision: .day),
        Expected(text: "2019-06-12", moment: "2019-06-12T00:00:00Z", precision: .day),
        Expected(text: "20190612", moment: "2019-06-12T00:00:00Z", precision: .day),
        Expected(text: "1978:08:00 00:00:00", moment: "1978-08-01T00:00:00Z", precision: .month),
        Expected(text: "1978-08", moment: "1978-08-01T00:00:00Z", precision: .month),
        Expected(text: "19780800", moment: "1978-08-01T00:00:00Z", precision: .month),
        Expected(text: "1978:00:00 00:00:00", moment: "1978-01-01T00:00:00Z", precision: .year),
        Expected(text: "1978:13:01 00:00:00", moment: "1978-01-01T00:00:00Z", precision: .year),
        Expected(text: "1978:  :     :  :  ", moment: "1978-01-01T00:00:00Z", precision: .year),
        Expected(text: "1978", moment: "1978-01-01T00:00:00Z", precision: .year),
        Expected(text: "1800", moment: "1800-01-01T00:00:00Z", precision: .year),
        Expected(text: "Wed, 12 Jun 2019 14:05:33 +0000", moment: "2019-06-12T14:05:33Z", offset: 0),
        Expected(text: "12 Jun 2019 14:05:33 GMT", moment: "2019-06-12T14:05:33Z", offset: 0),
        Expected(text: "Wed Jun 12 14:05:33 2019", moment: "2019-06-12T14:05:33Z"),
        Expected(text: "June 12, 2019 2:05 PM", moment: "2019-06-12T14:05:00Z", precision: .minute),
        Expected(text: "12-Jun-2019", moment: "2019-06-12T00:00:00Z", precision: .day),
    ]) private func whatIsThereCounts(_ expected: Expected) throws {
        let date = try #require(WrittenDate(expected.text))
        #expect(try date.milliseconds == milliseconds(expected.moment))
        #expect(date.precision == expected.precision)
        #expect(date.offset == expected.offset)
    }

    @Test(arguments: [
        "", " ", "0", "soon", "0000:00:00 00:00:00", "    :  :     :  :  ", "-2019-06-12", "10000-01-01", "1799-12-31",
        "19:06:12", "190612", "1560348333", "12/06/2019 14:05", "12.06.2019", "2019-163", "2019-06-123", "2019abc",
        "٢٠١٩-٠٦-١٢", "Jun 2019", "99:99", "1978:02:30 14:05:33",
        "20190631T140533", "2019-06-31", "14:05:33", "12 Jun", "+", "T", ":",
    ]) func noDates(text: String) { #expect(WrittenDate(text) == nil) }

    /// Any bytes, and any beginning of a date: nothing but a date that exists comes out.
    @Test func anyTextEndsInADateOrNone() {
        let alphabet = Array("0123456789:-/. TZ+pam,JunWed年".unicodeScalars)
        var seed: UInt64 = 1
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<24 {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text.append(alphabet[Int(seed >> 33) % alphabet.count])
            }
            guard let date = WrittenDate(String(text)) else { continue }
            #expect(date.span.contains(date.milliseconds))
            #expect(abs(date.offset ?? 0) <= 960)
        }
    }

    @Test func fractionAndOffsetMayStandElsewhere() throws {
        let date = try #require(WrittenDate("2019:06:12 14:05:33", fraction: "05", offset: "-03:30"))
        #expect(date.millisecond == 50)
        #expect(date.offset == -210)
        #expect(WrittenDate("2019:06:12 14:05:33", fraction: " ", offset: "   :  ")?.offset == nil)
        #expect(WrittenDate("2019:06:12 14:05:33.7+01:00", fraction: "2", offset: "+02:00")?.millisecond == 700)
        #expect(WrittenDate("2019:06:12 14:05:33.7+01:00", fraction: "2", offset: "+02:00")?.offset == 60)
        // What is known to the day has neither.
        #expect(WrittenDate("2019:06:12", fraction: "5", offset: "+02:00") == WrittenDate("2019:06:12"))
    }

    @Test func recordsOfIPTC() {
        #expect(WrittenDate(iptc: "20190612", time: "140533+0200")?.offset == 120)
        #expect(WrittenDate(iptc: "20190612", time: "140533")?.precision == .second)
        #expect(WrittenDate(iptc: "20190612", time: "240533")?.precision == .day)
        #expect(WrittenDate(iptc: "20190612", time: nil)?.precision == .day)
        #expect(WrittenDate(iptc: "19780000", time: "000000")?.precision == .year)
        #expect(WrittenDate(iptc: "00000000", time: nil) == nil)
    }

    @Test func spansEndWhereTheNextBegins() throws {
        for (text, end) in [
            ("1978", "1979-01-01T00:00:00Z"), ("1978-12", "1979-01-01T00:00:00Z"), ("2024-02", "2024-03-01T00:00:00Z"),
            ("2024-02-28", "2024-02-29T00:00:00Z"), ("2024-02-28T23:59", "2024-02-29T00:00:00Z"),
        ] {
            #expect(try WrittenDate(text)?.span.upperBound == milliseconds(end), "\(text)")
        }
    }

    @Test func calendarAgreesWithFoundation() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for year in [1800, 1900, 1970, 1999, 2000, 2024, 2100, 9999] {
            for (month, day) in [(1, 1), (2, 28), (3, 1), (6, 30), (12, 31)] {
                let date = try #require(WrittenDate(year: year, month: month, day: day, hour: 23, minute: 4, second: 5))
                let components = DateComponents(year: year, month: month, day: day, hour: 23, minute: 4, second: 5)
                let moment = try #require(calendar.date(from: components))
                #expect(date.milliseconds == Int64(moment.timeIntervalSince1970 * 1000), "\(year)-\(month)-\(day)")
            }
            #expect((WrittenDate(year: year, month: 2, day: 29) != nil) == [2000, 2024].contains(year))
        }
    }

    // MARK: Judging

    /// 2026-01-01 12:00 UTC.
    private static let now: Int64 = 1_767_268_800_000

    @Test(arguments: [
        "1899-12-30T00:00:00", "1904:01:01 00:00:00", "1970-01-01T00:00", "1980:01:01 00:00:00", "2000:01:01 00:00:00",
        "1970-01-01T01:00:00+01:00", "1969-12-31T16:00:00-08:00", "2026-01-02T12:00:01", "2026-01-02T20:00:01+08:00",
    ]) func incredible(text: String) throws {
        #expect(try #require(WrittenDate(text)).isCredible(now: Self.now) == false)
    }

    @Test(arguments: [
        "1904", "1904-01", "1970-01-01", "2000-01-01", "2000-01-01T00:01:00", "1999-12-31T23:59:59",
        "2026-01-02T12:00:00",
        "2026-01-02T13:00:00+08:00", "1800-01-01",
    ]) func credible(text: String) throws {
        #expect(try #require(WrittenDate(text)).isCredible(now: Self.now))
        #expect(try #require(WrittenDate("2019-06-12")).isCredible(now: .max))
        #expect(try #require(WrittenDate("2019-06-12")).isCredible(now: .min) == false)
    }

    @Test func anotherOfTheSameSpanRefines() throws {
        let day = try #require(WrittenDate("2019-06-12"))
        #expect(day.refined(by: WrittenDate("2019-06-12T14:05:33")).precision == .second)
        #expect(day.refined(by: WrittenDate("2019-06-13T14:05:33")) == day)
        #expect(day.refined(by: WrittenDate("2019")) == day)
        #expect(day.refined(by: nil) == day)
        // Midnight is not made a day by a day.
        let midnight = try #require(WrittenDate("2019-06-12T00:00:00"))
        #expect(midnight.refined(by: day) == midnight)
    }
}
