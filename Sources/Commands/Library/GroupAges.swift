import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

/// How old what is shown of groups is that other machines keep.
extension CommandTable {
    /// Seconds until it is said though nothing is wrong: machines are asked every quarter of an hour.
    private static let usualAge: Int64 = 3600

    /// A line for each machine that was last asked some time ago, or with which something is wrong.
    static func show(ageOf hubs: [GroupHub], _ session: Session, at now: Timestamp = .now()) {
        for hub in hubs {
            let age = hub.syncedAt.map { max(0, now.milliseconds - $0.milliseconds) / 1000 }
            guard hub.problem != nil || age.map({ $0 >= usualAge }) ?? true else { continue }
            let since = age.map { "As of \(text($0)) ago" } ?? "Never up to date"
            let why = hub.problem.map(PlainText.neutralized) ?? "It was not asked since."
            session.console.message("\(since): \(hub.address). \(why)")
        }
    }

    private static func text(_ seconds: Int64) -> String {
        switch seconds {
        case ..<3600: Figures.count(seconds / 60, "minute")
        case ..<172_800: Figures.count(seconds / 3600, "hour")
        default: Figures.count(seconds / 86_400, "day")
        }
    }
}

extension LibraryConnection {
    /// The machines that keep groups.
    func hubs(of groups: [Group]) async throws -> [GroupHub] {
        let addresses = Set(groups.compactMap(\.hub))
        guard !addresses.isEmpty else { return [] }
        return try await send(ListGroupHubs()).value.hubs.filter { addresses.contains($0.address) }
    }
}

extension Session {
    static func json(of hubs: [GroupHub]) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: try JSONEncoder().encode(hubs))
    }

    /// As JSON, with the machines that it is from as `hubs`: when each was last asked, and what is wrong with it.
    package func show<Value>(_ answer: Answer<Value>, with hubs: [GroupHub]) throws {
        var members = try JSONDecoder().decode([String: JSONValue].self, from: answer.json)
        members["hubs"] = try Self.json(of: hubs)
        try show(json: .object(members))
    }
}
