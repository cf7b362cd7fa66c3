import CCurl

extension HTTPClientError {
    /// `CURLE_TOO_LARGE`, which headers of libcurl before 8.6 do not have.
    private static let tooLargeValue = CURLcode(rawValue: 100)

    /// What libcurl says of a transfer that no callback of ours has ended.
    init(_ code: CURLcode) {
        self =
            switch code {
            case CURLE_URL_MALFORMAT: .badURL(.badCharacter)
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .cannotResolve
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY: .cannotConnect
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS: .tls(.untrusted)
            case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE: .tls(.noAuthorities)
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED:
                .tls(.handshake)
            // Chunks that make no sense are among the first two: libcurl tells them no more apart than we need to.
            case CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_SEND_FAIL_REWIND:
                .interrupted
            // The scheme has been checked: the other protocol is HTTP/0.9, which has no headers.
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .badAnswer(.notHTTP)
            // A line without an end is too much for libcurl's own buffer, which is what the first one means here: where
            // there is no memory, Swift does not get so far.
            case CURLE_OUT_OF_MEMORY, Self.tooLargeValue: .badAnswer(.headersTooLarge)
            case CURLE_BAD_CONTENT_ENCODING: .badAnswer(.encoded)
            case CURLE_FILESIZE_EXCEEDED: .tooLarge
            default: .unexpected(Int32(bitPattern: code.rawValue))
            }
    }
}
