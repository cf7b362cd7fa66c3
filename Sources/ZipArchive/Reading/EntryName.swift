import TextFolding

/// What a name in an archive may be, for the writer and the reader alike, and how its bytes become text.
enum EntryName {
    /// In bytes. A path of Linux ends at 4,096, a component at 255; nothing that we restore comes near.
    static let longest = 1024

    /// The first thing that is wrong with `name` as a relative path, or nil.
    ///
    /// A folder's name ends in one slash; that slash is no empty component.
    static func problem(in name: String) -> EntryProblem? {
        if isPlain(name) { return nil }
        if name.isEmpty { return .nameEmpty }
        if name.utf8.count > longest { return .nameTooLong }
        for scalar in name.unicodeScalars {
            if scalar == "\0" { return .nameHoldsNUL }
            if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) { return .nameHoldsControlCharacter }
        }
        if name.utf8.contains(UInt8(ascii: "\\")) { return .nameHoldsBackslash }
        if name.utf8.first == UInt8(ascii: "/") { return .nameAbsolute }
        let start = Array(name.utf8.prefix(2))
        if start.count == 2, start[1] == UInt8(ascii: ":"), UInt8(ascii: "a")...UInt8(ascii: "z") ~= start[0] | 0x20 {
            return .nameHasDriveLetter
        }
        var components = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if components.last?.isEmpty == true { components.removeLast() }
        for component in components {
            if component.elementsEqual("..".utf8) { return .nameClimbs }
            if component.isEmpty || component.elementsEqual(".".utf8) { return .nameNotPlain }
        }
        return nil
    }

    /// Whether a name has nothing in it that a problem could be made of, as nearly all have: the walk over its bytes makes nothing.
    private static func isPlain(_ name: String) -> Bool {
        let slash = UInt8(ascii: "/")
        var (count, previous) = (0, slash)
        for byte in name.utf8 {
            // A colon or a dot at a place where it may mean something, an empty component: the slower way says of what kind it is.
            guard (0x20...0x7E).contains(byte), byte != UInt8(ascii: "\\"),
                previous != slash || (byte != slash && byte != UInt8(ascii: ".")),
                count != 1 || byte != UInt8(ascii: ":")
            else { return false }
            (count, previous) = (count + 1, byte)
        }
        return (1...longest).contains(count)
    }

    /// Equal for two names that a file system might take for one: case folded, Unicode normalised, a
    /// folder's slash left off.
    static func foldedKey(_ name: String) -> String {
        let folded = name.caseFolded
        return folded.utf8.last == UInt8(ascii: "/") ? String(folded.dropLast()) : folded
    }
}
