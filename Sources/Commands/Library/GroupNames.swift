import CommandLineInterface
import LibraryModel
import ServiceMesh

/// Which group or photo a person means.
enum GroupNames {
    /// By the whole id, else by the name, case ignored, else by how the id begins.
    static func matches(_ wanted: String, in groups: [Group]) -> [Group] {
        let lower = wanted.lowercased()
        let whole = groups.filter { $0.id == lower }
        if !whole.isEmpty { return whole }
        let key = CategoryName.key(wanted)
        let named = groups.filter { CategoryName.key($0.name) == key }
        if !named.isEmpty { return named }
        return lower.utf8.count < 4 ? [] : groups.filter { $0.id.hasPrefix(lower) }
    }

    static func one(_ wanted: String, of groups: [Group]) throws -> Group {
        let found = matches(wanted, in: groups)
        if found.count == 1 { return found[0] }
        let shown = PlainText.neutralized(String(wanted.prefix(100)))
        guard found.isEmpty else {
            throw CommandFailure.refused(
                MeshError(
                    .invalidArgument,
                    "\(found.count) groups are '\(shown)'. Name one by its id: \(found.map { String($0.id.prefix(8)) }.joined(separator: " "))"
                ))
        }
        let near = Spelling.suggestion(for: wanted, among: groups.map(\.name))
        throw CommandFailure.refused(
            MeshError(
                .notFound, "There is no group '\(shown)'" + (near == "." ? ". List them with: smilepile groups" : near))
        )
    }
}

extension GroupNames {
    static func member(_ wanted: String, of members: [GroupMember]) throws -> GroupMember {
        let (key, lower) = (CategoryName.key(wanted), wanted.lowercased())
        var found = members.filter { $0.userId == lower || CategoryName.key($0.firstName) == key }
        if found.isEmpty, lower.utf8.count >= 4 { found = members.filter { $0.userId.hasPrefix(lower) } }
        if found.count == 1 { return found[0] }
        let shown = PlainText.neutralized(String(wanted.prefix(100)))
        throw CommandFailure.refused(
            found.isEmpty
                ? MeshError(.notFound, "There is no member '\(shown)'. List them: smilepile groups members GROUP")
                : MeshError(
                    .invalidArgument,
                    "\(found.count) members are '\(shown)'. Name one by the id: \(found.map { String($0.userId.prefix(8)) }.joined(separator: " "))"
                ))
    }

    static func hub(_ wanted: String, of hubs: [GroupHub]) throws -> GroupHub {
        let lower = wanted.lowercased()
        let address = (try? HubAddress(wanted))?.text
        let found = hubs.filter { hub in
            hub.id == lower || hub.address == address || lower.utf8.count >= 4 && hub.id.hasPrefix(lower)
        }
        if found.count == 1 { return found[0] }
        throw CommandFailure.refused(
            MeshError(
                .notFound,
                "No other machine is '\(PlainText.neutralized(String(wanted.prefix(100))))'. List them: smilepile groups hubs"
            ))
    }
}

extension LibraryConnection {
    func group(named text: String) async throws -> Group {
        try GroupNames.one(text, of: try await send(ListGroups()).value.groups)
    }

    /// The only one where none is named.
    func groupToSendTo(_ text: String?) async throws -> Group {
        let groups = try await send(ListGroups()).value.groups
        if let text { return try GroupNames.one(text, of: groups) }
        if groups.count == 1 { return groups[0] }
        throw CommandFailure.refused(
            groups.isEmpty
                ? MeshError(.failedPrecondition, "There is no group. Make one: smilepile groups create NAME --as YOU")
                : MeshError(
                    .invalidArgument,
                    "There are \(groups.count) groups. Say which: smilepile groups send PHOTO GROUP"))
    }

    /// By its whole id, or how that begins.
    func groupPhoto(named text: String) async throws -> GroupPhoto {
        let lower = text.lowercased()
        let photos = try await send(ListGroupPhotos()).value.photos
        let found = photos.filter { $0.id == lower || lower.utf8.count >= 4 && $0.id.hasPrefix(lower) }
        if found.count == 1 { return found[0] }
        let shown = PlainText.neutralized(String(text.prefix(100)))
        throw CommandFailure.refused(
            found.isEmpty
                ? MeshError(
                    .notFound, "No group has a photo '\(shown)', or not any more. List them: smilepile groups today")
                : MeshError(.invalidArgument, "\(found.count) photos begin with '\(shown)'. Give more of the id."))
    }
}
