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
    guard descriptors.count == 3 else { throw .unsupported("no attempt") }
    let (photo, thumbnail) = (descriptors[1], descriptors[2])
    var made = MadePhoto(
        width: 8, height: 8, sourceMediaType: "image/jpeg", sourceWidth: 8, sourceHeight: 8, keepsSource: false,
        thumbnailWidth: 8, thumbnailHeight: 8)
    func write(_ bytes: [UInt8], _ file: Int32) {
        _ = pwrite(file, bytes, bytes.count, 0)
        _ = ftruncate(file, off_t(bytes.count))
    }
    write(source, photo)
    write(source, thumbnail)
    switch lie {
    case "nothing": break
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

/// Keeps a way to write to a file that is not a descriptor.
private func keepWriting(_ file: Int32) {
    _ = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
}
