import CLinux
import Foundation

/// The folder that a socket stands in: made for its owner alone, and refused where others could exchange the socket.
enum SocketFolder {
    /// Makes the folder of `path` (mode 0700) where it is missing, and checks it.
    ///
    /// A folder that is there already must belong to this user or to root, and others may write in it only where
    /// it is sticky (`/tmp`), so that they cannot take the socket away. The check is of the folder itself, opened
    /// once, not of its name twice.
    static func prepare(for path: String) throws(ControlError) {
        let folder = (path as NSString).deletingLastPathComponent
        let name = folder.isEmpty ? "." : folder
        func refuse(_ reason: String) -> ControlError { .unusableAddress(path: path, reason: reason) }
        do {
            // With its parents; 0700 for all of them, as the XDG specification asks.
            try FileManager.default.createDirectory(
                atPath: name, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw refuse("its folder \(name) cannot be made: \(SystemCall.reason(errno))")
        }
        let descriptor = clinux_open(name, O_RDONLY | O_DIRECTORY, 0)
        guard descriptor >= 0 else { throw refuse("its folder \(name) cannot be opened: \(SystemCall.reason(errno))") }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw refuse("its folder cannot be looked at") }
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
            throw refuse("its folder \(name) belongs to another user (\(facts.st_uid)); choose one of your own")
        }
        let othersWrite = facts.st_mode & 0o022 != 0
        guard !othersWrite || facts.st_mode & UInt32(S_ISVTX) != 0 else {
            throw refuse("others can write in its folder \(name); make it private with chmod 700 \(name)")
        }
    }
}
