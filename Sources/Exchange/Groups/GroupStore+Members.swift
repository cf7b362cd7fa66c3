import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Who is in groups that this machine keeps.
extension GroupStore {
    static let tokenBytes = 32

    func invite(_ request: InviteGroupMember) async throws -> GroupInvitation {
        guard (request.firstName == nil) != (request.userId == nil) else {
            throw MeshError(.invalidArgument, "Name somebody new by 'firstName', or somebody who is known by 'userId'.")
        }
        let name = try request.firstName.map { try GroupName.validated($0, "A first name") }
        let (id, wanted, clocks) = (request.groupId.lowercased(), request.userId?.lowercased(), clocks)
        let invitation = try await catalogue.write { transaction in
            let group = try transaction.groups.require(id)
            try Self.requireKeptHere(group, orElse: "Who keeps it can invite.")
            let now = try clocks.time(in: transaction).wall
            let known = try wanted.map { try Self.person($0, transaction) }
            let member = GroupMember(
                userId: known?.userId ?? UUID().uuidString.lowercased(), firstName: known?.firstName ?? name ?? "",
                joinedAt: now, isSelf: false)
            let isIn = group.members.contains { $0.userId == member.userId }
            guard !isIn || request.newToken == true else {
                throw MeshError(
                    .alreadyExists,
                    "\(member.firstName) is in this group already. A new token takes the old one's place."
                )
            }
            if !isIn { try transaction.groups.insert([member], into: id) }
            guard try request.newToken == true || !transaction.groups.hasToken(member.userId) else {
                return GroupInvitation(member: member, token: nil)
            }
            let token = BearerSecret.random(bytes: Self.tokenBytes)
            try transaction.groups.setToken(token.digest, of: member.userId, at: now)
            return GroupInvitation(member: member, token: token.text)
        }
        await show()
        return invitation
    }

    /// Somebody who is in a group that is kept here.
    private static func person(_ userId: String, _ transaction: any CatalogueTransaction) throws -> GroupMember {
        let members = try transaction.groups.groups(nil).filter { $0.hub == nil }.flatMap(\.members)
        guard let found = members.first(where: { $0.userId == userId }) else {
            throw MeshError(.notFound, "Nobody with the id \(userId.prefix(40)) is in a group.")
        }
        try requireOther(found)
        return found
    }

    private static func requireOther(_ member: GroupMember) throws {
        guard !member.isSelf else {
            throw MeshError(
                .failedPrecondition, "This is yourself. To go out of a group: smilepile groups leave GROUP")
        }
    }

    func removeMember(_ request: RemoveGroupMember) async throws -> Group {
        let (id, user) = (request.groupId.lowercased(), request.userId.lowercased())
        try await catalogue.write { transaction in
            let group = try transaction.groups.require(id)
            try Self.requireKeptHere(group, orElse: "Who keeps it can take members out.")
            guard let member = group.members.first(where: { $0.userId == user }) else {
                throw MeshError(.notFound, "Nobody with the id \(user.prefix(40)) is in this group.")
            }
            try Self.requireOther(member)
            _ = try transaction.groups.removeMember(user, from: id)
            try transaction.groups.removeUnusedTokens()
        }
        await show()
        return try await get(id)
    }
}

extension InviteGroupMember: HandledMessage {
    public func perform(on service: GroupStore) async throws -> GroupInvitation { try await service.invite(self) }
}

extension RemoveGroupMember: HandledMessage {
    public func perform(on service: GroupStore) async throws -> Group { try await service.removeMember(self) }
}
