import LibraryModel
import ServiceMesh

/// What joining a machine has in common, whatever it is joined for.
enum Joining {
    /// What somebody who is not at this machine is told of an address that did not let them in: one and the same, whether nothing
    /// is there, something else answers, or a hub that does not know the token. A page that was taken over would else find out
    /// which programs and machines answer in this network.
    static func answerFromAfar(to error: any Error, of address: HubAddress) -> any Error {
        guard CallContext.current?.isFromAfar ?? false, (error as? MeshError)?.status != .cancelled else {
            return error
        }
        return MeshError(
            .unavailable,
            "No machine at \(address) takes this invitation: it is not running, not reached from here, or the invitation is not "
                + "good any more. The library's own machine says which: smilepile groups join, smilepile swipe join")
    }

    /// - Parameter what: goes to the machine, or comes from it, as the rest of a sentence.
    static func invitation(
        _ address: String, _ token: String, allowsPlainHTTP: Bool?, what: String
    ) throws -> (address: HubAddress, token: String) {
        let address = try HubAddress(address)
        let token = try InvitationLink.validated(token: token)
        guard address.isPrivate || allowsPlainHTTP == true else {
            throw MeshError(
                .failedPrecondition,
                "Without TLS everybody on the way can read the token and \(what). Use an address with https, or say --insecure-http."
            )
        }
        return (address, token)
    }
}
