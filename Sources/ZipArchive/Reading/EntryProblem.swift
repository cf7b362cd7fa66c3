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
    /// A device, pipe or socket.
    case specialFile
    /// A folder that declares contents.
    case folderWithContents
    case encrypted
    case methodUnsupported(UInt16)

    // About its bytes.

    /// Stored, and its two sizes differ.
    case sizesDisagree
    /// Deflated by more than the limit.
    case inflatesTooMuch(ratio: Int)
    /// No local header where the directory says.
    case localHeaderMissing
    /// The local header and the directory tell different things about this field.
    case localHeaderDisagrees(LocalField)
    /// Its bytes would reach past the place where the directory starts.
    case pastTheEnd
    /// Its compressed bytes cannot be inflated.
    case damaged
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
        case .symbolicLink, .specialFile, .folderWithContents, .encrypted, .methodUnsupported, .sizesDisagree,
            .inflatesTooMuch, .localHeaderMissing, .localHeaderDisagrees, .pastTheEnd, .damaged, .lengthDiffers,
            .checksumDiffers, .contentDiffers:
            false
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
        case .specialFile: "it is a device or a pipe, not a file"
        case .folderWithContents: "it is a folder with contents of its own"
        case .encrypted: "it is encrypted; unpack it with its password first"
        case .methodUnsupported(let method): "its compression (method \(method)) is not supported; pack it again"
        case .sizesDisagree: "its two sizes contradict each other"
        case .inflatesTooMuch(let ratio): "it would inflate by more than \(ratio) times"
        case .localHeaderMissing: "it is not where the directory says"
        case .localHeaderDisagrees(let field): "its own header and the directory disagree about its \(field.rawValue)"
        case .pastTheEnd: "it reaches past the end of the archive"
        case .damaged: "its compressed data is damaged"
        case .lengthDiffers: "it does not have the length that it declares"
        case .contentDiffers: "its content is not what was recorded of it"
        case .checksumDiffers: "its checksum does not match; the data is damaged"
        }
    }
}
