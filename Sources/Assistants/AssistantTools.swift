import Foundation
import ServiceMesh

/// Which messages of the daemon an assistant may send, as tools of the protocol.
///
/// A list of what may be, and not of what may not: a message that is new is no tool before somebody has thought of it.
struct AssistantTools: Sendable {
    struct Tool: Sendable, Equatable {
        let method: String
        /// As the protocol has it.
        let description: JSONValue
    }

    /// Change nothing, and tell nothing that is sealed, secret or somebody else's.
    static let reading: Set<String> = [
        "backup.list", "category.count", "category.get", "category.list", "folder.list", "job.get", "job.list",
        "job.receipt", "library.status", "mesh.health", "photo.cameras", "photo.count", "photo.get", "photo.search",
        "photo.timeline", "storage.usage", "swipe.history", "swipe.pending", "swipe.sessions", "trash.list",
    ]
    /// Change something and remove nothing for good: photos go into the trash at most. Without backups: one is a file with every
    /// picture in it, at a path that the assistant would choose.
    static let changing: Set<String> = [
        "category.add", "category.edit", "job.cancel", "job.pause", "job.resume",
        "library.rescan", "photo.caption", "photo.delete", "photo.edit", "photo.favorite", "photo.move",
        "swipe.finish", "swipe.record", "swipe.start", "swipe.undo", "thumbnail.rebuild", "trash.restore",
    ]

    /// By the name that assistants use: many take letters, digits, `_` and `-` alone.
    let byName: [String: Tool]

    /// - Parameter table: the answer to `rpc.discover`.
    init(table: JSONValue, allowsChanges: Bool) {
        let offered = allowsChanges ? Self.reading.union(Self.changing) : Self.reading
        var byName: [String: Tool] = [:]
        for entry in table["methods"]?.arrayValue ?? [] {
            guard let method = entry["name"]?.stringValue, offered.contains(method), let params = entry["params"] else {
                continue
            }
            let name = method.replacing(".", with: "_")
            byName[name] = Tool(
                method: method,
                description: [
                    "name": .string(name), "description": .string(entry["summary"]?.stringValue ?? method),
                    "inputSchema": params,
                    "annotations": [
                        "readOnlyHint": .bool(Self.reading.contains(method)),
                        // So that a person is asked first: a caption or a date that is written over is kept nowhere.
                        "destructiveHint": .bool(!Self.reading.contains(method)), "openWorldHint": false,
                    ],
                ])
        }
        self.byName = byName
    }

    var descriptions: JSONValue {
        .array(byName.sorted { $0.key < $1.key }.map(\.value.description))
    }
}
