import CMicroHTTPD
import ServiceMesh

/// A key and the certificate chain that belongs to it: what a server shows to who connects by TLS.
public final class TLSIdentity: @unchecked Sendable {
    // Sendable because nothing of it changes once it is made: GnuTLS reads it, on any thread.
    private let made: UnsafeMutablePointer<cmicrohttpd_identity>

    /// - Parameters:
    ///   - key: PEM.
    ///   - certificate: PEM, with what leads to its root behind it.
    /// - Throws: `MeshError` with the status `failed_precondition`, which says which of the two is at fault.
    public init(key: String, certificate: String) throws {
        var fault: Int32 = 0
        guard let made = cmicrohttpd_make_identity(key, certificate, &fault) else {
            let reason =
                switch Int(fault) {
                case CMICROHTTPD_NO_KEY: "The key is none that can be read: give one without a passphrase, as PEM."
                case CMICROHTTPD_NO_CERTIFICATE: "The certificate is none that can be read: give it as PEM."
                default:
                    "The key is not the certificate's. Give the two that belong together, its own certificate first."
                }
            throw MeshError(.failedPrecondition, reason)
        }
        self.made = made
    }

    deinit { cmicrohttpd_drop_identity(made) }

    /// Hands it to a handshake. It has to be held for as long as that connection is there.
    func show(
        _ chain: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>, _ count: UnsafeMutablePointer<UInt32>,
        _ key: UnsafeMutablePointer<gnutls_privkey_t?>
    ) {
        chain.pointee = UnsafeMutableRawPointer(made)
            .advanced(by: MemoryLayout<cmicrohttpd_identity>.offset(of: \.chain) ?? 0)
            .assumingMemoryBound(to: gnutls_pcert_st.self)
        count.pointee = made.pointee.count
        key.pointee = made.pointee.key
    }
}
