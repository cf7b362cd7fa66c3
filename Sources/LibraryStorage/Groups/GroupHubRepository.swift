import LibraryModel
import ServiceMesh

/// Hubs, and what is under way between them and this library, inside one transaction.
package protocol GroupHubRepository {
    /// In the order in which they were joined.
    func all() throws -> [StoredGroupHub]
    /// Enters it, or puts it in the place of the one with its id, whose groups stay.
    func put(_ hub: StoredGroupHub) throws
    func setToken(_ token: StoredToken, of hub: String) throws
    /// Notes how a try ended; a problem leaves the time of the last success as it was.
    func note(_ hub: String, syncedAt: Timestamp?, problem: String?) throws
    /// Removes it with its groups.
    /// - Returns: whether it was there.
    func remove(_ id: String) throws -> Bool

    /// Enters groups of a hub with their members, or makes them what they are there. A group that is kept here or by another hub is left
    /// alone, whatever this hub says.
    /// - Returns: the ids of those that are left alone.
    func put(_ groups: [StoredGroup]) throws -> Set<String>
    /// Groups that were left here, and that the hub does not know of yet.
    func departures(from hub: String) throws -> [String]
    func addDeparture(_ group: String, from hub: String) throws
    func removeDepartures(_ groups: [String], from hub: String) throws
    /// Notes photos that were sent here in vain; of more than ``UndeliveredGroupPhoto/maximumCount`` the oldest goes.
    func add(_ undelivered: [UndeliveredGroupPhoto]) throws
    /// The latest first, of one moment by id.
    func undelivered() throws -> [UndeliveredGroupPhoto]
    /// Those that were noted at `moment` or before.
    func removeUndelivered(until moment: Timestamp) throws
    /// The ids of the hubs to which something waits to go out that has not expired at `moment`.
    func withOutgoing(at moment: Timestamp) throws -> Set<String>
}

extension GroupHubRepository {
    package func list() throws -> GroupHubList {
        GroupHubList(hubs: try all().map(\.shown), undelivered: try undelivered())
    }

    /// Notes that of these photos those that wait to go out, or that this library's person had sent, come to nobody. A photo of none of
    /// the groups is left out, as is one of a group that no hub keeps.
    package func noteUndelivered(
        _ photos: [StoredGroupPhoto], of groups: [StoredGroup], at moment: Timestamp,
        _ reason: UndeliveredGroupPhoto.Reason, detail: String? = nil
    ) throws {
        guard !photos.isEmpty else { return }
        let addresses = Dictionary(try all().map { ($0.id, $0.address) }, uniquingKeysWith: { first, _ in first })
        let byID = Dictionary(groups.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let lost = photos.compactMap { photo -> UndeliveredGroupPhoto? in
            guard let group = byID[photo.groupId], let address = group.hub.flatMap({ addresses[$0] }),
                photo.transfer == .outgoing || photo.senderId == group.ownMember?.userId
            else { return nil }
            return UndeliveredGroupPhoto(
                id: photo.id, groupId: group.id, groupName: group.name, hub: address, sentAt: photo.createdAt,
                noticedAt: moment, reason: reason, detail: detail)
        }
        if !lost.isEmpty { try add(lost) }
    }
}

/// A hub as it is kept.
package struct StoredGroupHub: Sendable, Equatable {
    package let id: String
    package let address: String
    package var token: StoredToken
    package let addedAt: Timestamp
    package var syncedAt: Timestamp?
    package var problem: String?

    package init(
        id: String, address: String, token: StoredToken, addedAt: Timestamp, syncedAt: Timestamp? = nil,
        problem: String? = nil
    ) {
        self.id = id
        self.address = address
        self.token = token
        self.addedAt = addedAt
        self.syncedAt = syncedAt
        self.problem = problem
    }

    package var shown: GroupHub {
        GroupHub(id: id, address: address, addedAt: addedAt, syncedAt: syncedAt, problem: problem)
    }
}
