import CSystemd
import ControlSocket
import Executors
import Foundation
import HomeAuthority
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

// The same program as the keeper of a home's authority, which the one that serves the page has started.
if CommandLine.arguments.dropFirst().first == HomeKeeper.word { ServerCell.detach() }
let isKeeper = HomeKeeper.run(asked: CommandLine.arguments) { address, port in
    guard let place = ListeningAddress(host: address.text, port: port) else { throw MeshError(.internal, "no address") }
    return try WebListener(place).socket
}
if isKeeper { exit(0) }

do {
    let options = try WebOptions.parse()
    // The first thing of all: it gets nothing of what comes after.
    let connector = try Connector(socket: options.socket)
    // Everything that is a file, while files can still be opened. The order is that of what fails first.
    let claim = try WebRecord.Claim(socket: options.socket)
    let page = try Page(options, claim)

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
    let serving = try page.serve { try await door.connect() }

    for await _ in stops {}

    await serving.stop()
    withExtendedLifetime((claim, signals)) {}
    log("stopped")
} catch {
    log(MeshError(describing: error).message)
    exit(1)
}
