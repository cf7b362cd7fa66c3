import Foundation
import Testing

@testable import DateTexts

@Suite struct DayNumberTests {
    @Test(
        arguments: [
            (1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017), (1900, 3, 1, -25_508),
            (0, 3, 1, -719_468), (-1, 12, 31, -719_529), (9999, 12, 31, 2_932_896),
        ] as [(Int64, Int64, Int64, Int64)])
    func daysHaveTheirNumbers(_ year: Int64, _ month: Int64, _ day: Int64, _ number: Int64) {
        #expect(DayNumber.of(year, month, day) == number)
        let date = DayNumber.date(number)
        #expect(date.year == year && date.month == month && date.day == day)
    }

    /// Over three eras, before and behind the year 0, and where the greatest milliseconds lie: each day follows the one before.
    @Test func eachDayIsTheOneBehindTheLast() {
        for first in [-1_000_000, 10_000, Int64.max / 86_400_000 - 200_000] {
            var last = DayNumber.date(first)
            for number in first + 1..<first + 150_000 {
                let next = DayNumber.date(number)
                #expect(DayNumber.of(next.year, next.month, next.day) == number)
                let isNextDay = next.day == last.day + 1 && next.month == last.month && next.year == last.year
                let isNextMonth = next.day == 1 && next.month == last.month + 1 && next.year == last.year
                let isNextYear =
                    next.day == 1 && next.month == 1 && (last.month, last.day) == (12, 31) && next.year == last.year + 1
                guard isNextDay || isNextMonth || isNextYear else {
                    Issue.record("\(next) follows \(last)")
                    return
                }
                last = next
            }
        }
    }
}
