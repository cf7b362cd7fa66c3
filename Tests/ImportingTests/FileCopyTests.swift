@testable import Files
import Foundation
import Imaging
import LibraryTestSupport
@testable import Importing
import TestSupport
import Testing
import ZipArchive

/// Copies of sources, whatever the file systems between which they go make of the kernel's ways to copy.
@Suite struct FileCopyTests {
    /// A file to copy, and an empty one.
    private final class Pair {
        let folder: TemporaryFolder
        let source: Int32
        let target: Int32

        /// - Parameter path: of the source; a new file with `bytes` unless told.
        init(_ bytes: Data = Data(), at path: String? = nil) throws {
            folder = try TemporaryFolder("copy")
            try bytes.write(to: URL(fileURLWithPath: folder.file("source")))
            source = open(path ?? folder.file("source"), O_RDONLY | O_CLOEXEC)
            target = open(folder.file("target"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            try #require(source >= 0 && target >= 0)
        }

        deinit {
            close(source)
            close(target)
        }

        func copied() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: folder.file("target"))) }

        var opened: OpenSource {
            var status = stat()
            fstat(source, &status)
            return OpenSource(source, status)
        }
    }

    private static let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })

    /// As the kernel does it, in parts of a million bytes; then what `end` says.
    private static func parts(_ end: @escaping (Int64) -> Int?) -> (Int32, Int32, Int64, Int) -> Int {
        { source, target, position, length in
            if let ending = end(position) { return ending }
            var buffer = [UInt8](repeating: 0, count: min(length, 1_000_000))
            let count = pread(source, &buffer, buffer.count, off_t(position))
            return pwrite(target, buffer, count, off_t(position))
        }
    }

    @Test(arguments: [Data(), Data("x".utf8), bytes]) func aCopyIsTheSameBytes(_ bytes: Data) throws {
        let pair = try Pair(bytes)
        #expect(try FileSystem.copy(pair.source, to: pair.target, "target") == Int64(bytes.count))
        #expect(try pair.copied() == bytes)
    }

    @Test(arguments: [0, 1_000_000, 2_000_000, 3_000_000])
    func whereTheKernelEndsEarlyTheRestIsCopiedAllTheSame(_ end: Int64) throws {
        let pair = try Pair(Self.bytes)
        let copied = try FileSystem.copy(
            pair.source, to: pair.target, "target", by: Self.parts { $0 >= end ? 0 : nil })
        #expect(copied == Int64(Self.bytes.count))
        #expect(try pair.copied() == Self.bytes)
    }

    @Test(arguments: [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EIO])
    func whatTheKernelCannotCopyIsCopiedThroughMemory(_ code: Int32) throws {
        let pair = try Pair(Self.bytes)
        let refuse: (Int64) -> Int? = { _ in
            errno = code
            return -1
        }
        #expect(try FileSystem.copy(pair.source, to: pair.target, "target", by: Self.parts(refuse)) == 3_000_000)
        #expect(try pair.copied() == Self.bytes)
    }

    @Test func aCallThatWasInterruptedIsMadeAgain() throws {
        let pair = try Pair(Self.bytes)
        var isFirst = true
        let interrupt: (Int64) -> Int? = { position in
            guard position == 1_000_000, isFirst else { return nil }
            isFirst = false
            errno = EINTR
            return -1
        }
        #expect(try FileSystem.copy(pair.source, to: pair.target, "target", by: Self.parts(interrupt)) == 3_000_000)
        #expect(try pair.copied() == Self.bytes && !isFirst)
    }

    @Test(arguments: [(ENOSPC, Int64(0)), (EIO, Int64(1_000_000))])
    func anErrorIsOneAndNamesTheCopy(_ code: Int32, _ place: Int64) throws {
        let pair = try Pair(Self.bytes)
        let fail: (Int64) -> Int? = { position in
            guard position == place else { return nil }
            errno = code
            return -1
        }
        let failure = #expect(throws: FileSystem.Failure.self) {
            try FileSystem.copy(pair.source, to: pair.target, "the copy", by: Self.parts(fail))
        }
        #expect(failure?.code == code && failure?.path == "the copy")
    }

    @Test func aCopyIsCancelledBetweenTwoParts() throws {
        let pair = try Pair(Self.bytes)
        var looks = 0
        #expect(throws: CancellationError.self) {
            try FileSystem.copy(pair.source, to: pair.target, "target", by: Self.parts { _ in nil }) {
                looks += 1
                return looks == 3
            }
        }
        #expect(try pair.copied().count == 2_000_000)
    }

    // MARK: Sources

    @Test func aSourceIsCopiedWithTheDigestThatItWasReadWith() throws {
        let pair = try Pair(Self.bytes)
        let source = pair.opened
        let digest = ContentDigest(of: Self.bytes).sha256.hex
        try source.copy(digest, to: pair.target, "target")
        #expect(try pair.copied() == Self.bytes)
    }

    /// It was written a moment ago, so that its state alone cannot tell what was decoded.
    @Test func aSourceOfOtherBytesThanWereReadIsNone() throws {
        let pair = try Pair(Self.bytes)
        let source = pair.opened
        #expect(throws: ImagingError.changed) {
            try source.copy(ContentDigest(of: Data("other".utf8)).sha256.hex, to: pair.target, "target")
        }
    }

    @Test func aSourceThatGrewIsNone() throws {
        let pair = try Pair(Self.bytes)
        let source = pair.opened
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: pair.folder.file("source")))
        try file.seekToEnd()
        try file.write(contentsOf: Data("more".utf8))
        try file.close()
        let digest = ContentDigest(of: Self.bytes + Data("more".utf8)).sha256.hex
        #expect(throws: ImagingError.changed) { try source.copy(digest, to: pair.target, "target") }
    }

    /// As of a file system that gets a copy wrong and says nothing. The kernel's own files claim to be empty.
    @Test func aCopyOfAnotherSizeThanTheSourceIsNone() throws {
        let pair = try Pair(at: "/proc/version")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "/proc/version"))
        let source = pair.opened
        #expect(throws: ImagingError.changed) {
            try source.copy(ContentDigest(of: bytes).sha256.hex, to: pair.target, "target")
        }
        #expect(try pair.copied() == bytes)
    }
}
