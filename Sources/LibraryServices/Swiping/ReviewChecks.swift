import Foundation
import LibraryModel
import ServiceMesh

/// What another machine says was reviewed there, as far as it can be right. It may be whoever has its token.
enum ReviewChecks {
    /// Milliseconds by which clocks of two machines may differ.
    static let slack: Int64 = 3_600_000

    /// - Throws: `invalid_argument`.
    static func check(_ changes: ReviewChanges, at now: Timestamp) throws {
        let most = ReviewChanges.maximumCount
        guard max(changes.sessions.count, changes.decisions.count, changes.undone.count) <= most else {
            throw wrong("it has more than \(most) of a kind. Send less at a time")
        }
        guard changes.next.utf8.count <= ReviewCursor.maximumLength else { throw wrong("'next' is too long") }
        if let preferences = changes.preferences {
            guard Settings.leastSwipeThreshold...1 ~= preferences.swipeThreshold else {
                throw wrong("'swipeThreshold' is \(Settings.leastSwipeThreshold) to 1")
            }
            try check(preferences.changedAt, at: now)
        }
        for session in changes.sessions {
            try check(id: session.id, "a session")
            try check(session.startedAt, at: now)
            try session.endedAt.map { try check($0, at: now) }
        }
        for decision in changes.decisions + changes.undone {
            try check(id: decision.session, "a session")
            try check(id: decision.photo, "a photo")
            let isDigest = decision.digest.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            guard decision.digest.utf8.count == 64, isDigest else { throw wrong("a digest is none") }
            try check(decision.decidedAt, at: now)
        }
    }

    private static func wrong(_ what: String) -> MeshError {
        MeshError(.invalidArgument, "What the other machine says of reviews cannot be right: \(what).")
    }

    private static func check(id: String, _ owner: String) throws {
        guard id.utf8.count == 36, let uuid = UUID(uuidString: id), uuid.uuidString.lowercased() == id else {
            throw wrong("\(owner) has no id of its own")
        }
    }

    /// Of several decisions the latest counts, so one from the future would count for ever.
    private static func check(_ time: Timestamp, at now: Timestamp) throws {
        guard time.milliseconds >= 0 else { throw wrong("a time is none") }
        guard time.milliseconds <= now.milliseconds + slack else {
            throw MeshError(
                .invalidArgument,
                "Something was reviewed at \(time), which is in the future. Set the clocks of both machines. What "
                    + "a wrong clock has left goes, once it is processed, by a later date: smilepile swipe forget --before DATE"
            )
        }
    }
}
