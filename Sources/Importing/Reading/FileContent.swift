import Files
import Foundation
import ImageWorkerProtocol
import LibraryModel

/// What kind of file it is that no decoder of ours takes, by its first bytes, and where those say nothing, by its name.
///
/// libmagic was rejected: its tables come to megabytes, and it would run in the daemon on whatever bytes there are. These
/// few comparisons decide nothing but under which word a file is counted, or that it deserves a line.
enum FileContent {
    /// A picture, of a kind that is not taken.
    case picture
    /// What a film begins like; one of sound alone may too.
    case film
    case passedOver(PassedOver)

    /// - Parameters:
    ///   - head: the first bytes of the file, ``length`` if it has them.
    ///   - name: of the file.
    init(head: [UInt8], name: String) {
        self = Self(signed: head, name: name) ?? Self.said(name) ?? .passedOver(.other)
    }

    /// Nil where the first bytes say nothing.
    init?(signed head: [UInt8], name: String) {
        guard let found = Self.kind(of: head) else { return nil }
        // Documents of today's offices are archives, and only their names say so.
        if case .passedOver(.archive) = found, case .passedOver(.document) = Self.said(name) {
            self = .passedOver(.document)
        } else {
            self = found
        }
    }

    private static func said(_ name: String) -> FileContent? {
        name.lastIndex(of: ".").flatMap { extensions[name[name.index(after: $0)...].lowercased()] }
    }

    /// Whether a file is called as pictures are.
    static func isNamedPicture(_ name: String) -> Bool {
        if case .picture = said(name) { true } else { false }
    }

    /// How many bytes are looked at: a tar names itself behind the first 257.
    static let length = max(264, FilmSignature.length)

    private static func kind(of head: [UInt8]) -> FileContent? {
        if head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) {
            let brand = String(decoding: head[8..<12], as: UTF8.self)
            if pictureBrands.contains(brand) { return .picture }
            return soundBrands.contains { brand.hasPrefix($0) } ? .passedOver(.audio) : .film
        }
        if head.starts(with: "RIFF".utf8), head.count >= 12 {
            switch String(decoding: head[8..<12], as: UTF8.self) {
            case "AVI ": return .film
            case "WAVE": return .passedOver(.audio)
            case "WEBP": return .picture
            default: return nil
            }
        }
        if head.count >= 262, head[257..<262].elementsEqual("ustar".utf8) { return .passedOver(.archive) }
        return signatures.first { head.starts(with: $0.bytes) }?.kind ?? FilmSignature(of: head).map { _ in .film }
    }

    private static let pictureBrands: Set = ["heic", "heix", "heim", "heis", "mif1", "msf1", "avif", "avis", "crx "]

    private static let soundBrands = ["M4A", "M4B", "M4P", "F4A"]

    private static let signatures: [(bytes: [UInt8], kind: FileContent)] = {
        var found: [(bytes: [UInt8], kind: FileContent)] = []
        func add(_ kind: FileContent, _ texts: [String], _ bytes: [[UInt8]] = []) {
            found += (texts.map { Array($0.utf8) } + bytes).map { (bytes: $0, kind: kind) }
        }
        add(
            .picture,
            [
                "GIF8", "8BPS", "FUJIFILM", "IIU\0", "IIRO", "IIRS", "MMOR", "\0MRM", "II*\0", "MM\0*", "gimp xcf",
                "qoif", "DDS ",
            ],
            [
                [0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E, 0x47], [0xFF, 0x0A], [0x76, 0x2F, 0x31, 0x01],
                [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20], [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20],
                [0xFF, 0x4F, 0xFF, 0x51],
            ])
        add(.passedOver(.video), ["FLV"])
        add(.passedOver(.audio), ["ID3", "fLaC", "OggS"], [[0xFF, 0xFB], [0xFF, 0xF1]])
        add(
            .passedOver(.archive), ["BZh", "Rar!", "PK\u{3}\u{4}", "PK\u{5}\u{6}"],
            [
                [0x1F, 0x8B], [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], [0x28, 0xB5, 0x2F, 0xFD],
                [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C],
            ])
        add(.passedOver(.document), ["%PDF", "{\\rtf"], [[0xD0, 0xCF, 0x11, 0xE0]])
        return found
    }()

    private static let extensions: [String: FileContent] = {
        let lists: [(String, FileContent)] = [
            (
                // Not `raw`: sound and images of disks are called so too. The first bytes tell those that cameras write.
                "jpg jpeg jpe jfif png webp gif bmp dib tif tiff heic heif hif avif dng cr2 cr3 crw nef nrw arw sr2 srf orf rw2 rwl raf pef srw mrw 3fr fff erf mef mos iiq kdc dcr gpr x3f jxl jp2 j2k j2c jpc jpf jpx psd svg ico tga pcx exr hdr pnm ppm pgm pbm xcf qoi",
                .picture
            ),
            ("mp4 m4v mov avi mkv webm wmv mpg mpeg mts m2ts 3gp 3g2 flv vob ogv", .passedOver(.video)),
            ("mp3 m4a aac wav flac ogg opus wma amr mid", .passedOver(.audio)),
            (
                "txt md pdf doc docx xls xlsx ppt pptx odt ods odp rtf csv tsv html htm xml json yaml epub pages numbers key log ics vcf eml",
                .passedOver(.document)
            ),
            ("zip rar 7z tar gz tgz bz2 xz zst iso dmg", .passedOver(.archive)),
            ("xmp aae thm lrv", .passedOver(.sidecar)),
        ]
        return Dictionary(
            lists.flatMap { names, kind in names.split(separator: " ").map { (String($0), kind) } },
            uniquingKeysWith: { first, _ in first })
    }()
}

extension NamedFiles {
    /// What a file is that was refused as no picture. Blocks.
    func content(of path: FilePath) throws -> FileContent { FileContent(head: try head(of: path), name: path.name) }

    /// What a file says that it is by its first bytes; nil where these say nothing. Blocks.
    func signedContent(of path: FilePath) throws -> FileContent? {
        FileContent(signed: try head(of: path), name: path.name)
    }

    private func head(of path: FilePath) throws -> [UInt8] {
        try withFile(path) { try FileContent.head(of: $0) }
    }
}

extension FileContent {
    /// The first bytes of an open file. Blocks.
    static func head(of descriptor: Int32) throws -> [UInt8] {
        var head = [UInt8](repeating: 0, count: length)
        let count = try head.withUnsafeMutableBytes { try OpenFile(descriptor).read(into: $0, at: 0) }
        return Array(head.prefix(count))
    }

    /// Whether an open file begins as films do. Blocks.
    static func isFilm(_ descriptor: Int32) throws -> Bool {
        if case .film = kind(of: try head(of: descriptor)) { true } else { false }
    }
}
