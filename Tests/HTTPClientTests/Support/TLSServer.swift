import Foundation
import HTTPClient
import TestSupport

/// OpenSSL's own server with a certificate that vouches for itself. It answers with a page about the connection.
final class TLSServer: Sendable {
    let url: HTTPURL
    /// As PEM.
    let certificate: String
    private let folder: TemporaryFolder
    private let server: Process

    /// - Parameter name: whom the certificate is for, as OpenSSL writes it.
    init(name: String = "IP:127.0.0.1", options: [String] = []) throws {
        folder = try TemporaryFolder("tls")
        certificate = folder.file("certificate.pem")
        let key = folder.file("key.pem")
        let making = Self.openSSL([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=hub", "-addext", "subjectAltName=\(name)", "-keyout", key, "-out", certificate,
        ])
        try making.run()
        making.waitUntilExit()
        guard making.terminationStatus == 0 else { throw ScriptedServer.Failure(reason: "no certificate") }
        server = Self.openSSL(
            ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-www"] + options)
        let output = Pipe()
        server.standardOutput = output
        try server.run()
        // "ACCEPT 127.0.0.1:40123", once it listens.
        var said = ""
        while !said.contains("ACCEPT ") || !said.hasSuffix("\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw ScriptedServer.Failure(reason: "no server: \(said)") }
            said += String(decoding: more, as: UTF8.self)
        }
        let port = said.components(separatedBy: "ACCEPT ")[1].prefix { $0 != "\n" }.split(separator: ":").last ?? ""
        url = try HTTPURL("https://127.0.0.1:\(port)/")
    }

    deinit {
        // Not SIGTERM: a child of a thread that Dispatch has made has it blocked.
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
    }

    private static func openSSL(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        return process
    }
}
