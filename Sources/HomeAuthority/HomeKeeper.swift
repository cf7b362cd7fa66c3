import CLinux
import Foundation
import ServiceMesh

/// Keeps a home's authority, in a process of its own beside the program that serves the page: watches the machine's addresses and
/// the clock, opens the sockets that listen, signs the certificates, and hands both over.
///
/// It is told nothing by the program that talks to the network, so nothing that goes wrong there has anything signed; that
/// program has the server's key, and never the authority's. It ends with the other side.
package struct HomeKeeper {
    /// How often the clock and the authority's file are looked at.
    private static let hour: Int32 = 3_600_000
    /// How soon an address is tried again that could not be listened on: one of IPv6 is the machine's a second after it has come.
    private static let soon: Int32 = 2_000
    /// After the last change of the addresses, so that a network which comes up is one change and not five.
    private static let quiet: Int32 = 500

    package struct Place: Sendable {
        /// Where to listen instead of at the machine's private addresses.
        package let only: PrivateAddress?
        /// The page's port, and the door's; 0 for any that is free.
        package let ports: (page: UInt16, door: UInt16)
        /// Beside the machine's own.
        package let names: [String]

        package init(only: PrivateAddress?, ports: (page: UInt16, door: UInt16), names: [String]) {
            self.only = only
            self.ports = ports
            self.names = names
        }
    }

    private let conversation: HomeConversation
    private let file: AuthorityFile
    private let place: Place
    private let listen: (PrivateAddress, UInt16) throws -> Int32
    private var open: [PrivateAddress] = []

    /// - Parameter listen: makes a socket that listens.
    package init(
        _ conversation: HomeConversation, file: AuthorityFile, place: Place,
        listen: @escaping (PrivateAddress, UInt16) throws -> Int32
    ) {
        self.conversation = conversation
        self.file = file
        self.place = place
        self.listen = listen
    }

    /// Returns when the other side has ended. Blocks.
    package mutating func run() {
        let watch = clinux_addresses_watch()
        defer { if watch >= 0 { close(watch) } }
        var certificates: HomeCertificates
        var (wanted, faults) = (addresses(), [String]())
        do {
            faults = try openSockets(wanted)
            certificates = try HomeCertificates(file: file, addresses: open, names: names(), now: now())
        } catch {
            _ = conversation.send(.failed(MeshError(describing: error).message))
            return
        }
        var state = HomeState(certificates, addresses: open)
        state.notes += faults
        guard conversation.send(.state(state)) else { return }
        while wait(watch, open.count == wanted.count ? Self.hour : Self.soon) {
            wanted = addresses()
            let (before, shown, said) = (open, state.certificate, faults)
            do {
                faults = try openSockets(wanted)
                _ = try certificates.look(addresses: open, names: names(), now: now())
            } catch {
                faults = [MeshError(describing: error).message]
            }
            state = HomeState(certificates, addresses: open)
            // What could not be opened is tried again soon, and is said once.
            if faults != said { state.notes += faults }
            guard state.certificate != shown || open != before || !state.notes.isEmpty else { continue }
            guard conversation.send(.state(state)) else { return }
        }
    }

    private func addresses() -> [PrivateAddress] { place.only.map { [$0] } ?? PrivateAddress.ofThisMachine() }

    private func names() -> [String] {
        let own = HomeNames.ofThisMachine()
        return own + place.names.map { $0.lowercased() }.filter { !own.contains($0) }
    }

    private func now() -> Int64 { Int64(time(nil)) }

    /// Opens sockets for the addresses that have none, hands them over, and forgets those of addresses that are gone.
    /// - Returns: what could not be opened, and why.
    /// - Throws: the first fault, where there is nothing else that listens.
    private mutating func openSockets(_ wanted: [PrivateAddress]) throws -> [String] {
        var (now, faults) = ([PrivateAddress](), [any Error]())
        for address in wanted {
            if !open.contains(address) {
                do {
                    let page = try listen(address, place.ports.page)
                    defer { close(page) }
                    let door = try listen(address, place.ports.door)
                    defer { close(door) }
                    _ = conversation.send(.opened(address: address.text), sockets: [page, door])
                } catch {
                    faults.append(error)
                    continue
                }
            }
            now.append(address)
        }
        if now.isEmpty, open.isEmpty, let fault = faults.first { throw fault }
        open = now
        return faults.map { MeshError(describing: $0).message }
    }

    /// Until there is something to look at.
    /// - Returns: false where the other side is gone.
    private func wait(_ watch: Int32, _ milliseconds: Int32) -> Bool {
        var watched = [
            pollfd(fd: conversation.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: watch, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&watched, 2, milliseconds)
        for _ in 0..<20 where watched[1].revents != 0 && watched[0].revents == 0 {
            clinux_addresses_clear(watch)
            watched[1].revents = 0
            _ = poll(&watched, 2, Self.quiet)
        }
        return watched[0].revents == 0
    }
}
