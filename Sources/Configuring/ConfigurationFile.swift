import CLinux
import Foundation
import Files
import ServiceMesh

/// The file `config.toml`. Everything here blocks.
///
/// Who writes it decides where photos go and who reaches them, so it counts only where nobody else can: its owner is the user of the
/// program, or root. It may be a link, as those make it that keep their configurations in one place; then what it leads to is
/// looked at.
package struct ConfigurationFile: Sendable {
    /// Of a file. A comment for each key takes a fiftieth.
    package static let mostBytes = 64 << 10

    package let path: String
    private let user: uid_t

    /// - Parameter user: another only in tests.
    package init(path: String, user: uid_t = geteuid()) { (self.path, self.user) = (path, user) }

    /// Where it is looked for: `config.toml` in `$CONFIGURATION_DIRECTORY`, which a service manager hands over, else in
    /// `smilepile` in `$XDG_CONFIG_HOME`, or in `~/.config`. Nil where none of these is set.
    package static func usual(_ environment: [String: String]) -> ConfigurationFile? {
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        // systemd lists several folders with colons.
        if let service = folder("CONFIGURATION_DIRECTORY")?.split(separator: ":").first {
            return ConfigurationFile(path: service + "/config.toml")
        }
        let configuration = folder("XDG_CONFIG_HOME") ?? folder("HOME").map { $0 + "/.config" }
        return configuration.map { ConfigurationFile(path: $0 + "/smilepile/config.toml") }
    }

    /// What the usual file says.
    /// - Throws: as ``read()``.
    package static func usual(in environment: [String: String]) throws -> Configuration {
        try usual(environment)?.read() ?? .none
    }

    /// - Throws: `failed_precondition`, with what makes it right, for a file that others can change, that is too long, or that says what
    ///   no key takes; the file system's errors.
    package func read() throws -> Configuration {
        guard let text = try text() else { return .none }
        return try Configuration(text, path: path)
    }

    /// - Returns: nil where there is no file.
    /// - Throws: as ``read()``, whatever the text says.
    package func text() throws -> String? {
        // A pipe must not make it wait.
        let descriptor = clinux_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: return nil
            case EACCES, EPERM: throw refusal("may not be read by this user", "Give it to the user that runs this.")
            default: throw FileSystem.Failure(action: "open", path: path, code: errno)
            }
        }
        defer { close(descriptor) }
        try check(descriptor)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Foundation.read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw FileSystem.Failure(action: "read", path: path, code: errno) }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
            guard bytes.count <= Self.mostBytes else { throw tooLong }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw refusal("is not UTF-8", "Save it as that.")
        }
        return text
    }

    private func check(_ descriptor: Int32) throws {
        var status = stat()
        try FileSystem.check(fstat(descriptor, &status), "look at", path)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw refusal("is no file", "Move it away, and put the right file in its place.")
        }
        guard status.st_uid == user || status.st_uid == 0 else {
            throw refusal("belongs to another user (\(status.st_uid))", "chown \(user) '\(path)'")
        }
        guard status.st_mode & 0o022 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw refusal("may be changed by others (its mode is \(mode))", "chmod go-w '\(path)'")
        }
        guard status.st_size <= Self.mostBytes else { throw tooLong }
    }

    private var tooLong: MeshError {
        refusal("has more than \(Self.mostBytes >> 10) KiB", "Take out what is not SmilePile's.")
    }

    private func refusal(_ what: String, _ remedy: String) -> MeshError {
        MeshError(
            .failedPrecondition, "The configuration \(path) \(what), so it is not used. To put it right: \(remedy)",
            details: ["reason": "configuration", "path": .string(path)])
    }

    // MARK: Writing

    /// Puts a text in the file's place, in one step: who looks finds the old one or the new one, and whole. The folder is made where there
    /// is none.
    /// - Parameter change: gets the text that is there, empty where there is no file.
    /// - Returns: whether it is another text now.
    /// - Throws: as ``read()``, of either text where it may not be used; what `change` throws.
    @discardableResult
    package func replace(_ change: (String) throws -> String) throws -> Bool {
        // What a link leads to is replaced, and not the link.
        let target = realpath(path, nil).map { found in
            defer { free(found) }
            return String(cString: found)
        }
        let place = target ?? path
        let folder = FileSystem.parent(of: place)
        do {
            try FileSystem.makeFolder(folder)
            return try FileSystem.withFile(folder, O_RDONLY | O_DIRECTORY) { lock in
                // One change at a time, so that none is lost. Where the file system has no locks, the last one counts.
                while flock(lock, LOCK_EX) != 0 && errno == EINTR {}
                let old = try text()
                let new = try change(old ?? "")
                guard new != old else { return false }
                guard new.utf8.count <= Self.mostBytes else { throw tooLong }
                _ = try Configuration(new, path: path)
                try write(new, to: place, in: folder)
                return true
            }
        } catch let failure as FileSystem.Failure where [EACCES, EPERM, EROFS].contains(failure.code) {
            throw MeshError(
                .failedPrecondition,
                "The configuration \(path) cannot be changed (\(failure)). Allow it, or do it as the user whose it is.",
                details: ["reason": "configuration", "path": .string(path)])
        }
    }

    private func write(_ text: String, to place: String, in folder: String) throws {
        var status = stat()
        let mode = stat(place, &status) == 0 ? status.st_mode & 0o777 : 0o600
        let temporary = folder + "/.config-\(UUID().uuidString).toml"
        try FileSystem.withFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode) { descriptor in
            do {
                var bytes = text
                try bytes.withUTF8 { try FileSystem.write(UnsafeRawBufferPointer($0), to: descriptor, place) }
                try FileSystem.sync(descriptor, place)
                try FileSystem.rename(temporary, to: place)
            } catch {
                unlink(temporary)
                throw error
            }
        }
        try FileSystem.sync(folder)
    }
}
