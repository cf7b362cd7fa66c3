import Glibc
import ImageWorkerProtocol

// What a worker does that a photo has taken over: it answers as one that has converted its source, and has not. Its source is a
// JPEG of 8 x 8 pixels whose comment says which lie it is.

/// Which lie a source asks for; nil where it asks for none. Its comment is the first segment.
func lie(in source: [UInt8]) -> String? {
    guard source.count > 6, source[..<4] == [0xFF, 0xD8, 0xFF, 0xFE] else { return nil }
    let length = Int(source[4]) << 8 | Int(source[5])
    guard length > 2, source.count >= 4 + length else { return nil }
    let words = String(decoding: source[6..<(4 + length)], as: UTF8.self)
    return words.hasPrefix("lie: ") ? String(words.dropFirst(5)) : nil
}

/// Set by a lie for whoever comes next in this process.
nonisolated(unsafe) private var isTakenOver = false  // One thread: a worker has no other.

/// Tells the lie.
func tell(_ lie: String, _ descriptors: [Int32], _ source: [UInt8]) throws(ImagingError) -> WorkerReply.Outcome {
    guard descriptors.count == 4 else { throw .unsupported("no attempt") }
    let (photo, thumbnail, preview) = (descriptors[1], descriptors[2], descriptors[3])
    var made = MadePhoto(
        width: 8, height: 8, sourceMediaType: "image/jpeg", sourceWidth: 8, sourceHeight: 8, keepsSource: false,
        thumbnailWidth: 8, thumbnailHeight: 8)
    func write(_ bytes: [UInt8], _ file: Int32) {
        _ = pwrite(file, bytes, bytes.count, 0)
        _ = ftruncate(file, off_t(bytes.count))
    }
    write(source, photo)
    write(source, thumbnail)
    func makeLarge(_ preview: [UInt8]) {
        (made.width, made.height, made.sourceWidth, made.sourceHeight) = (2048, 2048, 2048, 2048)
        write(enlarged(source), photo)
        write(preview, descriptors[3])
    }
    switch lie {
    case "nothing": break
    case "nothing, large": makeLarge(previewFile())
    case "no preview": makeLarge([])
    case "a page for a preview": makeLarge(Array("<script>alert(document.cookie)</script>".utf8))
    case "a preview with more behind it": makeLarge(previewFile() + Array("<script>".utf8))
    case "a preview that is cut": makeLarge(previewFile().dropLast(2))
    case "a preview with another picture in it": makeLarge(previewFile(frameSide: 16_383))
    case "a larger preview": makeLarge(previewFile(side: 1_025))
    case "a preview with more chunks": makeLarge(previewFile(flags: 0x0C))
    case "a preview that is longer than it says": makeLarge(previewFile(pictureBytes: 40))
    case "change the preview later":
        makeLarge(previewFile())
        keepWriting(preview)
    case "nothing, kept": made.keepsSource = true
    case "change the photo later": keepWriting(photo)
    case "change the thumbnail later": keepWriting(thumbnail)
    case "a page for a photo": write(Array("<script>alert(document.cookie)</script>".utf8), photo)
    case "a page for a thumbnail": write(Array("<script>alert(document.cookie)</script>".utf8), thumbnail)
    case "a photo that is cut": write(source.dropLast(2), photo)
    case "an empty photo": write([], photo)
    case "a thumbnail of 300 MiB":
        let part = [UInt8](repeating: 0, count: 1 << 20)
        for index in 0..<300 { _ = pwrite(thumbnail, part, part.count, off_t(index << 20)) }
        // As many as it took, and a beginning and an end that are right.
        _ = pwrite(thumbnail, source, source.count, 0)
        _ = pwrite(thumbnail, [0xFF, 0xD9], 2, lseek(thumbnail, 0, SEEK_END) - 2)
        if lseek(thumbnail, 0, SEEK_END) <= off_t(1 << 20) { throw .damaged("its room ended") }
    case "a larger photo": (made.width, made.height, made.sourceWidth, made.sourceHeight) = (2048, 2048, 2048, 2048)
    case "a larger thumbnail": made.thumbnailWidth = 300
    case "a larger source, kept":
        made.keepsSource = true
        (made.width, made.height, made.sourceWidth, made.sourceHeight) = (2048, 2048, 2048, 2048)
    case "another type": made.sourceMediaType = "image/heic"
    case "another digest": made.freshDigest = String(repeating: "a", count: 64)
    case "write to the source":
        made.keepsSource = true
        guard pwrite(descriptors[0], [0], 1, 0) < 0 else { throw .io("the source was written to") }
    case "take over": isTakenOver = true
    case "was one before": throw .damaged(isTakenOver ? "there was" : "there was none")
    case "hang": while true { _ = lseek(-1, 0, SEEK_SET) }
    default: throw .unsupported("no such lie")
    }
    return .converted(made)
}

/// The source as if it had 2048 x 2048 pixels: its frame says so.
private func enlarged(_ source: [UInt8]) -> [UInt8] {
    var large = source
    guard let frame = source.indices.dropLast(9).first(where: { source[$0] == 0xFF && source[$0 + 1] == 0xC0 }) else {
        return source
    }
    large.replaceSubrange(frame + 5..<frame + 9, with: [8, 0, 8, 0])
    return large
}

/// What a preview is to whoever decodes nothing.
private func previewFile(
    side: Int = 1_024, frameSide: Int = 1_024, flags: UInt8 = 0, pictureBytes: Int = 30
) -> [UInt8] {
    func number(_ value: Int, bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 0xFF) } }
    let frame = [0x10, 0, 0, 0x9D, 0x01, 0x2A] + number(frameSide, bytes: 2) + number(frameSide, bytes: 2)
    let picture = Array("VP8 ".utf8) + number(pictureBytes, bytes: 4) + frame + [UInt8](repeating: 0, count: 20)
    let size = number(side - 1, bytes: 3) + number(side - 1, bytes: 3)
    let content = Array("WEBPVP8X".utf8) + [10, 0, 0, 0, flags, 0, 0, 0] + size + picture + PreviewMaker.tail()
    return Array("RIFF".utf8) + number(content.count, bytes: 4) + content
}

/// Keeps a way to write to a file that is not a descriptor.
private func keepWriting(_ file: Int32) {
    _ = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
}
