import CLinux
import Foundation
import ServiceMesh
import TestSupport
import Testing

@testable import HomeAuthority

/// What the keeper says to the page's program, over a real pair of sockets.
@Suite(.timeLimit(.minutes(1))) struct HomeKeeperTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("keeper") }

    private static func listen(_ address: PrivateAddress, _ port: UInt16) throws -> Int32 {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var bound = sockaddr_in()
        bound.sin_family = sa_family_t(AF_INET)
        bound.sin_port = port.bigEndian
        inet_pton(AF_INET, address.text, &bound.sin_addr)
        let status = withUnsafePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0, Foundation.listen(made, 8) == 0 else {
            close(made)
            throw MeshError(.failedPrecondition, "It cannot listen there.")
        }
        return made
    }

    /// A keeper that runs on a thread, this end of its conversation, and what becomes known of its end.
    private func keeper(
        _ only: String, path: String? = nil
    ) throws -> (conversation: HomeConversation, ended: AsyncStream<Void>) {
        var ends: [Int32] = [-1, -1]
        try #require(clinux_conversation(&ends) == 0)
        let address = try #require(PrivateAddress(only))
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let file = AuthorityFile(path: path ?? folder.file("home-authority.pem"))
        let other = ends[1]
        Thread.detachNewThread {
            let place = HomeKeeper.Place(only: address, ports: (0, 0), names: ["photos.example", "x"])
            var keeper = HomeKeeper(HomeConversation(other), file: file, place: place, listen: Self.listen)
            keeper.run()
            close(other)
            end.finish()
        }
        return (HomeConversation(ends[0]), ended)
    }

    @Test func itHandsOverSocketsThenWhatIsShownAndEndsWithTheOtherSide() async throws {
        let (conversation, ended) = try keeper("127.0.0.3")
        let first = try #require(conversation.next())
        #expect(first.update == .opened(address: "127.0.0.3") && first.sockets.count == 2)
        for socket in first.sockets {
            var (isListening, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            #expect(getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0 && isListening == 1)
            close(socket)
        }
        let second = try #require(conversation.next())
        guard case .state(let state) = second.update else {
            Issue.record("\(second.update)")
            return
        }
        #expect(state.addresses == ["127.0.0.3"] && state.notes.count == 1 && second.sockets.isEmpty)
        let kept = try #require(try AuthorityFile(path: folder.file("home-authority.pem")).read())
        #expect(state.authority == kept.certificate && state.fingerprint == kept.shownFingerprint)
        // The authority's key stays where it is.
        let key = String(decoding: kept.key, as: UTF8.self)
        #expect(!state.key.contains(key) && state.key != key)
        #expect(
            !String(decoding: try JSONEncoder().encode(second.update), as: UTF8.self).contains(
                String(key.dropFirst(60).prefix(40))))
        #expect(Set(state.profiles.keys) == ["de", "en"])
        close(conversation.descriptor)
        for await _ in ended {}
    }

    @Test func whereItCannotBeginItSaysWhyAndEnds() async throws {
        let path = folder.file("home-authority.pem")
        try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        #expect(chmod(path, 0o644) == 0)
        let (conversation, ended) = try keeper("127.0.0.3")
        let opened = try #require(conversation.next())
        for socket in opened.sockets { close(socket) }
        guard case .failed(let reason)? = conversation.next()?.update else {
            Issue.record("it began")
            return
        }
        #expect(reason.contains("chmod 600"))
        for await _ in ended {}
        #expect(conversation.next() == nil)
        // An address that this machine does not have.
        let (other, otherEnded) = try keeper("169.254.254.253", path: folder.file("other.pem"))
        #expect(other.next()?.update == .failed("It cannot listen there."))
        for await _ in otherEnded {}
        close(conversation.descriptor)
        close(other.descriptor)
    }
}
