import ControlSocket
import Executors
import Foundation
import SmilePile

// The daemon: opens a library and serves its mesh on a socket until it is told to stop. Wiring only.

StandardError.prepare()
let log = DaemonLog()
do {
    // First of all: until here a signal to stop ends a process that has done nothing, from here on none is lost.
    let signals = try DaemonSignals()
    let spoken = DaemonOptions.parse()
    let options = try spoken.options()
    log.keep(options.logLevel)
    if options.resetsPIN {
        do {
            let wasSet = try await PhotoLibrary.resetPIN(at: options.library)
            print(wasSet ? "The PIN is removed, and the library is in parent mode." : "There was no PIN.")
            exit(0)
        } catch {
            // For the person who asked, and not for a log.
            StandardError.write(DaemonLog.sentence(error) + "\n")
            exit(1)
        }
    }
    if let file = options.configuration { log.write(.info, "the configuration is \(file)") }
    if let warning = ControlAddress.warning() { log.write(.warning, warning) }
    // Whoever starts it may want to unmount or remove the folder in which they happened to stand.
    _ = chdir("/")
    let manager = ServiceManager()
    manager.tell("STATUS=Opening the library \(options.library)")
    // The order is what makes it safe: the library's lock first, and only its holder may replace a stale socket.
    let jobLog = JobLog(log)
    var opening = PhotoLibrary.Options(imageWorker: options.imageWorker, workers: options.workers)
    opening.openedLibraries = options.openedLibraries
    opening.makesNew = options.makesNew
    opening.metricsToken = options.metricsToken
    opening.jobLog = jobLog.add
    opening.faultLog = jobLog.add
    opening.lostLogLines = { StandardError.lostLines }
    try AddressSpace.require(workers: opening.workers)
    let openFiles = try OpenFiles(workers: opening.workers)
    let library = try await PhotoLibrary.open(at: options.library, options: opening)
    let server: ControlServer
    do {
        let unlocked = HeldRole.Grant(.parent, idle: UnlockLimits.idle, total: UnlockLimits.total)
        let listener = try ListeningSocket.inherited() ?? ListeningSocket(at: options.socket)
        let door = try ListeningSocket(at: ControlAddress.door(of: listener.path))
        var configuration = ControlServer.Configuration(
            version: Release.version, library: library.path, limits: openFiles.forClients,
            grants: [Unlock.method: unlocked], lowers: [Lock.method: .kid],
            roleForPeer: { peer in peer.standardRole.map { min($0, library.roleOfNewcomers) } })
        configuration.faultLog = jobLog.add
        configuration.identifications = [
            AuthenticateDevice.method: ControlServer.Identification(
                name: { try? JSONDecoder().decode(Device.self, from: $0).id },
                standing: { library.standing(ofDevice: $0) })
        ]
        server = try ControlServer(
            mesh: library.mesh, listener: listener, door: door, configuration: configuration)
        await library.onRoleFall { [server] in await server.lowerRoles($0) }
    } catch {
        await library.close()
        throw error
    }
    log.write(.info, "serving \(library.path) at \(server.path)")
    manager.tell("READY=1\nSTATUS=Serving \(library.path)")
    let watchdog = manager.feedWatchdog(from: library.mesh)

    let reload = Reload(spoken: spoken, options: options, log: log)
    await signals.untilToldToStop(manager: manager, reload: reload.run)

    manager.tell("STOPPING=1\nSTATUS=Stopping: jobs get their receipts, running requests finish")
    watchdog?.cancel()
    await server.drain()
    await library.mesh.stop()
    await server.close()
    await library.close()
    await jobLog.end()
    log.write(.info, "stopped")
} catch {
    log.write(.error, DaemonLog.sentence(error))
    exit(1)
}
