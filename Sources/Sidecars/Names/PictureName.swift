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

    /// Of `x-edited.jpg` the name of the picture that was edited, `x.jpg`; of `x-edited(1).jpg` that is `x(1).jpg`.
    var original: FolderName? {
        let edited = (numbered?.base ?? stem).normalized
        for suffix in Self.editedSuffixes {
            guard edited.bytes.count > suffix.count, edited.bytes.suffix(suffix.count).elementsEqual(suffix) else {
                continue
            }
            let number = numbered.map { FolderName("(".utf8) + $0.number + FolderName(")".utf8) }
            return FolderName(edited.bytes.dropLast(suffix.count)) + (number ?? FolderName([])) + fileExtension
        }
        return nil
    }

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
            "dng", "cr2", "cr3", "crw", "nef", "nrw", "arw", "srf", "sr2", "orf", "raf", "rw2", "pef", "srw", "raw",
        ] { kinds["." + name] = .raw }
        for name in ["mov", "mp4", "m4v", "mp", "mv", "3gp", "avi", "mkv", "webm", "mts", "mpg", "mpeg", "wmv"] {
            kinds["." + name] = .video
        }
        return kinds
    }()
}
