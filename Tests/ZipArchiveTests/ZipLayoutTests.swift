import Foundation
import Testing

@testable import ZipArchive

struct ZipLayoutTests {
    private static func entry(_ name: String, _ size: Int64 = 1) -> ZipLayout.Entry {
        ZipLayout.Entry(name: name, size: size, modified: 0)
    }

    @Test func largeEntriesAreAlignedWhateverStandsBefore() throws {
        for size in 0..<Int64(4200) {
            let layout = try ZipLayout(entries: [
                Self.entry("before", size), Self.entry("large", ZipLayout.alignedFrom), Self.entry("small", 10),
            ])
            let places = try (0..<3).map { try layout.placed(at: $0).place }
            let (before, large, small) = (places[0], places[1], places[2])
            #expect(large.data % 4096 == 0)
            #expect(large.header == before.data + size)
            #expect(large.padding == 0 || large.padding >= ZipRecords.leastPadding)
            #expect(before.padding == 0 && small.padding == 0)
            #expect(small.header == large.data + ZipLayout.alignedFrom)
        }
    }

    @Test(arguments: [
        ("", EntryProblem.nameEmpty), ("/a", .nameAbsolute), ("../a", .nameClimbs), ("a/../../b", .nameClimbs),
        ("a/..", .nameClimbs), ("C:/a", .nameHasDriveLetter), ("a\\b", .nameHoldsBackslash),
        ("a\0b", .nameHoldsNUL), ("a\nb", .nameHoldsControlCharacter), ("a\u{7F}", .nameHoldsControlCharacter),
        ("a\u{9B}31m", .nameHoldsControlCharacter), ("./a", .nameNotPlain), ("a//b", .nameNotPlain),
        ("a/./b", .nameNotPlain), ("folder/", .nameNotPlain), (String(repeating: "n", count: 1025), .nameTooLong),
    ])
    func namesThatReadersRefuseAreNotWritten(_ name: String, _ problem: EntryProblem) {
        #expect(throws: ZipError.unusableName(entry: name, problem: problem)) {
            try ZipLayout(entries: [Self.entry("fine"), Self.entry(name)])
        }
    }

    @Test(arguments: ["..a", "a..", "...", ".hidden", "ab:c", "1:2", "photos/~", "a b", "%2e%2e/x"])
    func namesThatOnlyLookBadAreWritten(_ name: String) throws {
        #expect(try ZipLayout(entries: [Self.entry(name)]).entry(at: 0).name == name)
    }

    @Test(arguments: [("a.jpg", "A.JPG"), ("\u{E9}", "e\u{301}"), ("straße", "STRASSE"), ("ÉTÉ", "e\u{301}té")])
    func namesThatAFileSystemMayTakeForOneAreNotWritten(_ first: String, _ second: String) {
        #expect(throws: ZipError.unusableName(entry: second, problem: .nameTaken(by: first))) {
            try ZipLayout(entries: [Self.entry(first), Self.entry(second)])
        }
    }

    @Test func sizesOutOfRangeAreRefused() {
        #expect(throws: ZipError.unusableSize(entry: "a")) { try ZipLayout(entries: [Self.entry("a", -1)]) }
        #expect(throws: ZipError.unusableSize(entry: "a")) { try ZipLayout(entries: [Self.entry("a", .max)]) }
        #expect(throws: ZipError.unusableSize(entry: "b")) {
            try ZipLayout(entries: [Self.entry("a", .max / 3), Self.entry("b", .max / 3)])
        }
    }
}
