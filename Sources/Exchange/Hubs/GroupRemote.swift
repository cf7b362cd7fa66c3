import LibraryModel
import ServiceMesh

/// A hub as SyncCoordinator speaks to it. What comes from it is checked by whoever asks; its errors are those of the mesh:
/// `unavailable` and `deadline_exceeded` where trying again may help, `unauthenticated`; `not_found`, `already_exists` and
/// `invalid_argument` where the hub itself has refused; `failed_precondition` for an answer that is none of a hub. Where the hub is
/// there, and only what was asked for cannot be had now, it is ``HubDeclined``.
package protocol GroupRemote: Sendable {
    /// - Parameter utcOffset: minutes that this machine's clock is ahead of UTC.
    func groups(utcOffset: Int) async throws -> [HubGroup]
    /// Photos of a group that have not expired, and what time it is there; nil where it does not say.
    func photos(of group: String, utcOffset: Int) async throws -> (photos: [HubPhoto], time: Timestamp?)
    /// Writes the file of a photo, from its beginning; of ``GroupPhoto/maximumBytes`` at most. What an earlier try has written
    /// need not be asked for again.
    func fetch(_ photo: HubPhoto, into file: OwnedFile) async throws
    /// Sends the same once, however often it is sent.
    func send(_ photo: OutgoingPhoto, _ content: OwnedFile) async throws -> HubPhoto
    func leave(_ group: String) async throws
    /// Ends what is under way.
    func close() async
}

/// The hub answers, and what it was asked for cannot be had now: one photo, or one group's list of them. It may be had later; until
/// then that is no reason to ask at once again, nor to leave the hub alone, which may well have all else.
package struct HubDeclined: MeshErrorConvertible {
    package let meshError: MeshError

    package init(_ meshError: MeshError) { self.meshError = meshError }
}

/// A photo that goes out.
package struct OutgoingPhoto: Sendable, Equatable {
    /// The photo's here, and there.
    package let id: String
    package let groupId: String
    /// Milliseconds since it was sent here.
    package let ageMs: Int64
    package let utcOffset: Int?
    /// Bytes.
    package let size: Int64

    package init(id: String, groupId: String, ageMs: Int64, utcOffset: Int?, size: Int64) {
        self.id = id
        self.groupId = groupId
        self.ageMs = ageMs
        self.utcOffset = utcOffset
        self.size = size
    }
}

/// Makes the way to a hub.
package typealias GroupRemoteMaker = @Sendable (_ address: HubAddress, _ token: String) throws -> any GroupRemote
