import Foundation

/// A path as Linux has it, any bytes, and as the text that stands for it in requests, receipts and logs, which are UTF-8.
///
/// A name that is UTF-8 is its own text. Of another one, each byte that is not part of a character is written `\xE9`, and a
/// backslash twice; so is a name that has `\x` in it as it is. Each text therefore stands for one name only, and whoever
/// reads `caf\xE9.jpg` in a receipt can type just that.
///
/// Rejected: replacing what is not UTF-8, since two names may then have one text, and none can be opened by it; Python's
/// lone surrogates, which a Swift string cannot hold.
package struct FilePath: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// - Parameter text: as a receipt shows it. What is no such text stands for itself.
    package init(text: String) { self.text = text }

    /// - Parameter bytes: of a path, or of a part of one.
    package init(bytes: some Collection<UInt8>) {
        let parts = Array(bytes).split(separator: Self.slash, omittingEmptySubsequences: false)
        text = parts.map { Self.text($0) }.joined(separator: "/")
    }

    package var description: String { text }

    // By bytes. To Swift an accent is the same whether it stands for itself or behind its letter; to Linux these are two files.
    package static func == (one: FilePath, other: FilePath) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// A file or folder in this folder.
    package func appending(_ name: FilePath) -> FilePath { FilePath(text: (text == "/" ? "" : text) + "/" + name.text) }

    /// The folder of an absolute path.
    package var parent: FilePath { FilePath(text: FileSystem.parent(of: text)) }

    /// What stands behind the last slash.
    package var name: String { text.split(separator: "/").last.map(String.init) ?? text }

    /// Without a zero at the end.
    package var bytes: [UInt8] {
        guard text.contains(Self.mark) else { return Array(text.utf8) }
        let parts = Array(text.utf8).split(separator: Self.slash, omittingEmptySubsequences: false)
        return Array(parts.map { Self.bytes($0) }.joined(separator: [Self.slash]))
    }

    /// For a call of the system.
    package func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        guard text.contains(Self.mark) else { return try text.withCString(body) }
        return try (bytes.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("an array with a zero in it is not empty") }
            return try body(start)
        }
    }

    private static let mark = "\\x"
    private static let slash = UInt8(ascii: "/")
    private static let backslash = UInt8(ascii: "\\")

    private static func text(_ name: ArraySlice<UInt8>) -> String {
        if let text = String(validating: name, as: UTF8.self), !text.contains(mark) { return text }
        var text = ""
        var rest = name
        while let byte = rest.first {
            // The longest sequence of a character has four bytes.
            let character = (1...4).lazy.filter { $0 <= rest.count }.compactMap { count in
                String(validating: rest.prefix(count), as: UTF8.self).map { (count, $0) }
            }.first
            if byte == backslash {
                text += "\\\\"
            } else if let (_, scalar) = character {
                text += scalar
            } else {
                text +=
                    mark + String(byte >> 4, radix: 16, uppercase: true)
                    + String(byte & 15, radix: 16, uppercase: true)
            }
            rest = rest.dropFirst(character?.0 ?? 1)
        }
        return text
    }

    private static func bytes(_ name: ArraySlice<UInt8>) -> [UInt8] {
        let name = Array(name)
        guard name.indices.dropLast().contains(where: { name[$0] == backslash && name[$0 + 1] == UInt8(ascii: "x") })
        else { return name }
        var bytes: [UInt8] = []
        var rest = name[...]
        while let byte = rest.popFirst() {
            if byte == backslash, rest.first == backslash {
                rest = rest.dropFirst()
                bytes.append(backslash)
            } else if byte == backslash, rest.first == UInt8(ascii: "x"),
                let digits = String(validating: rest.dropFirst().prefix(2), as: UTF8.self), digits.utf8.count == 2,
                digits.allSatisfy(\.isHexDigit), let escaped = UInt8(digits, radix: 16), escaped != 0, escaped != slash
            {
                rest = rest.dropFirst(3)
                bytes.append(escaped)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}

extension FileSystem {
    /// As ``status(_:)-(String)``.
    package static func status(_ path: FilePath) throws -> stat? {
        var found = stat()
        guard path.withCString({ lstat($0, &found) }) != 0 else { return found }
        guard errno == ENOENT || errno == ENOTDIR else {
            throw Failure(action: "look at", path: path.text, code: errno)
        }
        return nil
    }

    /// Without links in it.
    package static func real(_ path: FilePath) throws -> FilePath {
        guard let real = path.withCString({ realpath($0, nil) }) else {
            throw Failure(action: "look at", path: path.text, code: errno)
        }
        defer { free(real) }
        return FilePath(bytes: UnsafeBufferPointer(start: real, count: strlen(real)).map(UInt8.init(bitPattern:)))
    }

    /// Whether there is something, behind links too.
    package static func isThere(_ path: FilePath) -> Bool { path.withCString { access($0, F_OK) } == 0 }

    /// Names in a folder, without `.` and `..`.
    package static func entries(of folder: FilePath) throws -> [FilePath] {
        var names: [FilePath] = []
        try eachName(in: folder) { names.append(FilePath(bytes: $0)) }
        return names
    }

    /// Each name in a folder as it is read, without `.` and `..`: there may be a million.
    package static func eachName(
        in folder: FilePath, _ body: (Slice<UnsafeRawBufferPointer>) throws -> Void
    ) throws {
        guard let stream = folder.withCString({ opendir($0) }) else {
            throw Failure(action: "read folder", path: folder.text, code: errno)
        }
        defer { closedir(stream) }
        errno = 0
        while let entry = readdir(stream) {
            try withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                let end = bytes.firstIndex(of: 0) ?? bytes.endIndex
                let name = bytes[..<end]
                if !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8) { try body(name) }
            }
            errno = 0
        }
        guard errno == 0 else { throw Failure(action: "read folder", path: folder.text, code: errno) }
    }
}
