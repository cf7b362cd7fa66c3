import Files
import Foundation
import LibraryModel
import LibraryStorage
import PhotoFolder
import ServiceMesh
import TestSupport
import Testing

@testable import Importing

/// The last step: a file that the library has goes, unless it is another one by then.
@Suite struct SourceRemovalTests {
    private let temporary: TemporaryFolder
    private let library: LibraryFolder
    private let stored: StoredName
    private let bytes = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private var source: String { temporary.file("source.jpg") }

    init() throws {
        temporary = try TemporaryFolder("removal")
        library = LibraryFolder(path: temporary.file("library"))
        let photos = temporary.file("library/photos")
        try FileManager.default.createDirectory(atPath: photos, withIntermediateDirectories: true)
        stored = try StoredName(catalogued: "photos/a.jpg")
        try bytes.write(to: URL(fileURLWithPath: photos + "/a.jpg"))
        try bytes.write(to: URL(fileURLWithPath: temporary.file("source.jpg")))
    }

    private func hold() -> SourceRemoval? {
        SourceRemoval(FilePath(text: source), library.namedFiles, now: .now(), isCancelled: { false })
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: temporary.path).sorted()
    }

    @Test func whatTheLibraryHasGoes() throws {
        let held = try #require(hold())
        #expect(held.remove(comparing: [stored], in: library) == .removed)
        #expect(try names() == ["library"])
    }

    @Test func whatItHasNotStays() throws {
        let held = try #require(hold())
        #expect(held.remove(comparing: [], in: library) == nil)
        var other = bytes
        other[4_999] ^= 1
        try other.write(to: URL(fileURLWithPath: temporary.file("library/photos/a.jpg")))
        #expect(held.remove(comparing: [stored], in: library) == nil)
        try FileManager.default.removeItem(atPath: temporary.file("library/photos/a.jpg"))
        #expect(held.remove(comparing: [stored], in: library) == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: source)) == bytes)
    }

    @Test func whatIsWrittenToMeanwhileStays() throws {
        let held = try #require(hold())
        let writer = open(source, O_WRONLY | O_APPEND)
        #expect(held.remove(comparing: [stored], in: library) == .changed)
        #expect(write(writer, "x", 1) == 1)
        close(writer)
        #expect(held.remove(comparing: [stored], in: library) == .changed)
        #expect(try Data(contentsOf: URL(fileURLWithPath: source)) == bytes + Data("x".utf8))
        #expect(try names() == ["library", "source.jpg"])
    }

    @Test func whatHasTakenItsNameKeepsIt() throws {
        let held = try #require(hold())
        let newer = Data("newer".utf8)
        try newer.write(to: URL(fileURLWithPath: temporary.file("newer")))
        #expect(rename(temporary.file("newer"), source) == 0)
        #expect(held.remove(comparing: [stored], in: library) == .changed)
        #expect(try Data(contentsOf: URL(fileURLWithPath: source)) == newer)
        #expect(try names() == ["library", "source.jpg"])
        #expect(unlink(source) == 0)
        #expect(held.remove(comparing: [stored], in: library) == .changed)
    }

    @Test func linksAndFoldersAreNone() throws {
        #expect(rename(source, temporary.file("target")) == 0)
        #expect(symlink(temporary.file("target"), source) == 0)
        #expect(hold() == nil)
        #expect(unlink(source) == 0)
        #expect(hold() == nil)
        #expect(mkdir(source, 0o700) == 0)
        #expect(hold() == nil)
    }
}
