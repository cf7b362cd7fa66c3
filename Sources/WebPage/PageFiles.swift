import CCrypto
import CWebPage
import CZlib
import WebServer

/// The files of the page: they are in the program, and nothing is read from a disk.
public enum PageFiles {
    /// All files of the page. Made at the first use: compressing them takes a few milliseconds for each 100 kB.
    public static let all: [StaticFile] = {
        var count = 0
        guard let first = cwebpage_files(&count) else { return [] }
        return UnsafeBufferPointer(start: first, count: count).map(file)
    }()

    private static func file(_ file: cwebpage_file) -> StaticFile {
        let folder = "../WebPage/Resources"
        let source = String(cString: file.source)
        precondition(source.hasPrefix(folder + "/"), "files.c names \(source), which is not one of the page's")
        let path = String(source.dropFirst(folder.count))
        let type = MediaType.of(path)
        let bytes = UnsafeRawBufferPointer(start: file.bytes, count: file.size)
        return StaticFile(
            path: path == "/index.html" ? "/" : path, mediaType: type, digest: digest(bytes),
            bytes: PermanentBytes(bytes), compressed: MediaType.isCompressible(type) ? gzip(bytes) : nil)
    }

    /// The first 128 bits of the SHA-256, in 32 hexadecimal digits.
    private static func digest(_ bytes: UnsafeRawBufferPointer) -> String {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        precondition(
            EVP_Digest(bytes.baseAddress, bytes.count, &digest, &length, EVP_sha256(), nil) == 1 && length == 32,
            "libcrypto has no SHA-256")
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Nil where it would not be smaller.
    private static func gzip(_ bytes: UnsafeRawBufferPointer) -> PermanentBytes? {
        var stream = z_stream()
        // 15 bits of window, and 16 for a gzip header around it; the most memory and time, because it is done once.
        let status = deflateInit2_(
            &stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "zlib cannot start: \(status)")
        defer { deflateEnd(&stream) }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        let base = bytes.bindMemory(to: UInt8.self).baseAddress
        stream.next_in = UnsafeMutablePointer(mutating: base)
        stream.avail_in = UInt32(bytes.count)
        stream.next_out = room.bindMemory(to: UInt8.self).baseAddress
        stream.avail_out = UInt32(room.count)
        guard deflate(&stream, Z_FINISH) == Z_STREAM_END else {
            room.deallocate()
            return nil
        }
        return PermanentBytes(UnsafeRawBufferPointer(rebasing: room[..<Int(stream.total_out)]))
    }
}

/// What a file of the page is, by the end of its name.
enum MediaType {
    private static let byExtension = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "json": "application/json", "webmanifest": "application/manifest+json", "svg": "image/svg+xml",
        "png": "image/png", "ico": "image/vnd.microsoft.icon", "webp": "image/webp", "woff2": "font/woff2",
        "txt": "text/plain; charset=utf-8",
    ]

    static func of(_ path: String) -> String {
        path.split(separator: ".").last.flatMap { byExtension[String($0)] } ?? "application/octet-stream"
    }

    static func isCompressible(_ type: String) -> Bool {
        type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("+xml")
    }
}
