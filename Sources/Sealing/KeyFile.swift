import Files
import Foundation
import ServiceMesh

/// The file that a library's sealed fields need beside the library: a text line with 32 random bytes.
///
///     smilepile-key-1 <64 hexadecimal digits>
///
/// It lies outside the library's folder, so that whoever gets hold of that folder alone, or of a copy of it, can open
/// nothing. One file serves all libraries of its owner. Everything here blocks.
package struct KeyFile: Sendable {
    /// Whether the service manager hands it over: then it may be root's, and is never made here.
    package let isCredential: Bool
    private let file: PrivateFile

    package var path: String { file.path }

    /// - Parameter owner: for tests.
    package init(path: String, isCredential: Bool = false, owner: uid_t = geteuid()) {
        self.isCredential = isCredential
        file = PrivateFile(
            path: path, title: "The key file", variable: "SMILEPILE_KEY_FILE", reason: "key_file",
            isCredential: isCredential, owner: owner)
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
    /// Of each key file, no more and no less.
    package static let bytes = beginning.count + WrappingKey.bytes * 2 + 1

    // MARK: Reading

    /// - Returns: nil where there is no such file.
    /// - Throws: `failed_precondition`, with what makes it right, for a file that is not the owner's alone, is a link, or
    ///   is no key file; the file system's errors.
    package func read() throws -> WrappingKey? {
        try file.read { descriptor, status in
            guard status.st_nlink == 1 else {
                throw file.refusal(
                    "has \(status.st_nlink) names",
                    "Remove the others, which 'find / -xdev -samefile' finds, or copy it.")
            }
            guard status.st_size == Self.bytes else { throw wrongContents }
            let secret = try SecretBytes(count: Self.bytes) { room in
                guard
                    try OpenFile(descriptor).read(
                        into: UnsafeMutableRawBufferPointer(start: room, count: Self.bytes), at: 0) == Self.bytes
                else { throw wrongContents }
            }
            return WrappingKey(try key(in: secret))
        }
    }

    private func key(in line: SecretBytes) throws -> SecretBytes {
        try SecretBytes(count: WrappingKey.bytes) { key in
            let isKey = line.withBytes { bytes in
                UnsafeBufferPointer(start: bytes, count: Self.beginning.count).elementsEqual(Self.beginning)
                    && bytes[Self.bytes - 1] == UInt8(ascii: "\n")
                    && Sodium.readHex(bytes + Self.beginning.count, into: key, count: WrappingKey.bytes)
            }
            guard isKey else { throw wrongContents }
        }
    }

    private var wrongContents: MeshError {
        file.refusal(
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
        let key = try WrappingKey.random()
        do {
            // By linking: a name that is taken stays whose it is.
            try file.write {
                try write(key, to: $0)
            } place: {
                try FileSystem.renameNew($0, to: path)
            }
        } catch let failure as FileSystem.Failure where failure.code == EEXIST {
            // Another process was faster; its key counts.
        }
        guard let made = try read() else { throw FileSystem.Failure(action: "open", path: path, code: ENOENT) }
        return made
    }

    private func write(_ key: WrappingKey, to descriptor: Int32) throws {
        let line = try SecretBytes(count: Self.bytes) { room in
            room.update(from: Self.beginning, count: Self.beginning.count)
            // The zero behind the digits becomes the line break.
            key.secret.withBytes {
                Sodium.writeHex($0, count: WrappingKey.bytes, into: room + Self.beginning.count)
            }
            room[Self.bytes - 1] = UInt8(ascii: "\n")
        }
        try line.withBytes {
            try FileSystem.write(UnsafeRawBufferPointer(start: $0, count: Self.bytes), to: descriptor, path)
        }
    }
}
