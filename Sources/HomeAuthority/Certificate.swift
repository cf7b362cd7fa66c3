import CGnuTLS
import Foundation
import ServiceMesh

/// A certificate in GnuTLS's own terms, while it is made or read. Used by one thread.
final class Certificate {
    let handle: gnutls_x509_crt_t

    /// An empty one, of the version that has extensions.
    init() throws(MeshError) {
        var made: gnutls_x509_crt_t?
        try TLSFault.check(gnutls_x509_crt_init(&made), "make a certificate")
        guard let made else { throw TLSFault.noMemory }
        handle = made
    }

    /// - Parameter pem: in which the first certificate counts.
    convenience init(pem: Data) throws(MeshError) {
        try self.init()
        let handle = handle
        try TLSFault.check(
            withDatum(pem) { gnutls_x509_crt_import(handle, &$0, GNUTLS_X509_FMT_PEM) }, "read a certificate")
    }

    deinit { gnutls_x509_crt_deinit(handle) }

    // MARK: What it says

    var begins: Int64 { Int64(gnutls_x509_crt_get_activation_time(handle)) }
    var ends: Int64 { Int64(gnutls_x509_crt_get_expiration_time(handle)) }

    /// SHA-256 of the whole certificate.
    func fingerprint() throws(MeshError) -> [UInt8] {
        var (bytes, count) = ([UInt8](repeating: 0, count: 32), 32)
        try TLSFault.check(
            gnutls_x509_crt_get_fingerprint(handle, GNUTLS_DIG_SHA256, &bytes, &count), "hash a certificate")
        return bytes
    }

    /// The identity of its public key.
    func keyID() throws(MeshError) -> [UInt8] {
        var (bytes, count) = ([UInt8](repeating: 0, count: 64), 64)
        try TLSFault.check(gnutls_x509_crt_get_key_id(handle, 0, &bytes, &count), "read a certificate's key")
        return Array(bytes.prefix(count))
    }

    func export(_ form: gnutls_x509_crt_fmt_t) throws(MeshError) -> Data {
        try exported { gnutls_x509_crt_export2(handle, form, &$0) }
    }

    // MARK: Making

    /// What every certificate here has: a number that nobody can foresee, its days, its name, its key.
    func describe(name: String, begins: Int64, ends: Int64, key: PrivateKey) throws(MeshError) {
        // Positive and of 127 bits: more than 20 bytes, or a sign, is refused by some.
        var serial = [UInt8](repeating: 0, count: 16)
        try TLSFault.check(gnutls_rnd(GNUTLS_RND_NONCE, &serial, serial.count), "draw a number")
        serial[0] = serial[0] & 0x7F | 0x40
        let id = try key.id()
        let name = Array(name.utf8)
        try step(gnutls_x509_crt_set_version(handle, 3))
        try step(gnutls_x509_crt_set_serial(handle, serial, serial.count))
        try step(gnutls_x509_crt_set_activation_time(handle, time_t(begins)))
        try step(gnutls_x509_crt_set_expiration_time(handle, time_t(ends)))
        try step(cgnutls_set_common_name(handle, name, UInt32(name.count)))
        try step(gnutls_x509_crt_set_key(handle, key.handle))
        try step(gnutls_x509_crt_set_subject_key_id(handle, id, id.count))
    }

    func step(_ status: Int32) throws(MeshError) { try TLSFault.check(status, "make a certificate") }
}

/// A private key in GnuTLS's own terms, which wipes it when it frees it. Used by one thread.
final class PrivateKey {
    let handle: gnutls_x509_privkey_t

    /// A new one, on the curve P-256: every phone and browser knows it, and its certificates are small. Rejected: Ed25519, which
    /// browsers do not take in certificates; RSA, whose keys take a second to make on a small machine.
    init() throws(MeshError) {
        handle = try Self.empty()
        try TLSFault.check(gnutls_x509_privkey_generate(handle, GNUTLS_PK_ECDSA, cgnutls_p256(), 0), "make a key")
    }

    /// - Parameter pem: in which the first key counts.
    init(pem: Data) throws(MeshError) {
        let handle = try Self.empty()
        self.handle = handle
        try TLSFault.check(
            withDatum(pem) { gnutls_x509_privkey_import(handle, &$0, GNUTLS_X509_FMT_PEM) }, "read a key")
    }

    private static func empty() throws(MeshError) -> gnutls_x509_privkey_t {
        var made: gnutls_x509_privkey_t?
        try TLSFault.check(gnutls_x509_privkey_init(&made), "make a key")
        guard let made else { throw TLSFault.noMemory }
        return made
    }

    deinit { gnutls_x509_privkey_deinit(handle) }

    /// The identity of its public key.
    func id() throws(MeshError) -> [UInt8] {
        var (bytes, count) = ([UInt8](repeating: 0, count: 64), 64)
        try TLSFault.check(gnutls_x509_privkey_get_key_id(handle, 0, &bytes, &count), "read a key")
        return Array(bytes.prefix(count))
    }

    func export() throws(MeshError) -> Data {
        try exported {
            gnutls_x509_privkey_export2_pkcs8(
                handle, GNUTLS_X509_FMT_PEM, nil, UInt32(GNUTLS_PKCS_PLAIN.rawValue), &$0)
        }
    }
}

/// What GnuTLS did not do.
enum TLSFault {
    static func check(_ status: Int32, _ what: String) throws(MeshError) {
        guard status < 0 else { return }
        throw MeshError(.internal, "GnuTLS could not \(what): \(String(cString: gnutls_strerror(status)))")
    }

    static let noMemory = MeshError(
        .resourceExhausted, "There is no memory for a certificate. Free some and try again.")
}

private func withDatum(_ data: Data, _ body: (inout gnutls_datum_t) -> Int32) -> Int32 {
    var bytes = [UInt8](data)
    return bytes.withUnsafeMutableBufferPointer { bytes in
        var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count))
        return body(&datum)
    }
}

private func exported(_ body: (inout gnutls_datum_t) -> Int32) throws(MeshError) -> Data {
    var datum = gnutls_datum_t()
    try TLSFault.check(body(&datum), "write a certificate or key")
    defer { cgnutls_free(&datum) }
    return Data(bytes: datum.data, count: Int(datum.size))
}
