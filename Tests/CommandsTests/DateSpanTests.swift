import LibraryModel
import Testing

@testable import CommandLineInterface

@Suite("Days as people write them")
struct DateSpanTests {
    /// A Monday in a leap year, in the evening.
    private let now = LocalDateTime("2024-04-29T19:30:00")!

    @Test(
        "From its first moment to its last",
        arguments: [
            ("2025", "2025-01-01T00:00:00", "2025-12-31T23:59:59.999"),
            ("2024-02", "2024-02-01T00:00:00", "2024-02-29T23:59:59.999"),
            ("2025-12", "2025-12-01T00:00:00", "2025-12-31T23:59:59.999"),
            ("2025-06-12", "2025-06-12T00:00:00", "2025-06-12T23:59:59.999"),
            ("2025-06-12T14:05", "2025-06-12T14:05:00", "2025-06-12T14:05:00"),
            ("today", "2024-04-29T00:00:00", "2024-04-29T23:59:59.999"),
            ("Yesterday", "2024-04-28T00:00:00", "2024-04-28T23:59:59.999"),
            ("7d", "2024-04-22T00:00:00", "2024-04-22T23:59:59.999"),
            ("2w", "2024-04-15T00:00:00", "2024-04-15T23:59:59.999"),
            ("2m", "2024-02-29T00:00:00", "2024-02-29T23:59:59.999"),
            ("14m", "2023-02-28T00:00:00", "2023-02-28T23:59:59.999"),
            ("4m", "2023-12-29T00:00:00", "2023-12-29T23:59:59.999"),
            ("1y", "2023-04-29T00:00:00", "2023-04-29T23:59:59.999"),
            ("0d", "2024-04-29T00:00:00", "2024-04-29T23:59:59.999"),
            ("9999-12", "9999-12-01T00:00:00", "9999-12-31T23:59:59.999"),
        ])
    func spans(text: String, first: String, last: String) throws {
        let span = try #require(DateSpan(text, now: now))
        #expect(span.first.description == first)
        #expect(span.last.description == last)
    }

    @Test("Before 1970 days begin at midnight too")
    func early() throws {
        let evening = try #require(LocalDateTime("1969-07-20T20:17:40"))
        let span = try #require(DateSpan("today", now: evening))
        #expect(span.first.description == "1969-07-20T00:00:00")
    }

    @Test(
        "Anything else is none",
        arguments: [
            "", "20", "20255", "2025-13", "2025-00", "2025-6", "2025-02-30", "7", "d", "-7d", "+7d", "7 d", "7h",
            "123456d", "9999y", "٢٠٢٥", "2025-0٦", "tomorrow", "2025-06-", "12025-1",
        ])
    func others(text: String) { #expect(DateSpan(text, now: now) == nil) }
}
