/// Which maker a thumbnail is from: a comment in the file says so.
///
/// In the file and not in the catalogue: a thumbnail is replaced by one rename, with no row that could say otherwise
/// meanwhile, and a folder of thumbnails that was put back from somewhere says itself what it is. Rejected: a column for
/// each photo, which is a migration and a commit for each thumbnail; a number for the library, which is true of no file
/// until all are made again.
public enum ThumbnailMaker {
    /// Raised when the same photo comes out visibly better.
    public static let version = 1
    /// Bytes from the file's beginning in which its version stands.
    public static let headBytes = 64

    private static let words = "SmilePile thumbnail "

    /// The comment of this version.
    /// - Parameter turned: degrees by which the photo is shown turned.
    package static func comment(turned: Int = 0) -> [UInt8] {
        Array((words + MadePicture(version: version, turned: turned).text).utf8)
    }

    /// The version of a thumbnail that begins so: 0 where it does not say, nil for what is no JPEG.
    public static func version(ofThumbnail head: [UInt8]) -> Int? { made(ofThumbnail: head)?.version }

    /// What a thumbnail that begins so says of itself; nil for what is no JPEG.
    public static func made(ofThumbnail head: [UInt8]) -> MadePicture? {
        let silent = MadePicture(version: 0, turned: 0)
        guard head.count >= 4, head[0] == 0xFF, head[1] == 0xD8, head[2] == 0xFF else { return nil }
        var start = 2
        while start + 4 <= head.count, head[start] == 0xFF {
            let end = start + 2 + Int(head[start + 2]) << 8 + Int(head[start + 3])
            guard end >= start + 4 else { return silent }
            switch head[start + 1] {
            case 0xE0...0xEF: start = end
            case 0xFE where end <= head.count:
                let text = String(decoding: head[(start + 4)..<end], as: UTF8.self)
                return text.hasPrefix(words) ? MadePicture(text.dropFirst(words.count)) ?? silent : silent
            default: return silent
            }
        }
        return silent
    }
}
