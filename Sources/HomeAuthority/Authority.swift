import CGnuTLS
import Foundation
import ServiceMesh

/// A certificate authority of one home: made here, kept here, and able to speak for nothing outside of a home.
package struct Authority: Sendable, Equatable {
    /// Seconds.
    private static let day: Int64 = 86_400
    /// How long a new one counts.
    package static let days: Int64 = 3_652
    /// How long a server's certificate counts, with the day before it is made: as long as browsers take one.
    package static let serverDays: Int64 = 397
    /// Server's certificates are made anew when fewer days are left.
    package static let renewalDays: Int64 = 30

    /// PEM. Never leaves the process that keeps it, but into its file.
    let key: Data
    /// DER: what devices install.
    package let certificate: Data
    /// SHA-256 of the certificate.
    package let fingerprint: [UInt8]
    /// What devices show it as.
    package let name: String
    /// Seconds since 1970.
    package let begins, ends: Int64

    /// As people compare it: `AB:CD:…`.
    package var shownFingerprint: String {
        fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    // MARK: Making one

    /// - Parameters:
    ///   - names: of this machine. Those that are not safe are left out (``HomeNames/isSafe(_:)``).
    ///   - now: seconds since 1970.
    /// - Throws: `MeshError`.
    package static func make(names: [String], now: Int64) throws -> Authority {
        let key = try PrivateKey()
        let certificate = try Certificate()
        // Two of one home look alike in a phone's list, and a browser that finds an issuer by its name would take either.
        let mark = try key.id().prefix(2).map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
        let machine = names.first { $0.hasSuffix(".local") && $0 != HomeNames.page }?.dropLast(6).prefix(40)
        let name = "SmilePile" + (machine.map { " \($0)" } ?? "") + " " + mark
        try certificate.describe(name: name, begins: now - day, ends: now + days * day, key: key)
        try certificate.step(gnutls_x509_crt_set_basic_constraints(certificate.handle, 1, 0))
        try certificate.step(
            gnutls_x509_crt_set_key_usage(
                certificate.handle, UInt32(GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN)))
        try constrain(certificate, to: names)
        try certificate.step(
            gnutls_x509_crt_sign2(certificate.handle, certificate.handle, key.handle, GNUTLS_DIG_SHA256, 0))
        return try Authority(key: try key.export(), certificate: certificate)
    }

    private static func constrain(_ certificate: Certificate, to names: [String]) throws {
        var made: gnutls_x509_name_constraints_t?
        try certificate.step(gnutls_x509_name_constraints_init(&made))
        guard let constraints = made else { throw TLSFault.noMemory }
        defer { gnutls_x509_name_constraints_deinit(constraints) }
        func permit(_ kind: gnutls_x509_subject_alt_name_t, _ bytes: [UInt8]) throws {
            var bytes = bytes
            try certificate.step(
                bytes.withUnsafeMutableBufferPointer { bytes in
                    var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count))
                    return gnutls_x509_name_constraints_add_permitted(constraints, kind, &datum)
                })
        }
        for range in PrivateAddress.ranges { try permit(GNUTLS_SAN_IPADDRESS, range.base + range.mask) }
        // Without a dot before it, as RFC 5280 has it: the name itself and all below it.
        let dotless = Set(names.filter { HomeNames.isSafe($0) && !$0.hasSuffix(".local") } + ["local", "localhost"])
        for name in dotless.sorted() { try permit(GNUTLS_SAN_DNSNAME, Array(name.utf8)) }
        try certificate.step(gnutls_x509_crt_set_name_constraints(certificate.handle, constraints, 1))
    }

    // MARK: Its file's text

    private init(key: Data, certificate: Certificate) throws {
        self.key = key
        self.certificate = try certificate.export(GNUTLS_X509_FMT_DER)
        fingerprint = try certificate.fingerprint()
        (begins, ends) = (certificate.begins, certificate.ends)
        var (room, count) = ([UInt8](repeating: 0, count: 256), 256)
        try certificate.step(cgnutls_get_common_name(certificate.handle, &room, &count))
        name = String(decoding: room.prefix(count), as: UTF8.self)
    }

    /// Reads what ``pem()`` wrote.
    /// - Throws: `MeshError` where it is anything else.
    init(pem: Data) throws {
        let key = try PrivateKey(pem: pem)
        let certificate = try Certificate(pem: pem)
        guard try key.id() == certificate.keyID(), gnutls_x509_crt_get_ca_status(certificate.handle, nil) > 0 else {
            throw MeshError(.invalidArgument, "The key and the certificate do not belong together.")
        }
        try self.init(key: try key.export(), certificate: certificate)
    }

    func pem() throws -> Data { try key + certificatePEM() }

    package func certificatePEM() throws -> Data {
        let lines = certificate.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Data("-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n".utf8)
    }

    // MARK: What it speaks for

    /// Whether its certificate lets it speak for a name. The machine may have got another one since.
    package func permits(_ name: String) throws -> Bool { try permits(GNUTLS_SAN_DNSNAME, Array(name.utf8)) }

    private func permits(_ kind: gnutls_x509_subject_alt_name_t, _ bytes: [UInt8]) throws -> Bool {
        let own = try Certificate(pem: try certificatePEM())
        var made: gnutls_x509_name_constraints_t?
        try own.step(gnutls_x509_name_constraints_init(&made))
        guard let constraints = made else { throw TLSFault.noMemory }
        defer { gnutls_x509_name_constraints_deinit(constraints) }
        try own.step(gnutls_x509_crt_get_name_constraints(own.handle, constraints, 0, nil))
        var bytes = bytes
        return bytes.withUnsafeMutableBufferPointer { bytes in
            var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count))
            return gnutls_x509_name_constraints_check(constraints, kind, &datum) != 0
        }
    }

    /// A certificate for this machine's server, with a key of its own.
    ///
    /// It begins a day ago, because clocks of phones differ, and never before the authority does: a machine whose clock stands
    /// at 1970 until it has been set has a certificate that counts all the same.
    /// - Parameters:
    ///   - names: those that the authority may not speak for are left out.
    ///   - now: seconds since 1970.
    /// - Throws: `MeshError`.
    package func serverCertificate(
        addresses: [PrivateAddress], names: [String], now: Int64
    ) throws -> ServerCertificate {
        let key = try PrivateKey()
        let server = try Certificate()
        let begins = min(max(now - Self.day, self.begins), ends - Self.day)
        // The last second counts too.
        let end = min(begins + Self.serverDays * Self.day - 1, ends)
        try server.describe(name: "SmilePile", begins: begins, ends: end, key: key)
        try server.step(gnutls_x509_crt_set_basic_constraints(server.handle, 0, -1))
        try server.step(gnutls_x509_crt_set_key_usage(server.handle, UInt32(GNUTLS_KEY_DIGITAL_SIGNATURE)))
        try server.step(cgnutls_set_server_purpose(server.handle))
        func speak(_ kind: gnutls_x509_subject_alt_name_t, for bytes: [UInt8]) throws {
            try server.step(
                gnutls_x509_crt_set_subject_alt_name(
                    server.handle, kind, bytes, UInt32(bytes.count), UInt32(GNUTLS_FSAN_APPEND)))
        }
        for name in try names.filter(permits) { try speak(GNUTLS_SAN_DNSNAME, for: Array(name.utf8)) }
        for address in addresses { try speak(GNUTLS_SAN_IPADDRESS, for: address.bytes) }
        let issuer = try Certificate(pem: try certificatePEM())
        let issuerKey = try PrivateKey(pem: self.key)
        let id = try issuerKey.id()
        try server.step(gnutls_x509_crt_set_authority_key_id(server.handle, id, id.count))
        try server.step(
            gnutls_x509_crt_sign2(server.handle, issuer.handle, issuerKey.handle, GNUTLS_DIG_SHA256, 0))
        return ServerCertificate(
            key: String(decoding: try key.export(), as: UTF8.self),
            certificate: String(decoding: try server.export(GNUTLS_X509_FMT_PEM), as: UTF8.self),
            begins: begins, ends: end, authority: fingerprint, addresses: addresses, names: names)
    }
}

/// What a home's server shows to who connects.
package struct ServerCertificate: Sendable, Equatable {
    /// PEM.
    package let key, certificate: String
    /// Seconds since 1970.
    package let begins, ends: Int64
    /// The fingerprint of who signed it.
    let authority: [UInt8]
    /// What it was asked for.
    let addresses: [PrivateAddress]
    let names: [String]

    /// Whether it can go on being shown.
    func isGood(authority: Authority, addresses: [PrivateAddress], names: [String], now: Int64) -> Bool {
        self.authority == authority.fingerprint && Set(self.addresses) == Set(addresses) && self.names == names
            // Of a clock that stands before the authority's time nothing can be said.
            && max(now, authority.begins) >= begins
            // None outlives its authority, so the last one is shown to its end.
            && (ends - now > Authority.renewalDays * 86_400 || ends == authority.ends && ends > now)
    }
}
