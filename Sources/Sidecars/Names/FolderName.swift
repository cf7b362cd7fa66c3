import Foundation

/// The name of a file as bytes. `String` was rejected for comparing: it takes the two ways of writing é for one, and a
/// folder may hold both.
struct FolderName: Hashable {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// In Unicode's normal form C, which macOS undoes and others leave alone.
    var normalized: FolderName {
        guard !bytes.allSatisfy({ $0 < 0x80 }) else { return self }
        return FolderName(String(decoding: bytes, as: UTF8.self).precomposedStringWithCanonicalMapping.utf8)
    }

    /// In normal form C and in lower case, as file systems compare that ignore case. Letters that only longer spellings
    /// equal, as ß and SS, stay apart.
    var lowercased: FolderName {
        guard !bytes.allSatisfy({ $0 < 0x80 }) else { return FolderName(bytes.map(Self.lowercased)) }
        let form = String(decoding: bytes, as: UTF8.self).precomposedStringWithCanonicalMapping
        return FolderName(form.lowercased().precomposedStringWithCanonicalMapping.utf8)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    static func + (left: FolderName, right: FolderName) -> FolderName { FolderName(left.bytes + right.bytes) }

    /// At the last dot; a name that begins with its only dot has no extension, which else begins with the dot.
    var parts: (stem: FolderName, fileExtension: FolderName) {
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return (self, FolderName([])) }
        return (FolderName(bytes[..<dot]), FolderName(bytes[dot...]))
    }

    /// Without `ending`, which is in lower case and may be in either here; nil where it does not end so, or is nothing
    /// else.
    func dropping(_ ending: String) -> FolderName? {
        let ending = Array(ending.utf8)
        let tail = bytes.suffix(ending.count).map(Self.lowercased)
        guard bytes.count > ending.count, tail == ending else { return nil }
        return FolderName(bytes.dropLast(ending.count))
    }

    /// `x(1)` in two: what stands before the brackets, and the digits in them. Nil for other names, and for `x(01)`.
    var numbered: (base: FolderName, number: FolderName)? {
        guard bytes.last == UInt8(ascii: ")"), let open = bytes.lastIndex(of: UInt8(ascii: "(")), open > 0 else {
            return nil
        }
        let digits = bytes[(open + 1)...].dropLast()
        guard (1...5).contains(digits.count), digits.allSatisfy(DigitText.isDigit), digits.first != 0x30 else {
            return nil
        }
        return (FolderName(bytes[..<open]), FolderName(digits))
    }

    /// What Google counts.
    var utf16Units: Int { String(decoding: bytes, as: UTF8.self).utf16.count }

    /// The beginning of it that has at most `units` UTF-16 code units, which is what Google counts; nil where that is
    /// all.
    func cut(toUTF16 units: Int) -> FolderName? {
        var count = 0
        var at = 0
        while at < bytes.count {
            let length = bytes[at] < 0x80 ? 1 : bytes[at] < 0xE0 ? 2 : bytes[at] < 0xF0 ? 3 : 4
            count += length == 4 ? 2 : 1
            guard count <= units else { return FolderName(bytes[..<at]) }
            at += length
        }
        return nil
    }

    /// With every sign of ASCII but the dot as `_`, which is what Google writes for what a file's name cannot hold.
    var folded: FolderName {
        FolderName(
            normalized.bytes.map { byte in
                byte < 0x80 && !DigitText.isLetter(byte) && !DigitText.isDigit(byte) && byte != UInt8(ascii: ".")
                    ? UInt8(ascii: "_") : byte
            })
    }
}
