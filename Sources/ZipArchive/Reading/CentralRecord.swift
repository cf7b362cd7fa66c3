import Foundation

/// One file header of the central directory (APPNOTE 4.3.12).
struct CentralRecord {
    static let fixedSize = 46

    let entry: ZipEntry
    /// Of the record, in bytes.
    let size: Int
    private let kind: EntryKind
    private let version: UInt16
    private let extraDamage: ExtraFields.Damage?
    private let isAES: Bool
    private let nameIsBroken: Bool

    init(_ bytes: [UInt8], at start: Int, index: Int, prefix: Int64) throws(ZipError) {
        let damaged = ZipError.unusableArchive(.directoryDamaged(index: index))
        let view = RecordView(bytes[start...])
        guard view.u32(0) == 0x0201_4B50, let madeBy = view.u16(4), let version = view.u16(6), let flags = view.u16(8),
            let method = view.u16(10), let time = view.u16(12),
            let date = view.u16(14), let crc32 = view.u32(16), let compressed32 = view.u32(20),
            let size32 = view.u32(24), let nameLength = view.u16(28), let extraLength = view.u16(30),
            let commentLength = view.u16(32), let disk16 = view.u16(34), let attributes = view.u32(38),
            let offset32 = view.u32(42),
            let rawName = view.slice(Self.fixedSize, Int(nameLength)),
            let rawExtra = view.slice(Self.fixedSize + Int(nameLength), Int(extraLength)),
            view.slice(Self.fixedSize + Int(nameLength) + Int(extraLength), Int(commentLength)) != nil
        else {
            // The first record missing altogether means that the end record points at something else.
            throw index == 0 && view.u32(0) != 0x0201_4B50 ? .unusableArchive(.directoryMisplaced) : damaged
        }
        let extra = ExtraFields(rawExtra)
        var wide = Zip64Values(extra.zip64)
        let uncompressed = wide.value(size32)
        let compressed = wide.value(compressed32)
        let offset = wide.value(offset32)
        let disk = wide.disk(disk16)
        guard !wide.isShort || extra.damage != nil, !extra.isAmbiguous else { throw damaged }
        guard disk == 0 else { throw .unusableArchive(.severalDisks) }
        // What passes 2^63 - 1 becomes that: no file reaches so far, and the entry is refused for it.
        let (headerOffset, overflow) = Int64(clamping: offset).addingReportingOverflow(prefix)

        let name = NameText(rawName, isUTF8: flags & EntryFlags.utf8Name != 0, unicodePath: extra.unicodePath)
        let kind = EntryKind(attributes: attributes, madeBy: madeBy)
        self.kind = kind
        self.version = version
        isAES = extra.isAES
        extraDamage = extra.damage
        nameIsBroken = name.isBroken
        size = Self.fixedSize + Int(nameLength) + Int(extraLength) + Int(commentLength)
        entry = ZipEntry(
            index: index, name: name.text,
            isFolder: name.text.utf8.last == UInt8(ascii: "/") || kind == .folder,
            method: method, size: Int64(clamping: uncompressed), compressedSize: Int64(clamping: compressed),
            crc32: crc32,
            modified: Self.modified(extra.timestamp, date: date, time: time), flags: flags,
            headerOffset: overflow ? .max : headerOffset,
            rawName: rawName.elementsEqual(name.text.utf8) ? nil : Array(rawName))
    }

    /// What the directory should have of the entry with this header, of which it says nothing.
    init(_ header: LocalHeader) {
        let name = header.name
        (kind, version, isAES, extraDamage) = (.file, header.version, header.extra.isAES, header.extra.damage)
        (nameIsBroken, size) = (name.isBroken, 0)
        entry = ZipEntry(
            index: 0, name: name.text, isFolder: name.text.utf8.last == UInt8(ascii: "/"), method: header.method,
            size: Int64(clamping: header.size), compressedSize: Int64(clamping: header.compressedSize),
            crc32: header.crc32,
            modified: Self.modified(header.extra.timestamp, date: header.date, time: header.time), flags: header.flags,
            headerOffset: header.start, rawName: nil)
    }

