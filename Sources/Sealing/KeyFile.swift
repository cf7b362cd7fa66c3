import CLinux
import Foundation
import Files
import ServiceMesh

/// The file that a library's sealed fields need beside the library: a text line with 32 random bytes.
///
///     smilepile-key-1 <64 hexadecimal digits>
///
/// It lies outside the library's folder, so that whoever gets hold of that folder alone, or of a copy of it, can open
/// nothing. One file serves all libraries of its owner. Everything here blocks.
package struct KeyFile: Sendable {
    package let path: String
    /// Whether the service manager hands it over: then it may be root's, and is never made here.
    package let isCredential: Bool
    /// The user that it has to belong to.
    private let owner: uid_t

    /// - Parameter owner: for tests.
    package init(path: String, isCredential: Bool = false, owner: uid_t = geteuid()) {
        self.path = path
        self.isCredential = isCredential
        self.owner = owner
    }

    /// The name of the credential that a service manager hands over: `LoadCredential=smilepile-key:…`.
    package static let credential = "smilepile-key"

    /// Where it is looked for: `$SMILEPILE_KEY_FILE`; else the credential, where there is one; else
    /// `smilepile/sealing.key` in `$XDG_CONFIG_HOME`, or in `~/.config`. Nil where none of these is set.
    package static func usual(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> KeyFile? {
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        if let named = folder("SMILEPILE_KEY_FILE") { return KeyFile(path: named) }
        if let credentials = folder("CREDENTIALS_DIRECTORY") {
            let path = credentials + "/" + credential
            // Whatever is there was meant: a wrong one is refused and not passed over.
            if (try? FileSystem.status(path)) != nil { return KeyFile(path: path, isCredential: true) }
        }
        let config = folder("XDG_CONFIG_HOME") ?? folder("HOME").map { $0 + "/.config" }
        return config.map { KeyFile(path: $0 + "/smilepile/sealing.key") }
    }

    // MARK: Its form

    private static let beginning = Array("smilepile-key-1 ".utf8)
    private static let size = beginning.count + WrappingKey.bytes * 2 + 1

    // MARK: Reading

    /// - Returns: nil where there is no such file.
    /// - Throws: `failed_precondition`, with what makes it right, for a file that is not the owner's alone, is a link, or
    ///   is no key file; the file system's errors.
    package func read() throws -> WrappingKey? {
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
        let secret = try SecretBytes(count: Self.size) { room in
            guard
                try OpenFile(descriptor).read(
                    into: UnsafeMutableRawBufferPointer(start: room, count: Self.size), at: 0) == Self.size
            else { throw wrongContents }
        }
        return WrappingKey(try key(in: secret))
    }

    private func check(_ status: stat) throws {
        guard status.st_mode & S_IFMT == S_IFREG else { throw refusal("is no file", "Put the key file in its place.") }
        guard status.st_uid == owner || isCredential && status.st_uid == 0 else {
            throw refusal("belongs to another user (\(status.st_uid))", "chown \(owner) '\(path)'")
        }
        // systemd lets a service's user read a file of root's by an access list, which shows as the group's bits.
        guard status.st_mode & (isCredential ? 0o007 : 0o077) == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw refusal("may be used by others (its mode is \(mode))", "chmod 600 '\(path)'")
        }
        guard status.st_nlink == 1 else {
            throw refusal(
                "has \(status.st_nlink) names", "Remove the others, which 'find / -xdev -samefile' finds, or copy it.")
        }
        guard status.st_size == Self.size else { throw wrongContents }
    }

    private func key(in line: SecretBytes) throws -> SecretBytes {
        try SecretBytes(count: WrappingKey.bytes) { key in
            let isKey = line.withBytes { bytes in
                UnsafeBufferPointer(start: bytes, count: Self.beginning.count).elementsEqual(Self.beginning)
                    && bytes[Self.size - 1] == UInt8(ascii: "\n")
                    && Sodium.readHex(bytes + Self.beginning.count, into: key, count: WrappingKey.bytes)
            }
            guard isKey else { throw wrongContents }
        }
    }

    private func refusal(_ what: String, _ remedy: String) -> MeshError {
        MeshError(
            .failedPrecondition, "The key file \(path) \(what), so it is not used. To put it right: \(remedy)",
            details: ["reason": "key_file", "path": .string(path)])
    }

    private var wrongContents: MeshError {
        refusal(
            "is not one that this program made (it has another length, or other contents)",
            "Put the right file there, or import the key: smilepile keys import FILE")
    }

    // MARK: Making

    /// Makes the file with a new key, durably, and the folder that it lies in. A file that is there already stays as it is, and
    /// is the one that is read.
    /// - Throws: as ``read()``; `failed_precondition` for a credential, which only the service manager can make.
    package func make() throws -> WrappingKey {
        if let there = try read() { return there }
        guard !isCredential else {
            throw MeshError(
                .failedPrecondition,
                "The service manager hands over no key as \(path). Check the unit's LoadCredential=.")
        }
        let folder = FileSystem.parent(of: path)
        do {
            try FileSystem.makeFolder(folder)
            let key = try WrappingKey.random()
            let temporary = folder + "/.sealing-\(KeyID.random())"
            try FileSystem.withFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600) { descriptor in
                defer { unlink(temporary) }
                try write(key, to: descriptor)
                try FileSystem.sync(descriptor, path)
                // By linking: a name that is taken stays whose it is.
                try FileSystem.renameNew(temporary, to: path)
            }
            try FileSystem.sync(folder)
        } catch let failure as FileSystem.Failure where failure.code == EEXIST {
            // Another process was faster; its key counts.
        } catch let failure as FileSystem.Failure where [EACCES, EPERM, EROFS, ENOENT].contains(failure.code) {
            throw MeshError(
                .failedPrecondition,
                "No key file can be made (\(failure)). Allow it, or name another place in SMILEPILE_KEY_FILE.",
                details: ["reason": "key_file", "path": .string(path)])
        }
        guard let made = try read() else { throw FileSystem.Failure(action: "open", path: path, code: ENOENT) }
        return made
    }

    private func write(_ key: WrappingKey, to descriptor: Int32) throws {
        let line = try SecretBytes(count: Self.size) { room in
            room.update(from: Self.beginning, count: Self.beginning.count)
            // The zero behind the digits becomes the line break.
            key.secret.withBytes {
                Sodium.writeHex($0, count: WrappingKey.bytes, into: room + Self.beginning.count)
            }
            room[Self.size - 1] = UInt8(ascii: "\n")
        }
        try line.withBytes {
            try FileSystem.write(UnsafeRawBufferPointer(start: $0, count: Self.size), to: descriptor, path)
        }
    }
}
