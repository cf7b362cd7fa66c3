import CSystemd
import ControlSocket
import Executors
import Foundation
import ServiceMesh
import Synchronization
import WebPage
import WebServer

// The web program: a page for browsers, in front of a daemon's socket. Wiring only.

StandardError.prepare()

func log(_ text: String) {
    let prefix = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil ? "<6>" : "\(Timestamp.now()) "
    StandardError.write(prefix + text + "\n")
}

do {
    let options = WebOptions.parse()
    // The first thing of all: it gets nothing of what comes after.
    let connector = try Connector(socket: options.socket)
    // Everything that is a file, while files can still be opened. The order is that of what fails first.
    let claim = try WebRecord.Claim(socket: options.socket)
    var tls: TLSIdentity?
    if let certificate = options.certificate, let key = options.key {
        tls = TLSIdentity(
            key: try String(contentsOfFile: key, encoding: .utf8),
            certificate: try String(contentsOfFile: certificate, encoding: .utf8))
    }
    let accessLog = try options.accessLog.map { try AccessLog(path: $0) }
    let names = options.allNames
    let listener = try WebListener(options.listen)
    let host = listener.address.isAny ? "127.0.0.1" : listener.address.host
    let shown = host.contains(":") ? "[\(host)]" : host
    let address = "\(tls == nil ? "http" : "https")://\(shown):\(listener.address.port)"
    try claim.write(WebRecord(pid: getpid(), address: address, listens: listener.address.description))
    let files = PageFiles.all

    // While it can still be said. Connections wait at the listener until they are taken.
    sd_notify(0, "READY=1")
    let missing = ServerCell.enter()
    if !missing.isEmpty { log("not protected by \(missing.joined(separator: "; "))") }

    let (stops, stop) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let isStopping = Atomic(false)
    let signals = try CaughtSignals([SIGTERM, SIGINT]) { _ in
        if isStopping.exchange(true, ordering: .relaxed) { _exit(1) }
        stop.finish()
    }
    let door = Door(connector) {
        log("what connects to the daemon is gone, so nothing can be shown any more; start this program again")
        _exit(1)
    }
    let server = try WebServer(on: listener, tls: tls, names: names, files: files, accessLog: accessLog) {
        try await door.connect()
    }
    log("serving \(options.socket) at \(address), listening on \(server.address)")

    for await _ in stops {}

    await server.stop()
    withExtendedLifetime((claim, signals)) {}
    log("stopped")
} catch {
    log(MeshError(describing: error).message)
    exit(1)
}
