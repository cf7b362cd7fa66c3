import CCrypto
import Glibc
import ImageWorkerProtocol

/// A descriptor that takes one whole file.
struct Output {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Writes all bytes at the file's beginning and cuts what was behind them.
    func write(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var offset = 0
        while offset < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            let written = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset))
            if written < 0 {
                if errno == EINTR { continue }
                throw Self.failure(errno)
            }
            offset += written
        }
        guard ftruncate(descriptor, off_t(bytes.count)) == 0 else { throw Self.failure(errno) }
    }

    func write(_ bytes: [UInt8]) throws(ImagingError) {
        // Not in a closure: the compiler infers what one throws wrongly.
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { room.deallocate() }
        room.copyBytes(from: bytes)
        try write(UnsafeRawBufferPointer(room))
    }

    private static func failure(_ code: Int32) -> ImagingError {
        switch code {
        case ENOSPC, EDQUOT: .diskFull
        case EFBIG: .fileTooLarge
        default: .io("writing an output: " + describe(code))
        }
    }
}

enum Digest {
    /// SHA-256 in lower-case hexadecimal.
    static func sha256(_ bytes: UnsafeRawBufferPointer) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        EVP_Digest(bytes.baseAddress, bytes.count, &digest, &length, EVP_sha256(), nil)
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
