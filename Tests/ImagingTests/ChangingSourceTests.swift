import Foundation
import Glibc
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import PhotoConversion

/// Sources that somebody writes to while they are read.
@Suite struct ChangingSourceTests {
    /// A thread that does something to a file again and again, until it is ended.
    private final class Writer: Sendable {
        private let path: String
        private let isEnding = Signal()

        private final class Signal: Sendable {
            private let ends: [Int32]
            init() {
                var ends: [Int32] = [-1, -1]
                precondition(pipe(&ends) == 0)
                self.ends = ends
            }
            deinit { for end in ends where end >= 0 { close(end) } }
            func set() { _ = write(ends[1], "x", 1) }
            var isSet: Bool {
                var state = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
                return poll(&state, 1, 0) > 0
            }
        }

        init(_ path: String, _ body: @escaping @Sendable (Int32) -> Void) {
            self.path = path
            let isEnding = isEnding
            Thread.detachNewThread {
                let descriptor = open(path, O_RDWR | O_CLOEXEC)
                while !isEnding.isSet { body(descriptor) }
                close(descriptor)
            }
        }

        deinit { isEnding.set() }
    }

    /// Converts until the file is found to have changed. Whatever is taken before that has the digest of its bytes: a JPEG
    /// of this size is stored as it is.
    private func convertUntilChanged(_ path: String, _ folder: TemporaryFolder) throws {
        while true {
            let files = try Files(path, folder)
            defer { withExtendedLifetime(files) {} }
            do {
                let converted = try convertHere(files)
                let stored = try? folder.bytes("photo").withUnsafeBytes { Digest.sha256($0) }
                #expect(converted.contentDigest == stored && converted.sourceDigest == stored)
                #expect(converted.sourceSize == converted.fileSize)
            } catch let error as ImagingError {
                switch error {
                case .changed: return
                // Between two writes it may be anything.
                case .damaged, .unsupported: continue
                default: throw error
                }
            }
        }
    }

    @Test func aFileThatIsWrittenToHasChanged() throws {
        let folder = try TemporaryFolder("changing")
        // Of one length, so that half of each is a file too.
        let size = PixelSize(width: 800, height: 800)
        let both = try [Pictures.noise(size, seed: 1), Pictures.noise(size, seed: 2)]
        let length = both.map(\.count).max() ?? 0
        let padded = both.map { Array($0) + [UInt8](repeating: 0, count: length - $0.count) }
        let path = try folder.write(padded[0])
        let writer = Writer(path) { descriptor in
            for bytes in padded {
                for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
                    let part = Array(bytes[start..<min(bytes.count, start + 1 << 16)])
                    _ = pwrite(descriptor, part, part.count, off_t(start))
                }
            }
        }
        try convertUntilChanged(path, folder)
        withExtendedLifetime(writer) {}
    }

    /// A mapping would end the process here.
    @Test func aFileThatIsCutHasChanged() throws {
        let folder = try TemporaryFolder("changing")
        let whole = Array(try Pictures.noise(PixelSize(width: 800, height: 800)))
        let path = try folder.write(whole)
        let writer = Writer(path) { descriptor in
            _ = ftruncate(descriptor, off_t(whole.count / 2))
            _ = pwrite(descriptor, whole, whole.count, 0)
        }
        try convertUntilChanged(path, folder)
        withExtendedLifetime(writer) {}
    }

    @Test func theStateTellsEveryWayOfChanging() throws {
        let folder = try TemporaryFolder("changing")
        let path = try folder.write(Array("one".utf8))
        func state() throws -> FileState {
            var found = stat()
            try #require(stat(path, &found) == 0)
            return FileState(found)
        }
        let before = try state()
        #expect(try state() == before && before.isFresh)
        // Bytes of the same number, and the old time again: the time of the status cannot be set.
        var times = stat()
        try #require(stat(path, &times) == 0)
        try Data("two".utf8).write(to: URL(fileURLWithPath: path + ".new"))
        try #require(utimensat(AT_FDCWD, path + ".new", [times.st_atim, times.st_mtim], 0) == 0)
        try #require(rename(path + ".new", path) == 0)
        #expect(try state() != before)
        // Long ago, so that a change cannot hide in the clock's tick.
        let old = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
        try #require(utimensat(AT_FDCWD, path, [old, old], 0) == 0)
        #expect(try state().isFresh, "the status itself has just changed")
    }
}
