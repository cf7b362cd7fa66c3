import CLinux
import CommandLineInterface
import Foundation
import ServiceMesh

/// One file on its way into the folder of an export. All of it blocks.
struct ExportedFile: Sendable {
    /// What became of it.
    enum Outcome: Sendable {
        case written
        /// It is there already with the same bytes.
        case unchanged
        case failed(Problem)
    }

    /// Why it is not there.
    struct Problem: Sendable {
        let message: String
        /// Whether a file of its name was there already.
        var isThere = false
        /// Whether the disk, or this user's share of it, is full.
        var isFullDisk = false
    }

    let target: String
    /// Whether a file of its name with other bytes is replaced.
    let updates: Bool

    /// - Parameters:
    ///   - size: that it must have; nil where nothing is known of it.
    ///   - time: when it is to have been written; nil for the source's own time.
    func copy(_ source: String, size: Int64?, modified time: Timestamp?) -> Outcome {
        outcome { try copyWhole(source, size: size, modified: time) }
    }

    /// - Parameters:
    ///   - mode: of a file that is made.
    ///   - time: when it is to have been written; nil for now.
    func write(_ bytes: [UInt8], mode: mode_t = 0o644, modified time: Timestamp? = nil) -> Outcome {
        outcome {
            let isThere = try isReplaceable()
            if isThere, let there = try? Data(contentsOf: URL(fileURLWithPath: target)), there.elementsEqual(bytes) {
                if let time { try setModified(time) }
                return .unchanged
            }
            let output = try NewFile(target, mode: mode)
            try output.write(bytes)
            if let time { output.setModified(time) }
            try isThere ? output.finishReplacing() : output.finish()
            return .written
        }
    }

    /// The first bytes of a file; nil where it is none that can be read.
    static func beginning(of path: String, count: Int) -> [UInt8]? {
        guard let input = try? open(path) else { return nil }
        defer { close(input.descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        guard let read = try? fill(&bytes, from: input.descriptor, path) else { return nil }
        return Array(bytes.prefix(read))
    }

    private func outcome(_ work: () throws -> Outcome) -> Outcome {
        do {
            return try work()
        } catch {
            let failure = CommandFailure(describing: error)
            return .failed(
                Problem(
                    message: failure.message, isThere: failure == NewFile.refusal(target, EEXIST),
                    isFullDisk: [ENOSPC, EDQUOT].contains { failure == NewFile.refusal(target, $0) }))
        }
    }

    /// Whether a file has the name that may be replaced; false where nothing has it.
    /// - Throws: where it is taken: without ``updates`` by anything, else by what no export has made, a folder or a link.
    private func isReplaceable() throws -> Bool {
        var status = stat()
        guard lstat(target, &status) == 0 else { return false }
        guard updates, status.st_mode & S_IFMT == S_IFREG else { throw NewFile.refusal(target, EEXIST) }
        return true
    }

    private func copyWhole(_ source: String, size: Int64?, modified time: Timestamp?) throws -> Outcome {
        // Looked at first: what was copied the last time need not be read to be left alone.
        let isThere = try isReplaceable()
        let input = try Self.open(source)
        defer { close(input.descriptor) }
        func check(_ found: Int64) throws {
            guard let size, found != size else { return }
            throw CommandFailure.local(
                "Its file has \(found) bytes instead of \(size). Check the library before you trust it.")
        }
        let time = time ?? input.modified
        if isThere, try isSame(input, source) {
            try check(input.size)
            try setModified(time)
            return .unchanged
        }
        guard lseek(input.descriptor, 0, SEEK_SET) == 0 else { throw Self.unreadable(source, "read") }
        let output = try NewFile(target)
        var copied: Int64 = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try Self.fill(&buffer, from: input.descriptor, source)
            if count == 0 { break }
            try output.write(buffer[..<count])
            copied += Int64(count)
        }
        try check(copied)
        output.setModified(time)
        try isThere ? output.finishReplacing() : output.finish()
        return .written
    }

    /// Compares the bytes, which takes no longer than writing them. Rejected: size and time, as rsync compares them. Photos known to
    /// the year have one time, scans of one resolution have one size, and when one of two that are called alike goes, the other
    /// one takes its name; sticks round times. A digest of a file that has to be read for it says nothing more.
    private func isSame(_ input: Input, _ source: String) throws -> Bool {
        guard let there = try? Self.open(target) else { return false }
        defer { close(there.descriptor) }
        guard there.size == input.size else { return false }
        var (left, right) = ([UInt8](repeating: 0, count: 1 << 20), [UInt8](repeating: 0, count: 1 << 20))
        while true {
            let count = try Self.fill(&left, from: input.descriptor, source)
            // One that cannot be read is written anew.
            guard (try? Self.fill(&right, from: there.descriptor, target)) == count,
                left[..<count] == right[..<count]
            else { return false }
            if count == 0 { return true }
        }
    }

    /// A date may have been corrected since.
    private func setModified(_ time: Timestamp) throws {
        guard let there = try? Self.open(target) else { return }
        defer { close(there.descriptor) }
        if there.modified != time { NewFile.setModified(time, of: there.descriptor) }
    }

    // MARK: Reading

    private struct Input {
        let descriptor: Int32
        let size: Int64
        let modified: Timestamp
    }

    private static func unreadable(_ path: String, _ what: String) -> CommandFailure {
        .local("\(path) cannot be \(what): \(String(cString: strerror(errno))).")
    }

    private static func open(_ path: String) throws -> Input {
        // Without waiting for somebody to write into a pipe that stands in the photo's place.
        let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw unreadable(path, "opened") }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            defer { close(descriptor) }
            throw unreadable(path, "opened")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw CommandFailure.local(
                "\(path) is no file that could be copied. Check the library: smilepile storage check")
        }
        let time = status.st_mtim
        return Input(
            descriptor: descriptor, size: Int64(status.st_size),
            modified: Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000))
    }

    /// Reads until the buffer is full or the file ends.
    private static func fill(_ buffer: inout [UInt8], from descriptor: Int32, _ path: String) throws -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = buffer.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress.map { $0 + filled }, $0.count - filled)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path, "read") }
            if count == 0 { break }
            filled += count
        }
        return filled
    }
}
