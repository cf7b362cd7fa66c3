/// Days of the Gregorian calendar, counted from 1970-01-01, of any year.
///
/// As Howard Hinnant's `days_from_civil` and `civil_from_days` count them: by eras of 400 years that begin in March, so that a
/// leap day ends its year. Rejected: the C library and Foundation, whose years end at their integers or which take a day that is
/// none for another.
package enum DayNumber {
    private static let ofEra: Int64 = 146_097
    /// From 0000-03-01 to 1970-01-01.
    private static let toEpoch: Int64 = 719_468

    /// Of a day that there is.
    package static func of(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let fromMarch = year - (month <= 2 ? 1 : 0)
        let era = (fromMarch >= 0 ? fromMarch : fromMarch - 399) / 400
        let yearOfEra = fromMarch - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * ofEra + dayOfEra - toEpoch
    }

    /// The day that has a number.
    package static func date(_ number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = number + toEpoch
        let era = (shifted >= 0 ? shifted : shifted - (ofEra - 1)) / ofEra
        let dayOfEra = shifted - era * ofEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }
}
