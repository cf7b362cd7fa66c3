import ControlSocket
import Foundation
import HomeAuthority
import ServiceMesh
import Synchronization
import WebPage
import WebServer

/// A home's address: what the keeper of its authority has handed over, and the servers that show it.
final class Home: Sendable {
    private struct State {
        var told: HomeState
        /// The page's and the door's, by their addresses.
        var listeners: [String: (page: WebListener, door: WebListener)]
        var page: WebServer?
        var door: HomeDoor?
        /// Of this machine's own browser.
        var own: String?
    }

    let whereabouts = Whereabouts()
    private let conversation: HomeConversation
    private let names: [String]
    private let port: UInt16
    private let claim: WebRecord.Claim
    private let state: Mutex<State>

    /// Starts the keeper, and waits until it has said what there is to be shown.
    /// - Throws: `MeshError`: why there is nothing.
    init(_ listen: ListeningAddress?, names: [String], claim: WebRecord.Claim) throws {
        let wanted = listen?.port ?? ListeningAddress.standardPort
        let ports = (page: wanted, door: wanted == 0 || wanted == .max ? 0 : wanted + 1)
        conversation = try HomeKeeper.start(
            HomeKeeper.Place(only: listen.flatMap { PrivateAddress($0.host) }, ports: ports, names: names))
        self.names = names + HomeNames.ofThisMachine()
        self.claim = claim
        var listeners: [String: (page: WebListener, door: WebListener)] = [:]
        let told = try Self.next(from: conversation, &listeners)
        port = listeners[told.addresses.first ?? ""]?.page.address.port ?? wanted
        state = Mutex(State(told: told, listeners: listeners))
    }

    /// Up to the next state of things.
    private static func next(
        from conversation: HomeConversation, _ listeners: inout [String: (page: WebListener, door: WebListener)]
    ) throws -> HomeState {
        while let (update, sockets) = conversation.next() {
            switch update {
            case .failed(let reason): throw MeshError(.failedPrecondition, reason)
            case .state(let state): return state
            case .opened(let address):
                let adopted = sockets.compactMap(WebListener.init(adopting:))
                if adopted.count == 2 { listeners[address] = (adopted[0], adopted[1]) }
            }
        }
        throw MeshError(
            .failedPrecondition,
            "What keeps this home's authority has ended before it said anything. Start the page again.")
    }

    // MARK: What is shown

    /// Says where the page is.
    /// - Parameter own: its address for this machine's own browser, where that is another one.
    /// - Throws: `ControlError`.
    func write(own: String?) throws {
        state.withLock { $0.own = own }
        try tell()
    }

    private func tell() throws {
        let (told, listeners, own) = state.withLock { ($0.told, $0.listeners, $0.own) }
        let open = told.addresses.compactMap { listeners[$0] }
        let facts = Whereabouts.Facts(
            addresses: open.map { "https://\($0.page.address)" }, doors: open.map { "http://\($0.door.address)" },
            fingerprint: told.fingerprint)
        whereabouts.change(to: facts)
        let all = open.map(\.page.address.description) + (own.map { [String($0.dropFirst("http://".count))] } ?? [])
        try claim.write(
            WebRecord(
                pid: getpid(), address: own ?? facts.addresses.first ?? "", listens: all.joined(separator: ", "),
                home: WebRecord.Home(
                    addresses: facts.addresses, doors: facts.doors, authority: told.authorityName,
                    fingerprint: told.fingerprint, certificateEnds: told.certificateEnds,
                    authorityEnds: told.authorityEnds)))
        for note in told.notes { log(note) }
        log(
            open.isEmpty
                ? "serving this machine alone: it has no address in a home's network yet"
                : "serving this home at \(facts.addresses.joined(separator: ", ")), its door at \(facts.doors.joined(separator: ", "))"
        )
    }

    /// Serves in the cell, and follows what the keeper says.
    /// - Parameter make: makes the page's server.
    /// - Throws: `MeshError`.
    func serve(_ make: ([WebListener], UInt16, TLSIdentity) throws -> WebServer) throws {
        let (told, listeners) = state.withLock { ($0.told, $0.listeners) }
        let open = told.addresses.compactMap { listeners[$0] }
        let page = try make(
            open.map(\.page), port, try TLSIdentity(key: told.key, certificate: told.certificate))
        let door = try HomeDoor(on: open.map(\.door), names: names, content: content(told, open.first?.page))
        state.withLock { ($0.page, $0.door) = (page, door) }
        let thread = Thread { [self] in follow() }
        thread.name = "home"
        thread.stackSize = 1 << 20
        thread.start()
    }

    private func follow() {
        do {
            while true {
                var listeners = state.withLock { $0.listeners }
                let told = try Self.next(from: conversation, &listeners)
                // Those of addresses that are gone are closed by the servers, which do not listen on them any more.
                listeners = listeners.filter { told.addresses.contains($0.key) }
                let open = told.addresses.compactMap { listeners[$0] }
                let (page, door) = state.withLock { state in
                    (state.told, state.listeners) = (told, listeners)
                    return (state.page, state.door)
                }
                page?.show(try TLSIdentity(key: told.key, certificate: told.certificate))
                page?.listen(on: open.map(\.page))
                door?.change(to: content(told, open.first?.page))
                door?.listen(on: open.map(\.door))
                try tell()
            }
        } catch {
            log(
                MeshError(describing: error).message
                    + " What is served goes on, but follows no change of addresses, and its certificate is not renewed."
            )
        }
    }

    private func content(_ told: HomeState, _ first: WebListener?) -> HomeDoor.Content {
        let page = DoorPage(
            name: told.authorityName, fingerprint: told.fingerprint, port: port,
            otherwise: first.map { $0.address.host.contains(":") ? "[\($0.address.host)]" : $0.address.host })
        return HomeDoor.Content(
            certificate: told.authority, profile: { told.profiles[$0] ?? told.profiles["en"] ?? Data() },
            style: DoorPage.style, page: { page.html(language: $0, host: $1) })
    }

    func stop() async {
        let (page, door) = state.withLock { ($0.page, $0.door) }
        await door?.stop()
        await page?.stop()
    }
}
