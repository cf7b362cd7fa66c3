import LibraryModel

/// Whether what is sealed opens, and would after a loss.
enum KeyChecks {
    /// - Parameter isFileFaulty: whether the key file has a finding of its own, which says why the keys do not open.
    static func findings(_ status: KeyStatus, isFileFaulty: Bool) -> [Finding] {
        var findings: [Finding] = []
        switch status.state {
        case .unused: findings.append(.fine("keys", .keys, "Nothing was ever sealed: no key is needed yet."))
        case .ready: findings += [.fine("keys", .keys, "The keys of the sealed fields open."), copy(status)]
        case .locked where isFileFaulty: break
        case .locked:
            findings.append(
                Finding(
                    "keys", .keys, .problem,
                    status.problem ?? "The keys of the sealed fields do not open.",
                    remedy: "Put the key file back, or import the keys from where they were saved.",
                    command: "smilepile keys import FILE"))
        }
        if status.foreignValues > 0 {
            findings.append(
                Finding(
                    "keys-foreign", .keys, .advice,
                    "Sealed fields that came from another library do not open here: \(status.foreignValues).",
                    remedy: "Save the keys there and import them here.", command: "smilepile keys import FILE"))
        }
        return findings
    }

    private static func copy(_ status: KeyStatus) -> Finding {
        guard status.keys.contains(where: { $0.isActive && $0.exportedAt == nil }) else {
            return .fine("key-copy", .keys, "The active key was saved elsewhere.")
        }
        // What is sealed is lost with one file: that is no advice.
        return Finding(
            "key-copy", .keys, status.values > 0 ? .warning : .advice,
            "Nothing but the key file opens the sealed fields: its key was never saved.",
            remedy: "Save it to a place that is not this machine.", command: "smilepile keys export FILE")
    }
}
