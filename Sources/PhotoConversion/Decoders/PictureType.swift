import ImageWorkerProtocol

/// The types that are imported, told by content alone: an extension is a rumour.
enum PictureType: String, CaseIterable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case webp = "image/webp"
    case gif = "image/gif"
    case bmp = "image/bmp"
    case tiff = "image/tiff"
    case heic = "image/heic"
    case avif = "image/avif"
    case jpegXL = "image/jxl"
    /// A codestream alone too.
    case jpeg2000 = "image/jp2"
    // Cameras' raw files, as shared-mime-info calls them.
    case dng = "image/x-adobe-dng"
    case cr2 = "image/x-canon-cr2"
    case cr3 = "image/x-canon-cr3"
    case nef = "image/x-nikon-nef"
    case arw = "image/x-sony-arw"
    case raf = "image/x-fuji-raf"
    case orf = "image/x-olympus-orf"
    case rw2 = "image/x-panasonic-rw2"
    case pef = "image/x-pentax-pef"
    case srw = "image/x-samsung-srw"
    case otherRaw = "image/x-dcraw"

    var mediaType: String { rawValue }

    /// The type that `bytes` begin as.
    init(content bytes: ByteView) throws(ImagingError) {
        func has(_ text: StaticString, at offset: Int = 0) -> Bool {
            guard bytes.count >= offset + text.utf8CodeUnitCount else { return false }
            for index in 0..<text.utf8CodeUnitCount where bytes[offset + index] != text.utf8Start[index] {
                return false
            }
            return true
        }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if let raw = RawSignature.type(bytes) {
            self = raw
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if has("GIF87a") || has("GIF89a") {
            self = .gif
        } else if has("RIFF"), has("WEBP", at: 8) {
            self = .webp
        } else if has("ftyp", at: 4) {
            self = try Self.ofBrands(bytes)
        } else if bytes.starts(with: [0x49, 0x49, 0x2A, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 0x2A])
            || bytes.starts(with: [0x49, 0x49, 0x2B, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 0x2B])
        {
            self = .tiff
        } else if bytes.starts(with: [0xFF, 0x0A]) || bytes.starts(with: JXLPicture.container) {
            self = .jpegXL
        } else if bytes.starts(with: J2KPicture.codestream) || bytes.starts(with: J2KPicture.container) {
            self = .jpeg2000
        } else if has("BM"), bytes.count >= 26, bytes.littleEndian32(at: 14) >= 12, bytes.littleEndian32(at: 14) <= 1024
        {
            self = .bmp
        } else {
            throw .unsupported("its content is no picture type that is known")
        }
    }

    /// ISO base media files say what they are in their brands: the major one first, then the compatible ones.
    private static func ofBrands(_ bytes: ByteView) throws(ImagingError) -> PictureType {
        let end = min(bytes.count, Int(clamping: bytes.bigEndian32(at: 0)), 512)
        var offset = 8
        while offset + 4 <= end {
            // The minor version stands between the major brand and the compatible ones.
            if offset != 12 {
                switch bytes.text(at: offset, count: 4) {
                case "avif", "avis": return .avif
                case "heic", "heix", "heim", "heis", "hevc", "hevx": return .heic
                default: break
                }
            }
            offset += 4
        }
        switch bytes.text(at: 8, count: 4) {
        case "mif1", "msf1": return .heic
        case let brand: throw .unsupported("an ISO media file of brand \(brand.debugDescription)")
        }
    }
}
