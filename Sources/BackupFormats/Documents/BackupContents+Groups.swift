import LibraryModel
import LibraryStorage
import ServiceMesh

/// What a backup says of groups, as hostile as all of it.
extension BackupContents {
    /// - Throws: `data_loss` for what no library keeps.
    func checkGroups() throws {
        guard groups.count <= Group.maximumCount else {
            throw MeshError(refusingBackup: "it has more than \(Group.maximumCount) groups.")
        }
        var ids: Set<String> = []
        var own: Set<String> = []
        for group in groups {
            let members = group.members
            let isPossible =
                Self.isUUID(group.id) && ids.insert(group.id).inserted && Self.isName(group.name)
                && (1...Group.maximumMembers).contains(members.count)
                && Set(members.map(\.userId)).count == members.count && members.count(where: \.isSelf) <= 1
                && members.allSatisfy { Self.isUUID($0.userId) && Self.isName($0.firstName) }
            own.formUnion(members.lazy.filter(\.isSelf).map(\.userId))
            guard isPossible, own.count <= 1 else {
                throw MeshError(refusingBackup: "what it says of the group '\(group.name.prefix(80))' cannot be.")
            }
        }
    }

    private static func isName(_ name: String) -> Bool { (try? GroupName.validated(name)) == name }
}
