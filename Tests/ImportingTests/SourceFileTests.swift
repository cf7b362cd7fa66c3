import Executors
import Files
import Foundation
import LibraryModel
import Scratch
import ServiceMesh
import TestSupport
import Testing

@testable import Importing

/// Files that are found, in lists that need not fit into memory.
@Suite
struct SourceFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func files(_ paths: [String]) throws -> SourceFiles {
        try SourceFiles(
            paths: paths.map(FilePath.init(text:)), selection: SourceSelection(),
            namedFiles: NamedFiles(library: folder.file("library"), files: [], folders: []), now: .now(),
            isCancelled: { false })
    }

    private func write(_ name: String, bytes: Int = 1) throws -> String {
        let path = folder.file(name)
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try Data(count: bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func pathsThatLieInEachOtherAreLookedAtOnce() throws {
        let (first, second) = (try write("album/a.jpg"), try write("album/day/b.jpg"))
        let other = try write("album of May/c.jpg")
        let (album, day) = (folder.file("album"), folder.file("album/day"))
        for paths in [[album, day], [day, album], [second, album, day], [album, album], [first, album, first]] {
            let found = try files(paths + [folder.file("album of May")]).files
            #expect(try Set(found.compactMap(\.path.text)) == [first, second, other], "\(paths)")
            #expect(found.count == 3)
        }
    }

    @Test func thoseThatAreNotKnownAreHandedOutInTheirOrder() async throws {
        let count = 2 * KnownSources.batch + 100
        for number in 0..<count { _ = try write("album/IMG_\(number).jpg", bytes: number % 7) }
        let found = try files([folder.file("album")]).files
        #expect(found.bytes == (0..<count).reduce(0) { $0 + Int64($1 % 7) })
        let names = try found.compactMap(\.path.name)
        #expect(names == (0..<count).map { "IMG_\($0).jpg" })
        // Every third one is known; the last hundred were not looked up.
        var known = KnownPhotos(in: Scratch(in: folder.path))
        for start in [0, KnownSources.batch] {
            try known.append((start..<start + KnownSources.batch).map { $0 % 3 == 0 ? Int64($0 + 1) : nil })
        }
        #expect(try known.photos(3..<6) == [4, nil, nil])
        #expect(try known.photos(count - 101..<count - 98).suffix(2) == [nil, nil])
        var unknown = UnknownFiles(found, known)
        let pool = BlockingPool(name: "files", threads: 1)
        var numbers: [Int] = []
        while let next = await unknown.next(from: pool) {
            #expect(next.file.path.name == "IMG_\(next.number).jpg")
            numbers.append(next.number)
        }
        #expect(numbers == (0..<count).filter { $0 % 3 != 0 || $0 >= 2 * KnownSources.batch })
        #expect(unknown.fault == nil)
    }

    @Test func thoseThatHaveALineAreLeftOut() throws {
        for number in 0..<20 { _ = try write("album/IMG_\(number).jpg", bytes: 10) }
        let found = try files([folder.file("album")]).files
        let done = RecordedItems((0..<5).map { folder.file("album/IMG_\($0).jpg") })
        let rest = try found.without(done, in: .memory)
        #expect(rest.count == 15 && rest.bytes == 150 && found.bytes == 200)
        #expect(try rest.files(0..<1).first?.path.name == "IMG_5.jpg")
        #expect(try found.without([], in: .memory).count == 20)
    }
}
