import CLinux
import Foundation
import ServiceMesh

/// A file that holds a key, and so is its owner's alone: it is used only where nobody else can read or change it. Everything here
/// blocks.
package struct PrivateFile: Sendable {
    package let path: String
    /// What it is, at the beginning of a sentence: `The key file`.
    private let title: String
    /// What names another place for it: `SMILEPILE_KEY_FILE`.
    private let variable: String
    /// What its errors have as `reason`: `key_file`.
    private let reason: String
    /// The user that it has to belong to.
    private let owner: uid_t
    private let isCredential: Bool

    /// - Parameters:
    ///   - isCredential: whether the service manager hands it over: then it may be root's.
    ///   - owner: another only in tests.
    package init(
        path: String, title: String, variable: String, reason: String, isCredential: Bool = false, owner: uid_t
    ) {
        self.path = path
        self.title = title
        self.variable = variable
        self.reason = reason
        self.isCredential = isCredential
        self.owner = owner
    }

    /// - Parameter body: gets the open file and what the file system says of it.
    /// - Returns: nil where there is no such file.
    /// - Throws: `failed_precondition`, with what makes it right, for a file that is not the owner's alone, for a link, and for what
    ///   is no file; the file system's errors; what `body` throws.
    package func read<Value>(_ body: (_ descriptor: Int32, _ status: stat) throws -> Value) throws -> Value? {
        // A pipe must not make it wait, and what its name leads to elsewhere was never meant.
        let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: return nil
            case ELOOP: throw refusal("is a link", "Put the file itself in its place.")
            case EACCES, EPERM: throw refusal("may not be read by this user", "Give it to the user that runs this.")
            default: throw FileSystem.Failure(action: "open", path: path, code: errno)
            }
        }
        defer { close(descriptor) }
        var status = stat()
        try FileSystem.check(fstat(descriptor, &status), "look at", path)
        try check(status)
        return try body(descriptor, status)
    }

    private func check(_ status: stat) throws {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw refusal("is no file", "Move it away, and put the right file in its place.")
        }
        guard status.st_uid == owner || isCredential && status.st_uid == 0 else {
            throw refusal("belongs to another user (\(status.st_uid))", "chown \(owner) '\(path)'")
        }
        // systemd lets a service's user read a file of root's by an access list, which shows as the group's bits.
        guard status.st_mode & (isCredential ? 0o007 : 0o077) == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw refusal("may be used by others (its mode is \(mode))", "chmod 600 '\(path)'")
        }
    }

    /// - Parameters:
    ///   - what: what is wrong with the file, as the end of a sentence about it.
    ///   - remedy: a sentence or a command.
    package func refusal(_ what: String, _ remedy: String) -> MeshError {
        error("\(title) \(path) \(what), so it is not used. To put it right: \(remedy)")
    }

    private func error(_ message: String) -> MeshError {
        MeshError(.failedPrecondition, message, details: ["reason": .string(reason), "path": .string(path)])
    }

    /// Writes a new file, durably, and makes the folder that it lies in.
    /// - Parameters:
    ///   - contents: writes into the descriptor.
    ///   - place: gives the file, of which it gets the path, its name. What still has that path afterwards is removed.
    /// - Throws: `failed_precondition` where this user may make none there; the file system's other errors; what `contents` and `place`
    ///   throw.
    package func write(_ contents: (_ descriptor: Int32) throws -> Void, place: (String) throws -> Void) throws {
        let folder = FileSystem.parent(of: path)
        do {
            try FileSystem.makeFolder(folder)
            let temporary = folder + "/.\(path.split(separator: "/").last ?? "")-\(UUID().uuidString)"
            try FileSystem.withFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600) { descriptor in
                defer { unlink(temporary) }
                try contents(descriptor)
                try FileSystem.sync(descriptor, path)
                try place(temporary)
            }
            try FileSystem.sync(folder)
        } catch let failure as FileSystem.Failure where [EACCES, EPERM, EROFS, ENOENT].contains(failure.code) {
            throw error("\(title) cannot be made (\(failure)). Allow it, or name another place in \(variable).")
        }
    }
}
