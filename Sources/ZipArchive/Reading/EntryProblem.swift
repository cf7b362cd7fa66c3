/// Why one entry is refused while others of its archive may be taken.
public enum EntryProblem: Hashable, Sendable {
    // About the name: the bytes can be read, but a file must not get this name.

    case nameEmpty
    case nameNotUTF8
    case nameTooLong
    case nameHoldsNUL
    case nameHoldsControlCharacter
    case nameHoldsBackslash
    case nameAbsolute
    /// `C:` and the like.
    case nameHasDriveLetter
    /// A `..` component.
    case nameClimbs
    /// An empty or `.` component, so that two names could mean one file.
    case nameNotPlain
    /// Another entry has the same name, or the same after case folding and Unicode normalisation.
    case nameTaken(by: String)

    // About the kind of entry.

    case symbolicLink
    /// A device, pipe, socket or volume label.
    case specialFile
    /// A folder that declares contents.
    case folderWithContents
    case encrypted
    case methodUnsupported(UInt16)
    /// It asks for readers of this version of the format (46 is 4.6), which what it holds does not need.
    case versionUnsupported(UInt16)
    /// A bit of its flags changes what its bytes mean, in a way that no reader knows.
    case flagUnsupported(bit: Int)

    // About its bytes.

    /// Stored, and its two sizes differ.
    case sizesDisagree
    /// Deflated by more than the limit.
    case inflatesTooMuch(ratio: Int)
    /// No local header where the directory says.
    case localHeaderMissing
    /// The local header and the directory tell different things about this field.
    case localHeaderDisagrees(LocalField)
    /// In one of its headers, an extra field does not fit, or something is left behind the last; `id` tells which field.
    case extraFieldDamaged(id: UInt16?)
    /// In one of its headers, the extra field with this id replaces what the header says, for those who know it.
    case extraFieldUnsupported(id: UInt16)
    /// One of its headers promises sizes and checksum behind its bytes, and they are not there, or others, or the other
    /// header does not promise them.
    case dataDescriptorWrong
    /// Its bytes would reach past the place where the directory starts.
    case pastTheEnd
    /// Its compressed bytes cannot be inflated.
    case damaged
    /// Its content is whole, and its compressed data lacks its end or goes on behind it.
    case dataEndsElsewhere
    /// It gave more or fewer bytes than it declares.
    case lengthDiffers
    /// Its bytes do not have the declared CRC-32.
    case checksumDiffers
    /// It is whole, and not what the caller expected of it.
    case contentDiffers

    /// A field of which an entry has two copies.
    public enum LocalField: String, Hashable, Sendable {
        case name, method, flags, size, compressedSize, checksum
    }

    /// Whether only the name is refused: the bytes may still be read, under a name of the caller's own.
    public var concernsName: Bool {
        switch self {
        case .nameEmpty, .nameNotUTF8, .nameTooLong, .nameHoldsNUL, .nameHoldsControlCharacter, .nameHoldsBackslash,
            .nameAbsolute, .nameHasDriveLetter, .nameClimbs, .nameNotPlain, .nameTaken:
            true
        case .symbolicLink, .specialFile, .folderWithContents, .encrypted, .methodUnsupported, .versionUnsupported,
            .flagUnsupported, .sizesDisagree, .inflatesTooMuch, .localHeaderMissing, .localHeaderDisagrees,
            .extraFieldDamaged, .extraFieldUnsupported, .dataDescriptorWrong, .pastTheEnd, .damaged, .dataEndsElsewhere,
            .lengthDiffers,
            .checksumDiffers, .contentDiffers:
            false
        }
    }

    /// Whether the bytes may be read here all the same, and are what was packed: others refuse the entry.
    public var concernsOtherReaders: Bool {
        switch self {
        case .versionUnsupported, .dataDescriptorWrong, .dataEndsElsewhere: true
        default: false
        }
    }
}

extension EntryProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .nameEmpty: "its name is empty"
        case .nameNotUTF8: "its name is not valid UTF-8"
        case .nameTooLong: "its name is longer than \(EntryName.longest) bytes"
        case .nameHoldsNUL: "its name holds a NUL"
        case .nameHoldsControlCharacter: "its name holds a control character"
        case .nameHoldsBackslash: "its name holds a backslash"
        case .nameAbsolute: "its name is an absolute path"
        case .nameHasDriveLetter: "its name has a drive letter"
        case .nameClimbs: "its name climbs out of its folder"
        case .nameNotPlain: "its name has an empty or '.' component"
        case .nameTaken(let other): "its name is also that of '\(other)'"
        case .symbolicLink: "it is a symbolic link"
        case .specialFile: "it is a device, a pipe or the name of a disk, not a file"
        case .folderWithContents: "it is a folder with contents of its own"
        case .encrypted: "it is encrypted; unpack it with its password first"
        case .methodUnsupported(let method): "its compression (method \(method)) is not supported; pack it again"
        case .versionUnsupported(let version):
            "it asks for readers of version \(version / 10).\(version % 10) of the format; pack it again"
        case .flagUnsupported(let bit): "bit \(bit) of its flags means what no reader knows; pack it again"
        case .sizesDisagree: "its two sizes contradict each other"
        case .inflatesTooMuch(let ratio): "it would inflate by more than \(ratio) times"
        case .localHeaderMissing: "it is not where the directory says"
        case .localHeaderDisagrees(let field): "its own header and the directory disagree about its \(field.rawValue)"
        case .extraFieldDamaged(let id?): "an extra field in its header (0x\(String(id, radix: 16))) is damaged"
        case .extraFieldUnsupported(let id):
            "an extra field in its header (0x\(String(id, radix: 16))) may turn it into something else; pack it again"
        case .extraFieldDamaged(nil): "behind the extra fields in its header is something that is none"
        case .dataDescriptorWrong: "what stands behind its bytes (its data descriptor) does not fit its headers"
        case .pastTheEnd: "it reaches past the end of the archive"
        case .damaged: "its compressed data is damaged"
        case .dataEndsElsewhere: "its compressed data ends elsewhere than its size says"
        case .lengthDiffers: "it does not have the length that it declares"
        case .contentDiffers: "its content is not what was recorded of it"
        case .checksumDiffers: "its checksum does not match; the data is damaged"
        }
    }
}

extension EntryProblem {
    /// Whether the entry's bytes cannot be had, or are not to be trusted.
    var hindersReading: Bool { !concernsName && !concernsOtherReaders }

    init(_ damage: ExtraFields.Damage) {
        switch damage {
        case .field(let id): self = .extraFieldDamaged(id: id)
        case .remainder: self = .extraFieldDamaged(id: nil)
        case .replacing(let id): self = .extraFieldUnsupported(id: id)
        }
    }
}
