import LibraryModel
import Testing

extension House {
    /// The group with this name, which has a photo; made where it is not there.
    @discardableResult
    func group(_ name: String = "Cousins", as firstName: String = "Ada") async throws -> Group {
        let made = try await group(withoutPhoto: name, as: firstName)
        if !made.hasSentToday { _ = try await call(SendGroupPhoto(groupId: made.id, id: photos()[0].id)) }
        return made
    }

    @discardableResult
    func group(withoutPhoto name: String, as firstName: String = "Ada") async throws -> Group {
        if let known = try await call(ListGroups()).groups.first(where: { $0.name == name }) { return known }
        return try await call(CreateGroup(name: name, firstName: firstName))
    }

    func deleteGroups() async throws {
        for hub in try await call(ListGroupHubs()).hubs { _ = try await call(ForgetGroupHub(id: hub.id)) }
        for group in try await call(ListGroups()).groups { _ = try await call(DeleteGroup(id: group.id)) }
    }

    func endReviewSharing() async throws {
        for machine in try await call(ListReviewMachines()).machines {
            if machine.isJoined {
                _ = try await call(LeaveReviews(id: machine.id))
            } else {
                _ = try await call(UnshareReviews(id: machine.id))
            }
        }
    }

    /// Takes somebody into a group, and gives the invitation that they join with.
    func invite(_ name: String, to group: Group) async throws -> InvitationLink {
        let token = try #require(try await call(InviteGroupMember(groupId: group.id, firstName: name)).token)
        return InvitationLink(address: try HubAddress(address), token: token)
    }
}
