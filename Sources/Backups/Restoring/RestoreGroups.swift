import BackupFormats
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Groups of a backup: those that the library had kept, with their members. Their photos are gone after two days, and what lets
/// others in is in no backup.
extension RestorePlan {
    /// Groups that the library does not have come, and those that it has stay, in a replacement too: others are in them. With a
    /// person of another library nobody here could send, so a library that has one of its own keeps to that one.
    mutating func takeGroups(_ groups: [StoredGroup], in transaction: any CatalogueTransaction) throws {
        guard !groups.isEmpty else { return }
        let there = try transaction.groups.groups(nil)
        let known = Dictionary(there.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        // What a hub calls this person is that hub's.
        var person = there.lazy.filter { $0.hub == nil }.compactMap(\.ownMember).first?.userId
        for group in groups {
            func tell(_ outcome: String, _ detail: String) {
                lines.append(ReceiptLine(item: group.name, outcome: outcome, detail: detail))
            }
            if let found = known[group.id] {
                if found.name != group.name { tell("conflict", "the group is called '\(found.name)' here") }
                let lost = group.members.filter { member in !found.members.contains { $0.userId == member.userId } }
                for member in lost { tell("conflict", "\(member.firstName) is not in the group any more") }
            } else if there.count + newGroups.count >= Group.maximumCount {
                tell(Self.leftOut, "the library has \(Group.maximumCount) groups, which is the most")
            } else if let own = group.ownMember?.userId, let person, own != person {
                tell(Self.leftOut, "this library's groups are of another person than the backup's")
            } else {
                person = person ?? group.ownMember?.userId
                newGroups.append(group)
                let others = group.members.count { !$0.isSelf }
                guard others > 0 else { continue }
                // Nobody of them gets in with what they had.
                tell(
                    ForeignContents.left,
                    "its members need new invitations: smilepile groups invite GROUP NAME --again")
            }
        }
    }

    private static let leftOut = "left_out"
}
