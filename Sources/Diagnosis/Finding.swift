import ServiceMesh

/// What one check has found: that all is well, or what is wrong and what to do about it.
package struct Finding: Sendable, Equatable {
    package enum Severity: String, Sendable, CaseIterable, Comparable {
        case ok
        /// Nothing is wrong; something could be better.
        case advice
        /// Something will go wrong, or a loss would be greater than it has to be.
        case warning
        /// Something is wrong now.
        case problem

        package static func < (one: Severity, other: Severity) -> Bool { one.rank < other.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// What it is about, in the order in which a person is told.
    package enum Area: String, Sendable, CaseIterable {
        case installation, permissions, keys, library, files, backups, machine

        var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
    }

    /// Of the check, and the same in every version: what scripts look for.
    package let id: String
    package let area: Area
    package let severity: Severity
    /// One sentence.
    package let what: String
    /// One sentence; absent where all is well.
    package let remedy: String?
    /// What to type, where that is one command.
    package let command: String?
    /// What `--fix` does about it; absent where that is nothing.
    package let repair: Repair?
    /// What was done about it, in a sentence.
    package var fixed: String?

    package init(
        _ id: String, _ area: Area, _ severity: Severity, _ what: String, remedy: String? = nil,
        command: String? = nil, repair: Repair? = nil
    ) {
        (self.id, self.area, self.severity, self.what) = (id, area, severity, what)
        (self.remedy, self.command, self.repair) = (remedy, command, repair)
    }

    /// That a check found nothing.
    package static func fine(_ id: String, _ area: Area, _ what: String) -> Finding { Finding(id, area, .ok, what) }

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(id), "area": .string(area.rawValue), "severity": .string(severity.rawValue),
            "what": .string(what),
        ]
        if let remedy { members["remedy"] = .string(remedy) }
        if let command { members["command"] = .string(command) }
        if let fixed { members["fixed"] = .string(fixed) }
        return .object(members)
    }
}

/// What is safe to do without asking: nothing is lost by it, and nobody else's is touched.
///
/// Rejected: removing a socket that nobody listens at. A daemon that starts just now may have taken its name, and whoever holds
/// the library's lock replaces it anyway.
package enum Repair: Sendable, Equatable {
    /// Takes rights from others.
    case mode(path: String, UInt32)
    /// Has the missing thumbnails made.
    case thumbnails
}
