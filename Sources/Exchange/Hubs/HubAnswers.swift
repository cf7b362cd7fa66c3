import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// What a hub says, as far as it can be right. A hub is another family's machine, or whoever has taken its place.
enum HubAnswers {
    private static let hour: Int64 = 3_600_000
    /// Milliseconds by which the clocks of two machines may differ without anybody having set one wrongly.
    private static let tolerance: Int64 = 120_000

    /// - Throws: `data_loss`.
    private static func wrong(_ what: String) -> MeshError {
        MeshError(.dataLoss, "The other machine's answer cannot be right: \(what).")
    }

    private static func id(_ text: String) -> String? {
        let id = text.lowercased()
        return text.utf8.count == 36 && UUID(uuidString: id) != nil ? id : nil
    }

    /// What no calendar has was not said.
    private static func moment(_ told: Timestamp?) -> Timestamp? { told.flatMap { $0.rfc3339 == nil ? nil : $0 } }

    /// What cannot be shown is left out of a name, and what is then none gets another.
    private static func name(_ text: String?, orElse other: String) -> String {
        let scalars = (text ?? "").unicodeScalars.prefix(1000).filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: !scalar.properties.isBidiControl
            }
        }
        let shown = String(String(String.UnicodeScalarView(scalars)).prefix(GroupName.maximumLength))
        return (try? GroupName.validated(shown)) ?? other
    }

    /// Groups as they are to be kept.
    /// - Parameter known: those that are here already, by their ids: a hub may not say when a group was made, and since when somebody
    ///   is in it.
    static func groups(
        _ sent: [HubGroup], of hub: String, at now: Timestamp, known: [String: StoredGroup]
    ) throws -> [StoredGroup] {
        guard sent.count <= Group.maximumCount else { throw wrong("\(sent.count) groups") }
        var seen: Set<String> = []
        return try sent.map { group in
            guard let id = Self.id(group.id), seen.insert(id).inserted else {
                throw wrong("a group without an id of its own")
            }
            guard group.members.count <= Group.maximumMembers else {
                throw wrong("a group of \(group.members.count) members")
            }
            let own = group.memberId.flatMap(Self.id)
            var members: [GroupMember] = []
            for member in group.members {
                guard let user = Self.id(member.id), !members.contains(where: { $0.userId == user }) else {
                    throw wrong("a member without an id of their own")
                }
                let since =
                    Self.moment(member.joinedAt)
                    ?? known[id]?.members.first { $0.userId == user }?.joinedAt
                members.append(
                    GroupMember(
                        userId: user, firstName: name(member.firstName, orElse: "?"), joinedAt: since ?? now,
                        isSelf: user == own))
            }
            return StoredGroup(
                id: id, name: name(group.name, orElse: "?"),
                createdAt: Self.moment(group.createdAt) ?? known[id]?.createdAt ?? now, members: members, hub: hub)
        }
    }

    /// Photos of a group as they are to be kept, their files still to be fetched; expired ones are left out.
    /// - Parameters:
    ///   - time: here.
    ///   - there: what time it is at the hub; nil where it does not say.
    static func photos(
        _ sent: [HubPhoto], of group: String, at time: GroupTime, there: Timestamp?, offset: Int
    ) throws -> [StoredGroupPhoto] {
        guard sent.count <= StoredGroup.maximumPhotos else { throw wrong("\(sent.count) photos in a group") }
        var seen: Set<String> = []
        return try sent.compactMap { try photo($0, of: group, at: time, there: there, offset: offset) }
            .filter { seen.insert($0.id).inserted }
    }

    static func url(of photo: HubPhoto) -> String? { photo.url.map { String($0.prefix(2000)) } }

    /// A photo that was sent to a hub, as it is there.
    /// - Returns: nil from a hub with ids of its own: the photo comes from there like any other.
    static func accepted(_ answer: HubPhoto, _ sent: StoredGroupPhoto) throws -> StoredGroupPhoto? {
        guard let id = Self.id(answer.id), let sender = Self.id(answer.senderId),
            answer.groupId.lowercased() == sent.groupId
        else { throw wrong("a photo without an id or a sender") }
        guard id == sent.id, sender == sent.senderId else { return nil }
        var accepted = sent
        (accepted.transfer, accepted.url, accepted.utcOffset) = (.none, url(of: answer), nil)
        // A day that is further away was given by a clock that is wrong: ours, since the hub decides.
        if let day = answer.day, answer.createdAt.rfc3339 != nil {
            let made = GroupTime.day(of: answer.createdAt, offset: nil)
            if (made - 1...made + 1).contains(day) { accepted.day = day }
        }
        // Its age went along: the times differ by the way there, or else by what the clocks do, which is none of the photo's.
        let way = answer.expiresAt.milliseconds.subtractingReportingOverflow(sent.expiresAt.milliseconds)
        if !way.overflow, (-tolerance...tolerance).contains(way.partialValue), answer.createdAt.rfc3339 != nil {
            (accepted.createdAt, accepted.expiresAt) = (answer.createdAt, answer.expiresAt)
        }
        return accepted
    }

    static func photo(
        _ photo: HubPhoto, of group: String, at time: GroupTime, there: Timestamp?, offset: Int
    ) throws -> StoredGroupPhoto? {
        guard let id = Self.id(photo.id), let sender = Self.id(photo.senderId), photo.groupId.lowercased() == group,
            photo.createdAt.rfc3339 != nil, photo.expiresAt.rfc3339 != nil
        else { throw wrong("a photo without an id, a sender or a time") }
        // Clocks of two machines differ by a little, and now and then by an hour: what counts is how long it has to live there.
        let lead = (there?.milliseconds ?? time.wall.milliseconds) - time.wall.milliseconds
        let skew = abs(lead) > tolerance ? lead : 0
        let left = photo.expiresAt.milliseconds - skew - time.wall.milliseconds
        guard left > 0 else { return nil }
        let most = Int64(GroupPhoto.lifetimeHours) * hour
        let createdAt = Timestamp(milliseconds: photo.createdAt.milliseconds - skew)
        guard left <= most + hour, createdAt.milliseconds <= time.wall.milliseconds + hour else {
            throw wrong("a photo from the future")
        }
        let day = GroupTime.day(of: createdAt, offset: offset)
        // The sender's calendar is a day ahead or behind at most.
        let told = photo.day.flatMap { (day - 1...day + 1).contains($0) ? $0 : nil }
        return StoredGroupPhoto(
            id: id, groupId: group, senderId: sender, senderName: name(photo.senderName, orElse: "?"),
            day: told ?? day, width: 0, height: 0, fileSize: 0, hasFile: false, createdAt: createdAt,
            expiresAt: Timestamp(milliseconds: time.now.milliseconds + min(left, most)), lastUsedAt: time.now,
            transfer: .incoming, url: url(of: photo))
    }
}
