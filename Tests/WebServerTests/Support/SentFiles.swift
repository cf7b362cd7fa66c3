import Foundation
import ServiceMesh

/// What the programs of one device have sent, as the ``FakeDaemon`` keeps it: files by their places, of which nothing is looked at.
struct SentFiles: Sendable {
    private struct File: Sendable {
        let path: String
        let modifiedAt: String
    }

    private static let time = "2026-11-30T10:00:00Z"
    /// Folders, by their names with slashes between them; the top has none.
    var folders: Set<String> = [""]
    private var files: [String: File] = [:]
    private var begun: [String: (place: String, path: String, modifiedAt: String)] = [:]
    /// How many entries one page of a folder has.
    var page = 2
    /// Names of files that are no photos.
    var refused: [String: String] = [:]
    var discarded = 0
    var names: [String] { files.keys.sorted() }
    var begunCount: Int { begun.count }

    private static func place(_ params: [String: JSONValue], _ key: String = "path") -> String {
        (params[key]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: "/")
    }

    private static func split(_ place: String) -> (folder: String, name: String) {
        let names = place.split(separator: "/").map(String.init)
        return (names.dropLast().joined(separator: "/"), names.last ?? "")
    }

    mutating func begin(_ upload: String, _ params: [String: JSONValue], at path: String) throws {
        let place = Self.place(params)
        guard folders.contains(Self.split(place).folder) else {
            throw MeshError(.failedPrecondition, "There is no such folder. Make it first.")
        }
        guard !folders.contains(place) else {
            throw MeshError(.failedPrecondition, "That is a folder.", details: ["place": "folder"])
        }
        guard files[place] == nil || params["onlyNew"] != true else { throw MeshError(.alreadyExists, "It is there.") }
        begun[upload] = (place, path, params["modifiedAt"]?.stringValue ?? Self.time)
    }

    func file(_ params: [String: JSONValue]) throws -> String {
        guard let file = files[Self.place(params)] else { throw MeshError(.notFound, "It is not kept.") }
        return file.path
    }

    /// Puts files there that nobody has sent.
    mutating func add(_ names: some Sequence<String>) {
        for name in names { files[name] = File(path: "/dev/null", modifiedAt: Self.time) }
    }

    mutating func answer(_ method: String, _ params: [String: JSONValue]) throws -> JSONValue {
        let place = Self.place(params)
        switch method {
        case "dav.list": return try list(place, params)
        case "dav.finish":
            guard let sent = begun.removeValue(forKey: params["upload"]?.stringValue ?? "") else {
                throw MeshError(.notFound, "No such file was begun.")
            }
            if let outcome = refused[Self.split(sent.place).name] {
                throw MeshError(.invalidArgument, "It is no photo.", details: ["outcome": .string(outcome)])
            }
            let isNew = files.updateValue(File(path: sent.path, modifiedAt: sent.modifiedAt), forKey: sent.place) == nil
            return ["file": try entry(sent.place), "isNew": .bool(isNew)]
        case "dav.discard":
            if begun.removeValue(forKey: params["upload"]?.stringValue ?? "") != nil { discarded += 1 }
            return [:]
        case "dav.makeFolder":
            guard folders.contains(Self.split(place).folder) else {
                throw MeshError(.failedPrecondition, "There is no such folder. Make it first.")
            }
            guard folders.insert(place).inserted else { throw MeshError(.alreadyExists, "It is there.") }
            return [:]
        case "dav.move":
            let (from, to) = (Self.place(params, "from"), Self.place(params, "to"))
            guard let file = files[from] else { throw MeshError(.notFound, "There is no such file.") }
            guard files[to] == nil || params["replaces"] == true else {
                throw MeshError(.alreadyExists, "It is there.")
            }
            files[from] = nil
            return ["isNew": .bool(files.updateValue(file, forKey: to) == nil)]
        default: throw MeshError(.unimplemented, "There is no method '\(method)'.")
        }
    }

    private func entry(_ place: String) throws -> JSONValue {
        let name = Self.split(place).name
        if folders.contains(place) {
            return [
                "name": .string(name), "isFolder": true, "modifiedAt": .string(Self.time), "sentAt": .string(Self.time),
            ]
        }
        guard let file = files[place] else { throw MeshError(.notFound, "There is no such file.") }
        let size = (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0
        return [
            "name": .string(name), "isFolder": false, "size": .integer(Int64(size)),
            "modifiedAt": .string(file.modifiedAt), "sentAt": .string(Self.time),
        ]
    }

    private func list(_ place: String, _ params: [String: JSONValue]) throws -> JSONValue {
        let own = try entry(place)
        guard folders.contains(place), params["withContents"] != false else { return ["file": own, "contents": []] }
        let after = params["after"]?.stringValue ?? ""
        let inside = (Array(files.keys) + folders.filter { !$0.isEmpty }).filter { Self.split($0).folder == place }
            .map { Self.split($0).name }.filter { $0 > after }.sorted()
        let shown = inside.prefix(page)
        var reply: [String: JSONValue] = [
            "file": own,
            "contents": .array(try shown.map { try entry(place.isEmpty ? $0 : place + "/" + $0) }),
        ]
        if inside.count > page, let last = shown.last { reply["next"] = .string(last) }
        return .object(reply)
    }
}
