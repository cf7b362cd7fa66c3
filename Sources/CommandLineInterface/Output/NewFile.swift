import CLinux
import Files
import Foundation
import ServiceMesh

/// A file that has its name only once it is whole, and never takes one that is in use.
///
/// Until then it has no name at all where the file system can do that, so that nothing is left however this program
/// ends. Elsewhere (FAT and exFAT, which most sticks have) it is called `NAME.partial`.
package final class NewFile {
    package let target: String
    package let descriptor: Int32
    private let partial: String?

    /// - Throws: ``CommandFailure`` where the folder cannot be written to.
    package init(_ target: String, mode: mode_t = 0o644) throws {
        self.target = target
        let folder = (target as NSString).deletingLastPathComponent
        let nameless = FileSystem.openUnnamed(in: folder, O_WRONLY, mode: mode)
        if nameless >= 0 {
            descriptor = nameless
            partial = nil
            return
        }
        // Whatever it was, this either works or says it better.
        let partial = target + ".partial"
        descriptor = clinux_open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
        guard descriptor >= 0 else {
            throw errno == EEXIST
                ? CommandFailure.local("\(partial) is there, left by an export that was broken off. Remove it first.")
                : Self.refusal(target)
        }
        self.partial = partial
    }

    deinit {
        close(descriptor)
        if let partial { unlink(partial) }
    }

    /// - Throws: ``refusal(_:_:)`` of a name that is in use, whatever has it.
    package static func requireFree(_ target: String) throws {
        var status = stat()
        if lstat(target, &status) == 0 { throw refusal(target, EEXIST) }
    }

    /// Writes all of what is not read from somewhere else.
    package func write(_ bytes: some Sequence<UInt8>) throws {
        var rest = ArraySlice(bytes)
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw Self.refusal(target) }
            rest = rest.dropFirst(written)
        }
    }

    /// Says when it was last written to, to the millisecond. Where its file system has no such time, it has another.
    package func setModified(_ time: Timestamp) { Self.setModified(time, of: descriptor) }

    package static func setModified(_ time: Timestamp, of descriptor: Int32) {
        let (seconds, rest) = time.milliseconds.quotientAndRemainder(dividingBy: 1000)
        let isBefore = rest < 0
        // Linux's UTIME_OMIT, which is a macro that Swift does not see.
        let asItIs = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
        let modified = timespec(
            tv_sec: Int(seconds) - (isBefore ? 1 : 0), tv_nsec: Int(rest + (isBefore ? 1000 : 0)) * 1_000_000)
        _ = futimens(descriptor, [asItIs, modified])
    }

    /// Makes the contents durable and puts them in the place of the file that has the name, in one step: whoever looks finds the old
    /// one or the new one, and whole. Only for a name whose file was looked at.
    package func finishReplacing() throws {
        guard fsync(descriptor) == 0 else { throw Self.refusal(target) }
        // No call gives a file without a name one that is in use.
        let whole = target + ".partial"
        if partial == nil,
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, whole, Int32(AT_SYMLINK_FOLLOW)) != 0
        {
            throw errno == EEXIST
                ? CommandFailure.local("\(whole) is there, left by an export that was broken off. Remove it first.")
                : Self.refusal(target)
        }
        guard Foundation.rename(whole, target) == 0 else {
            let failure = Self.refusal(target)
            unlink(whole)
            throw failure
        }
    }

    /// Makes the contents durable and gives them the name.
    package func finish() throws {
        guard fsync(descriptor) == 0 else { throw Self.refusal(target) }
        // link(2) refuses a name that is taken, where rename(2) would replace it.
        let isLinked =
            if let partial {
                link(partial, target) == 0
            } else {
                linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, target, Int32(AT_SYMLINK_FOLLOW)) == 0
            }
        guard !isLinked else { return }
        let code = errno
        // An error may come after the deed, as from a network that lost the answer: the last word is what the name is.
        if Self.isFile(descriptor, at: target) { return }
        guard let partial, [EPERM, EOPNOTSUPP, ENOSYS].contains(code) else { throw Self.refusal(target, code) }
        try Self.rename(partial, to: target)
    }

    /// For file systems without links: claims the name with an empty file, and puts the whole one in its place.
    /// - Parameter deed: the renaming itself.
    package static func rename(
        _ partial: String, to target: String, by deed: (String, String) -> Int32 = { Foundation.rename($0, $1) }
    ) throws {
        let whole = clinux_open(partial, O_RDONLY | O_NOFOLLOW, 0)
        guard whole >= 0 else { throw refusal(partial) }
        defer { close(whole) }
        let claim = clinux_open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
        guard claim >= 0 else { throw refusal(target) }
        defer { close(claim) }
        guard deed(partial, target) == 0 else {
            let failure = refusal(target)
            if isFile(whole, at: target) { return }
            // Only the empty file, and never what has taken its place.
            if isFile(claim, at: target) { unlink(target) }
            throw failure
        }
    }

    /// Whether the file of a descriptor has this name.
    private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
        var (own, found) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(path, &found) == 0 && own.st_dev == found.st_dev
            && own.st_ino == found.st_ino
    }

    /// What an errno says about writing it.
    package static func refusal(_ target: String, _ code: Int32 = errno) -> CommandFailure {
        switch code {
        case EEXIST: .local("\(target) is there already.")
        case EROFS:
            .local(
                "\(target) cannot be written: its disk can only be read. Take off its write protection, or choose another place."
            )
        case EFBIG:
            .local(
                "\(target) would be too large for its file system. Choose a place on another one, such as exFAT or ext4."
            )
        default: .local("\(target) cannot be written: \(String(cString: strerror(code))).")
        }
    }
}
