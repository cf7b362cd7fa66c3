import Glibc
import ImageWorkerProtocol

extension PictureFilm {
    /// The first film that stands in a picture's file: an MP4 whole from its first box to its last one, behind a JPEG's own data
    /// (Google, Samsung) or in a box of a HEIC's (`mpvd`).
    ///
    /// By the film itself. Rejected: what XMP says of it, which is three forms of an offset that editors leave behind when they write the
    /// picture anew, and which Samsung does not write.
    init?(in bytes: ByteView) {
        var position = 12
        // A few, or each of a file of nothing but these four letters would be walked through.
        for _ in 0..<Self.mostCandidates {
            guard let found = Self.find(in: bytes, from: position) else { return nil }
            position = found + 1
            let start = found - 4
            guard Self.brands.contains(bytes.text(at: start + 8, count: 4)) else { continue }
            guard let length = Self.length(of: bytes.part(from: start)) else { continue }
            self.init(offset: Int64(start), length: Int64(length))
            return
        }
        return nil
    }

    private static let mostCandidates = 64
    private static let brands: Set = [
        "mp42", "mp41", "isom", "iso2", "iso4", "iso5", "iso6", "avc1", "3gp4", "3gp5", "qt  ",
    ]
    private static let boxes: Set = [
        "ftyp", "moov", "mdat", "free", "skip", "wide", "uuid", "meta", "udta", "moof", "mfra", "sidx",
    ]

    /// Where the name of a film's first box stands.
    private static func find(in bytes: ByteView, from position: Int) -> Int? {
        var rest = bytes.part(from: position)
        while let base = rest.base, rest.count > 4, let found = memchr(base, Int32(UInt8(ascii: "f")), rest.count - 3) {
            let place = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            if rest.bigEndian32(at: place) == name { return bytes.count - rest.count + place }
            rest = rest.part(from: place + 1)
        }
        return nil
    }

    /// `ftyp`
    private static let name: UInt32 = 0x6674_7970

    /// Of the boxes from its beginning on that films have; nil where there is no table or nothing to see.
    private static func length(of bytes: ByteView) -> Int? {
        var end = 0
        var seen: Set<String> = []
        while end + 8 <= bytes.count {
            let type = bytes.text(at: end + 4, count: 4)
            guard boxes.contains(type) else { break }
            var size = UInt64(bytes.bigEndian32(at: end))
            if size == 1 {
                size = UInt64(bytes.bigEndian32(at: end + 8)) << 32 | UInt64(bytes.bigEndian32(at: end + 12))
            }
            guard size >= 8, size <= UInt64(bytes.count - end) else { break }
            seen.insert(type)
            end += Int(size)
        }
        return seen.isSuperset(of: ["moov", "mdat"]) ? end : nil
    }
}
