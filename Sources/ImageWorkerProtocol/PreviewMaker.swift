/// Which maker a preview is from: the last chunk of its file says so, and so that the file is whole.
///
/// A preview is a WebP in the extended form, because that may end in chunks that readers pass over. Nobody waits until a preview is
/// durable: it can be made again. What a power cut leaves of one is a beginning, or as many zeros; either has no such end.
public enum PreviewMaker {
    /// Raised when the same photo comes out visibly better.
    public static let version = 1
    /// Bytes at the file's end in which its version stands.
    public static let tailBytes = 32

    private static let words = "SmilePile preview "
    private static let chunk = Array("SMIL".utf8)

    /// The last chunk of this version: ``tailBytes``.
    /// - Parameter turned: degrees by which the photo is shown turned.
    package static func tail(turned: Int = 0) -> [UInt8] {
        let text = Array((words + MadePicture(version: version, turned: turned).text).utf8)
        let room = tailBytes - 8
        return chunk + [UInt8(room), 0, 0, 0] + text + [UInt8](repeating: 0x20, count: room - text.count)
    }

    /// The version of a preview that ends so; nil for what is no whole preview.
    public static func version(ofPreview tail: [UInt8]) -> Int? { made(ofPreview: tail)?.version }

    /// What a preview that ends so says of itself; nil for what is no whole preview.
    public static func made(ofPreview tail: [UInt8]) -> MadePicture? {
        guard tail.count == tailBytes, tail[..<8] == (chunk + [UInt8(tailBytes - 8), 0, 0, 0])[...] else { return nil }
        let text = String(decoding: tail[8...], as: UTF8.self)
        guard text.hasPrefix(words) else { return nil }
        return MadePicture(text.dropFirst(words.count)).flatMap { $0.version > 0 ? $0 : nil }
    }
}
