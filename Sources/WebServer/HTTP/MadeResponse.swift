import CMicroHTTPD
import Foundation

/// A whole response in libmicrohttpd's own terms, made once and sent as often as it is asked for, over many connections at
/// the same time.
final class MadeResponse: @unchecked Sendable {
    // Sendable because nothing of it changes once it is made: libmicrohttpd reads it, and counts behind a lock of its own
    // who still does.
    let pointer: OpaquePointer
    /// Bytes of its body.
    let size: Int
    /// Bytes of memory that it takes, roughly.
    var cost: Int { size + 2048 }

    /// - Returns: nil where there is no memory for it.
    init?(headers: [Header], _ bytes: Data) {
        let made = bytes.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let made else { return nil }
        for header in headers { _ = MHD_add_response_header(made, header.name, header.value) }
        pointer = made
        size = bytes.count
    }

    deinit { cmicrohttpd_drop(pointer) }
}