    /// What this record alone shows to be wrong with its entry.
    func problems(_ limits: ZipLimits) -> [EntryProblem] {
        var problems: [EntryProblem] = []
        if nameIsBroken {
            problems.append(.nameNotUTF8)
        } else if let problem = EntryName.problem(in: entry.name) {
            problems.append(problem)
        }
        switch kind {
        case .file, .folder: break
        case .link: problems.append(.symbolicLink)
        case .other: problems.append(.specialFile)
        }
        if let extraDamage { problems.append(EntryProblem(extraDamage)) }
        if entry.isFolder && entry.size > 0 { problems.append(.folderWithContents) }
        if entry.flags & EntryFlags.anyEncryption != 0 || isAES || entry.method == 99 {
            problems.append(.encrypted)
        } else if !ZipMethod.supported.contains(entry.method) {
            problems.append(.methodUnsupported(entry.method))
        } else if !ZipMethod.mayNeed(version) {
            problems.append(.versionUnsupported(version & 0xFF))
        } else if entry.flags & EntryFlags.patch != 0 {
            problems.append(.flagUnsupported(bit: 5))
        } else if entry.method == ZipMethod.stored {
            if entry.compressedSize != entry.size { problems.append(.sizesDisagree) }
        } else if limits.growsTooMuch(entry.compressedSize, to: entry.size, free: limits.ratioFreeBytes) {
            problems.append(.inflatesTooMuch(ratio: limits.maximumRatio))
        }
        return problems
    }

    private static func modified(_ timestamp: RecordView?, date: UInt16, time: UInt16) -> Int64? {
        if let flags = timestamp?.number(0, as: UInt8.self), flags & 1 != 0, let seconds = timestamp?.u32(1) {
            return Int64(Int32(bitPattern: seconds)) * 1000
        }
        var fields = tm()
        fields.tm_year = Int32(date >> 9) + 80
        fields.tm_mon = Int32(date >> 5 & 15) - 1
        fields.tm_mday = Int32(date & 31)
        fields.tm_hour = Int32(time >> 11)
        fields.tm_min = Int32(time >> 5 & 63)
        fields.tm_sec = Int32(time & 31) * 2
        guard 0...11 ~= fields.tm_mon, 1...31 ~= fields.tm_mday, fields.tm_hour < 24, fields.tm_min < 60,
            fields.tm_sec < 60
        else { return nil }
        return Int64(timegm(&fields)) * 1000
    }
}

/// The compression methods that are read.
///
/// Stored is copied; deflate and bzip2 are inflated by libarchive in memory that does not depend on the data (about
/// 0.3 and 4 MB). LZMA, xz, zstd and PPMd are refused, though libarchive knows them: the data itself decides how
/// much memory they take, up to 4 GiB. Deflate64 and the methods of the 1980s have no reader.
enum ZipMethod {
    static let stored: UInt16 = 0
    static let supported: Set<UInt16> = [0, 8, 12]
    /// What bzip2 needs, 4.6, is the most of them; ZIP64 needs 4.5.
    private static let highestVersion: UInt16 = 46

    /// Whether an entry may ask for readers of this version. Readers go by it before they look at anything else of the
    /// entry, and each has its own limit: one that asks for more than it needs is read by some and refused by others.
    /// - Parameter version: as in a header; its upper byte names a system, which is nobody's concern.
    static func mayNeed(_ version: UInt16) -> Bool { version & 0xFF <= highestVersion }
}

/// What becomes of an entry where it is unpacked, in the eyes of any reader: a link is a link, and a folder a folder,
/// if one of them would make that of it.
enum EntryKind {
    case file, folder, link, other

    /// - Parameter madeBy: the upper byte names the system whose attributes the upper half of `attributes` has. The
    ///   lowest byte has those of DOS whatever the system; only where that is a Unix nobody goes by them.
    init(attributes: UInt32, madeBy: UInt16) {
        let mode = attributes >> 16
        let system = madeBy >> 8
        let isUnix = system == 3 || system == 19
        switch mode & 0o170000 {
        case 0, 0o100000:
            // Of the Amiga's own bits one is read as well: 04000 is its folder.
            let isFolder = !isUnix && attributes & 0x10 != 0 || system == 1 && mode & 0o006000 == 0o004000
            self = !isUnix && attributes & 0x08 != 0 ? .other : isFolder ? .folder : .file
        case 0o040000: self = .folder
        case 0o120000: self = .link
        default: self = .other
        }
    }
}

/// The wide forms of fields whose 32 bits are all ones, taken in their fixed order (APPNOTE 4.5.3).
struct Zip64Values {
    private let field: RecordView?
    private var offset = 0
    /// A value was wanted that the field does not hold.
    private(set) var isShort = false

    init(_ field: RecordView?) { self.field = field }

    /// Without the field, all ones are just a number: 4 GiB - 1.
    mutating func value(_ short: UInt32) -> UInt64 {
        guard short == .max, let field else { return UInt64(short) }
        guard let wide = field.u64(offset) else {
            isShort = true
            return 0
        }
        offset += 8
        return wide
    }

    mutating func disk(_ short: UInt16) -> UInt32 {
        guard short == .max, let field else { return UInt32(short) }
        guard let wide = field.u32(offset) else {
            isShort = true
            return 0
        }
        offset += 4
        return wide
    }
}
