import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

/// Says in short lines what a value has that the one before had not. The last line is always the total, so that two
/// who watch can be compared.
protocol ChangeReport: Sendable {
    /// - Throws: ``CommandFailure`` for a value that is not understood.
    mutating func lines(for json: Data) throws -> [String]
}

enum ChangeLines {
    /// More of them at once would bury the total.
    private static let most = 20

    static func cut(_ lines: [String]) -> [String] {
        lines.count <= most ? lines : Array(lines.prefix(most)) + ["… and \(lines.count - most) more"]
    }

    static func quoted(_ text: String) -> String { "'" + PlainText.neutralized(text) + "'" }
}

struct CategoryReport: ChangeReport {
    private var last: [Int64: Category]?

    mutating func lines(for json: Data) throws -> [String] {
        let now = try Reply.decode(CategoryList.self, from: json, of: ObserveCategories.method).categories
        defer { last = Dictionary(now.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }) }
        let total = "categories: \(now.count)"
        guard let last else { return now.map { "  \(line($0))" } + [total] }
        let known = Set(now.map(\.id))
        var lines = last.values.filter { !known.contains($0.id) }.sorted { $0.id < $1.id }.map { "- \(line($0))" }
        for category in now where category != last[category.id] {
            lines.append((last[category.id] == nil ? "+ " : "~ ") + line(category))
        }
        return ChangeLines.cut(lines) + [total]
    }

    private func line(_ category: Category) -> String {
        "#\(category.id)  \(PlainText.neutralized(category.displayName)): "
            + Figures.count(category.photoCount, "photo")
    }
}

struct EventReport: ChangeReport {
    mutating func lines(for json: Data) throws -> [String] {
        let event = try Reply.decode(LibraryEvent.self, from: json, of: SubscribeToEvents.method)
        let what = event.changed.isEmpty ? "now" : event.changed.map(\.rawValue).joined(separator: ", ")
        return [
            "\(what)  (photos: \(event.totals.photos), categories: \(event.totals.categories), "
                + "trash: \(event.totals.trashed), pending swipes: \(event.totals.pendingSwipes))"
        ]
    }
}

struct PendingReport: ChangeReport {
    private var last: Set<Int64> = []

    mutating func lines(for json: Data) throws -> [String] {
        let actions = try Reply.decode(PendingSwipes.self, from: json, of: ObservePendingSwipes.method).actions
        let new = actions.filter { !last.contains($0.id) }
        let now = Set(actions.map(\.id))
        let gone = last.subtracting(now).sorted()
        last = now
        let lines =
            gone.map { "- \($0)" }
            + new.map { "+ \($0.id)  \($0.action.rawValue) \(PlainText.neutralized($0.photoIdentifier))" }
        return ChangeLines.cut(lines) + ["pending: \(actions.count)"]
    }
}

struct TrashReport: ChangeReport {
    private var last: ObservedTrash?

    mutating func lines(for json: Data) throws -> [String] {
        let now = try Reply.decode(ObservedTrash.self, from: json, of: ObserveTrash.method)
        defer { last = now }
        let total = "trash: \(now.total)"
        guard let last else { return [total] }
        let (before, after) = (Set(last.photos.map(\.photo.id)), Set(now.photos.map(\.photo.id)))
        let gone = last.photos.filter { !after.contains($0.photo.id) && Self.isInside($0, now) }.map { "- \(line($0))" }
        let new = now.photos.filter { !before.contains($0.photo.id) && Self.isInside($0, last) }.map { "+ \(line($0))" }
        return ChangeLines.cut(gone + new) + [total]
    }

    /// As for a page of photos: what stands past its end may be in the trash all the same.
    private static func isInside(_ trashed: TrashedPhoto, _ page: ObservedTrash) -> Bool {
        guard page.next != nil, let end = page.photos.last else { return true }
        return (trashed.deletedAt, trashed.photo.id) >= (end.deletedAt, end.photo.id)
    }

    private func line(_ trashed: TrashedPhoto) -> String {
        "\(trashed.photo.id)  \(PlainText.neutralized(trashed.photo.displayName))"
    }
}

struct SettingsReport: ChangeReport {
    private var last: [String: JSONValue]?

    mutating func lines(for json: Data) throws -> [String] {
        let value = try Reply.decode(JSONValue.self, from: json, of: ObserveSettings.method)
        guard case .object(let settings) = value else { return [] }
        defer { last = settings }
        let names = Set(settings.keys).union(last?.keys.map { $0 } ?? [])
        return try names.sorted().filter { last == nil || last?[$0] != settings[$0] }.map { name in
            let value = try settings[name].map { String(decoding: try JSONText.encode($0), as: UTF8.self) }
            return "\(PlainText.neutralized(name)): \(PlainText.neutralized(value ?? "none"))"
        }
    }
}
