import ControlSocket
import Files
import Foundation
import HomeAuthority
import ServiceMesh
import WebPage
import WebServer

/// What the program serves: made of its options before the cell, and served in it.
struct Page {
    private let options: WebOptions
    private let listener: WebListener?
    private let tls: TLSIdentity?
    private let accessLog: AccessLog?
    private let names: [String]
    private let files: [StaticFile]
    private let home: Home?

    /// - Throws: `MeshError`, `ControlError`: why it cannot be served.
    init(_ options: WebOptions, _ claim: WebRecord.Claim) throws {
        self.options = options
        if let certificate = options.certificate, let key = options.key {
            tls = try TLSIdentity(
                key: try Self.text(of: key, "key"), certificate: try Self.text(of: certificate, "certificate"))
        } else {
            tls = nil
        }
        accessLog = try options.accessLog.map { try AccessLog(path: $0) }
        names = options.allNames + (options.isHome ? [HomeNames.page] : [])
        files = PageFiles.all
        home = options.isHome ? try Home(options.listen, names: options.names, claim: claim) : nil
        // A home's page is also at this machine's own address, without TLS, which nobody else reaches: its browser needs no certificate, and
        // one that was paired there stays so.
        listener = options.isHome && options.listen != nil ? nil : try WebListener(options.listen ?? .standard)
        if let home {
            try home.write(own: listener.map { "http://\($0.address)" })
        } else if let address = listener?.address {
            let host = address.isAny ? "127.0.0.1" : address.host
            let shown = "\(tls == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(address.port)"
            try claim.write(WebRecord(pid: getpid(), address: shown, listens: address.description))
            log("serving \(options.socket) at \(shown), listening on \(address)")
        }
    }

    /// The servers, while they run.
    struct Serving {
        let page: WebServer?
        let home: Home?

        func stop() async {
            await home?.stop()
            await page?.stop()
        }
    }

    /// - Parameter connect: makes a connection to the daemon's door.
    func serve(_ connect: @escaping @Sendable () async throws -> any DaemonConnection) throws -> Serving {
        let whereabouts = home?.whereabouts ?? Whereabouts()
        let page = try listener.map { listener in
            if home == nil, !listener.address.isLoopback, !listener.address.isAny {
                whereabouts.change(to: .init(addresses: ["\(tls == nil ? "http" : "https")://\(listener.address)"]))
            }
            return try WebServer(
                on: [listener], tls: tls, names: names, files: files, accessLog: accessLog, whereabouts: whereabouts,
                connect: connect)
        }
        try home?.serve { listeners, port, tls in
            try WebServer(
                on: listeners, port: port, tls: tls, names: names, files: files, accessLog: accessLog,
                whereabouts: whereabouts, connect: connect)
        }
        return Serving(page: page, home: home)
    }

    /// A file of PEM.
    private static func text(of path: String, _ what: String) throws -> String {
        do {
            return try FileSystem.withFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) { descriptor in
                var room = [UInt8](repeating: 0, count: 1 << 20)
                let count = pread(descriptor, &room, room.count, 0)
                guard count >= 0 else { throw FileSystem.Failure(action: "read", path: path, code: errno) }
                return String(decoding: room.prefix(count), as: UTF8.self)
            }
        } catch let failure as FileSystem.Failure {
            throw MeshError(
                .failedPrecondition,
                "The \(what) \(path) cannot be read: \(String(cString: strerror(failure.code)).lowercased()). Name another "
                    + "file, or let this user read it.")
        }
    }
}
