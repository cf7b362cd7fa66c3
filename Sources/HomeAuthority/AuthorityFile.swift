import CLinux
import Files
import Foundation
import ServiceMesh

/// Where a home's authority is kept: one file with its key and its certificate as PEM, its owner's alone, beside the file of the
/// sealing key and outside of every library's folder. One serves all libraries of its owner. Everything here blocks.
package struct AuthorityFile: Sendable {
    /// Bytes at most; a real one has some 1,500.
    private static let most = 16_384

    package let path: String
    /// The user that it has to belong to.
    private let owner: uid_t

    /// - Parameter owner: for tests.
    package init(path: String, owner: uid_t = geteuid()) {
        self.path = path
        self.owner = owner
    }

    /// Where it is looked for: `$SMILEPILE_AUTHORITY_FILE`; else `home-authority.pem` beside `$SMILEPILE_KEY_FILE`; else
    /// `smilepile/home-authority.pem` in `$XDG_CONFIG_HOME`, or in `~/.config`. Nil where none of these is set. Not in the folder of a
    /// service manager's credentials, where nothing can be made.
    package static func usual(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> AuthorityFile? {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        if let named = absolute("SMILEPILE_AUTHORITY_FILE") { return AuthorityFile(path: named) }
        let folder =
            absolute("SMILEPILE_KEY_FILE").map(FileSystem.parent(of:))
            ?? (absolute("XDG_CONFIG_HOME") ?? absolute("HOME").map { $0 + "/.config" }).map { $0 + "/smilepile" }
        return folder.map { AuthorityFile(path: $0 + "/home-authority.pem") }
    }

    // MARK: Reading

    /// - Returns: nil where there is no such file.
    /// - Throws: `failed_precondition`, with what makes it right, for a file that is not the owner's alone, is a link, or
    ///   holds no authority; the file system's errors.
    package func read() throws -> Authority? {
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
        var text = [UInt8](repeating: 0, count: Self.most)
        let count = pread(descriptor, &text, text.count, 0)
        guard count >= 0 else { throw FileSystem.Failure(action: "read", path: path, code: errno) }
        guard let authority = try? Authority(pem: Data(text.prefix(count))) else {
            throw refusal(
                "holds no authority of a home that can be read",
                "Bring the right file back, or remove it: a new one is made then, which each device installs once more."
            )
        }
        return authority
    }

    private func check(_ status: stat) throws {
        guard status.st_mode & S_IFMT == S_IFREG else { throw refusal("is no file", "Move it away.") }
        guard status.st_uid == owner else {
            throw refusal("belongs to another user (\(status.st_uid))", "chown \(owner) '\(path)'")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw refusal("may be used by others (its mode is \(mode))", "chmod 600 '\(path)'")
        }
        guard status.st_size < Self.most else { throw refusal("is too large for an authority", "Move it away.") }
    }

    private func refusal(_ what: String, _ remedy: String) -> MeshError {
        MeshError(
            .failedPrecondition, "The authority's file \(path) \(what), so it is not used. To put it right: \(remedy)",
            details: ["reason": "authority_file", "path": .string(path)])
    }

    // MARK: Making

    /// Makes the file with a new authority, durably, and the folder that it lies in. A file that is there already stays as it is,
    /// and is the one that counts.
    /// - Parameter meanwhile: for tests, between the look for a file and the making of one.
    /// - Returns: whether it was made here.
    /// - Throws: as ``read()``.
    package func make(
        names: [String], now: Int64, meanwhile: () throws -> Void = {}
    ) throws -> (authority: Authority, isNew: Bool) {
        if let there = try read() { return (there, false) }
        try meanwhile()
        let made = try Authority.make(names: names, now: now)
        var isNew = true
        do {
            try write(made) { try FileSystem.renameNew($0, to: path) }
        } catch let failure as FileSystem.Failure where failure.code == EEXIST {
            // Another process was faster; its authority counts.
            isNew = false
        }
        guard let there = try read() else { throw FileSystem.Failure(action: "open", path: path, code: ENOENT) }
        return (there, isNew && there == made)
    }

    /// Makes a new authority in the place of one that has expired, which stays beside it: where the clock was wrong, a person can put
    /// it back.
    package func replace(_ expired: Authority, names: [String], now: Int64) throws -> Authority {
        let made = try Authority.make(names: names, now: now)
        try write(made) { new in
            let folder = FileSystem.parent(of: path)
            let mark = expired.fingerprint.prefix(4).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
            try? FileSystem.renameNew(path, to: folder + "/home-authority-expired-\(mark).pem")
            try FileSystem.rename(new, to: path)
        }
        return made
    }

    private func write(_ authority: Authority, place: (String) throws -> Void) throws {
        let folder = FileSystem.parent(of: path)
        do {
            try FileSystem.makeFolder(folder)
            let temporary = folder + "/.home-authority-\(UUID().uuidString)"
            try FileSystem.withFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600) { descriptor in
                defer { unlink(temporary) }
                let pem = try authority.pem()
                try pem.withUnsafeBytes { try FileSystem.write($0, to: descriptor, path) }
                try FileSystem.sync(descriptor, path)
                try place(temporary)
            }
            try FileSystem.sync(folder)
        } catch let failure as FileSystem.Failure where [EACCES, EPERM, EROFS, ENOENT].contains(failure.code) {
            throw MeshError(
                .failedPrecondition,
                "No authority for this home can be made (\(failure)). Allow it, or name another place in "
                    + "SMILEPILE_AUTHORITY_FILE.",
                details: ["reason": "authority_file", "path": .string(path)])
        }
    }
}
