/// What an upload's file is called: the name that a client gives, made harmless.
///
/// It says what the photo is called and when it may have been taken, and which sidecars belong to it, so as much of it is kept as
/// can be: it is one part of a path, which is seen as it is, and no name that systems hide.
enum UploadName {
    /// Bytes; 255 is what file systems take.
    static let maximumBytes = 200

    /// Nil for a text that has no name in it.
    static func harmless(_ text: String) -> String? {
        guard text.utf8.count <= 4096 else { return nil }
        return parts(ofPath: text).last.flatMap { part($0, maximumBytes) }
    }

    /// The same of a folder's path, of which the last eight parts count.
    static func harmless(folder text: String) -> String? {
        guard text.utf8.count <= 4096 else { return nil }
        let parts = parts(ofPath: text).suffix(8).compactMap { part($0, maximumBytes / 2) }
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }

    /// A browser on Windows may tell its own kind of path. By scalars, here and below: to the file system a slash is one, also
    /// with an accent upon it.
    private static func parts(ofPath text: String) -> [Substring.UnicodeScalarView] {
        text.unicodeScalars.split { $0 == "/" || $0 == "\\" }
    }

    private static func part(_ text: Substring.UnicodeScalarView, _ bytes: Int) -> String? {
        let shown = text.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: "_"
            default: scalar
            }
        }
        var name = shown[...]
        while let first = name.first, first == "." || first == " " { name.removeFirst() }
        while let last = name.last, last == "." || last == " " { name.removeLast() }
        return name.isEmpty ? nil : shortened(String(String.UnicodeScalarView(name)), to: bytes)
    }

    /// Another name for a second file of the same: the number stands before the ending.
    static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 1 else { return name }
        let (stem, ending) = parts(name)
        return "\(stem) (\(number))\(ending)"
    }

    private static func shortened(_ name: String, to bytes: Int) -> String {
        var (stem, ending) = parts(name)
        if ending.utf8.count > bytes / 2 { (stem, ending) = (name, "") }
        while stem.utf8.count + ending.utf8.count > bytes { stem.unicodeScalars.removeLast() }
        return stem + ending
    }

    private static func parts(_ name: String) -> (stem: String, ending: String) {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }
}
