import CCrypto
import CLinux
import Glibc
import ImageWorkerProtocol

/// Reads a file from its beginning to its end, hashes it, and writes what it reads to another file.
///
/// In one pass: the digest is of the bytes that were written, whoever changes the source meanwhile.
enum FileCopy {
    private static let step = 256 << 10

    /// - Parameters:
    ///   - target: overwritten from its beginning and cut; nil where only the digest is wanted.
    /// - Returns: bytes, and their SHA-256 in lower-case hexadecimal.
    /// - Throws: ``ImagingError/diskFull``, ``ImagingError/io(_:)``.
    static func copy(_ source: Int32, to target: Int32?) throws(ImagingError) -> (size: Int64, digest: String) {
        guard let context = EVP_MD_CTX_new() else { throw .io("no memory for a digest") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { throw .io("SHA-256 is not to be had") }
        guard let buffer = malloc(step) else { throw .io("no memory for a copy") }
        defer { free(buffer) }
        var position = 0
        while true {
            let count = pread(source, buffer, step, off_t(position))
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .io("reading it again: " + String(cString: strerror(errno)))
            }
            EVP_DigestUpdate(context, buffer, count)
            if let target {
                try write(UnsafeRawBufferPointer(start: buffer, count: count), to: target, at: position)
            }
            position += count
        }
        if let target, ftruncate(target, off_t(position)) != 0 { throw failure(errno) }
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw .io("SHA-256 has failed") }
        let digits = Array("0123456789abcdef".utf8)
        let text = String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        return (Int64(position), text)
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, to target: Int32, at start: Int
    ) throws(ImagingError) {
        var offset = 0
        while offset < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            let written = pwrite(target, rest.baseAddress, rest.count, off_t(start + offset))
            if written < 0 {
                if errno == EINTR { continue }
                throw failure(errno)
            }
            offset += written
        }
    }

    private static func failure(_ code: Int32) -> ImagingError {
        switch code {
        case ENOSPC, EDQUOT: .diskFull
        case EFBIG: .fileTooLarge
        // The caller's mistake, not the worker's.
        case EBADF: .io("a descriptor that is not open")
        default: .io("writing an output: " + String(cString: strerror(code)))
        }
    }
}
