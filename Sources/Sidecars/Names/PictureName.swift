/// The name of a file that may have sidecars, taken apart.
struct PictureName {
    /// By the extension, and only to choose between files that have all but that in common: what a file is, its content
    /// says.
    enum Kind {
        case picture, raw, video, other
    }

    let name: FolderName
    let stem: FolderName
    let fileExtension: FolderName
    /// Of `x(1).jpg` the digits in brackets, and `x`.
    let numbered: (base: FolderName, number: FolderName)?
    let kind: Kind
    /// It is not in the folder, but a file is there that was edited from it.
    let isAbsent: Bool

    init(_ name: FolderName, isAbsent: Bool = false) {
        self.name = name
        (stem, fileExtension) = name.parts
        numbered = stem.numbered
        kind = Self.kinds[String(decoding: fileExtension.bytes, as: UTF8.self).lowercased()] ?? .other
        self.isAbsent = isAbsent
    }

    /// The name that it had before it was numbered.
    var title: FolderName { numbered.map { $0.base + fileExtension } ?? name }

    /// Of `x-edited.jpg` the name of the picture that was edited, `x.jpg`; of `x-edited(1).jpg` that is `x(1).jpg`. Google
    /// cuts a name after it has appended this, so of a long name that ends in `-edi` it is the same.
    var original: FolderName? {
        let edited = (numbered?.base ?? stem).normalized
        guard let tail = Self.tail(of: edited) else { return nil }
        let number = numbered.map { FolderName("(".utf8) + $0.number + FolderName(")".utf8) }
        return FolderName(edited.bytes.dropLast(tail)) + (number ?? FolderName([])) + fileExtension
    }

    /// How many bytes at the end of it say that it was edited.
    private static func tail(of stem: FolderName) -> Int? {
        func ending(_ count: Int) -> [UInt8] { FolderName(stem.bytes.suffix(count)).lowercased.bytes }
        for suffix in editedSuffixes where stem.bytes.count > suffix.count && ending(suffix.count) == suffix {
            return suffix.count
        }
        // Each of them has one hyphen, the first sign.
        guard let hyphen = stem.bytes.lastIndex(of: UInt8(ascii: "-")), hyphen > 0,
            cutStems.contains(stem.utf16Units)
        else { return nil }
        let count = stem.bytes.count - hyphen
        let rest = ending(count)
        return editedSuffixes.contains { $0.count > count && $0.starts(with: rest) } ? count : nil
    }

    /// How long a stem is, in UTF-16 units, that Google may have cut. It is 47 with `.jpg`, and with other extensions it
    /// is near that.
    private static let cutStems = TakeoutName.units...51

    /// What Google Photos appends to the name of what was edited in it, in the language of the account; in normal form
    /// C. English, German, French and Italian are confirmed by immich-go, the others reported by users of such
    /// programs.
    private static let editedSuffixes: [[UInt8]] = [
        "-edited", "-bearbeitet", "-modifié", "-modificato", "-editado", "-ha editado", "-editat", "-bewerkt",
        "-edytowane", "-redigeret", "-redigert", "-redigerad", "-muokattu", "-upravené", "-отредактировано",
        "-відредаговано", "-编辑", "-編集済み", "-편집됨",
    ].map { Array($0.utf8) }

    private static let kinds: [String: Kind] = {
        var kinds: [String: Kind] = [:]
        for name in ["jpg", "jpeg", "jpe", "png", "webp", "gif", "bmp", "tif", "tiff", "heic", "heif", "avif"] {
            kinds["." + name] = .picture
        }
        for name in [
            "dng", "cr2", "cr3", "crw", "nef", "nrw", "arw", "srf", "sr2", "orf", "raf", "rw2", "rwl", "raw", "pef",
            "srw", "mrw", "3fr", "fff", "erf", "mef", "mos", "iiq", "kdc", "dcr", "gpr", "x3f",
        ] { kinds["." + name] = .raw }
        for name in ["mov", "mp4", "m4v", "mp", "mv", "3gp", "avi", "mkv", "webm", "mts", "mpg", "mpeg", "wmv"] {
            kinds["." + name] = .video
        }
        return kinds
    }()
}
