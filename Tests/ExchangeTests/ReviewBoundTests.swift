import Foundation
import LibraryModel
import ServiceMesh
import SmilePile
import SQLiteCatalogue
import TestSupport
import Testing

/// How much one machine can tell of reviews, and what goes again with it.
@Suite(.timeLimit(.minutes(2))) struct ReviewBoundTests {
    private func uuid(_ number: Int) -> String { "0b1c2d3e-0000-4000-8000-" + String(format: "%012d", number) }

    /// Sessions with a decision each, about photos that are nowhere.
    private func history(_ numbers: Range<Int>, undone: Bool = false) -> ReviewChanges {
        let decisions = numbers.map { number in
            ReviewChanges.Decision(
                session: uuid(number), photo: uuid(number), digest: String(repeating: "ab", count: 32), action: .keep,
                decidedAt: Timestamp(milliseconds: Int64(number)))
        }
        return ReviewChanges(
            sessions: [], decisions: undone ? [] : decisions, undone: undone ? decisions : [], next: "", more: false)
    }

    private func decision(_ photo: Photo, _ action: SwipeAction, _ session: Int) -> ReviewChanges {
        let session = ReviewChanges.Session(
            id: uuid(session), startedAt: Timestamp(milliseconds: 1), endedAt: Timestamp(milliseconds: .init(session)))
        let decision = ReviewChanges.Decision(
            session: session.id, photo: photo.uuid, digest: photo.contentDigest, action: action,
            decidedAt: session.endedAt ?? session.startedAt)
        return ReviewChanges(sessions: [session], decisions: [decision], undone: [], next: "", more: false)
    }

    /// Rows of all that is told between machines.
    private func rows(_ house: ReviewNeighbours.House) async throws -> [Int] {
        try await house.library.catalogue.database.read { connection in
            try ["swipe_sessions", "swipe_actions", "swipe_undone", "swipe_session_changes"].map {
                try connection.value("SELECT count(*) FROM \($0)") ?? 0
            }
        }
    }

    private func setTaken(_ table: String, _ count: Int, _ house: ReviewNeighbours.House) async throws {
        try await house.library.catalogue.database.write {
            try $0.execute("UPDATE \(table) SET taken = ?", count)
        }
    }

    @Test func whoeverHasATokenCannotTellWithoutEnd() async throws {
        let street = try await ReviewNeighbours()
        let home = street.home
        let most = ReviewMachine.maximumTaken(photos: 4)
        #expect(most == 100_080)
        try await setTaken("swipe_machines", most - 400, home)
        func tell(_ changes: ReviewChanges) async throws -> TakenReviews {
            try await home.mesh.send(TakeHubReviews(token: street.token, changes: changes))
        }
        #expect(try await tell(history(0..<99)).decisions == 99)
        // A session and a decision for each; the same once more is nothing.
        #expect(try await tell(history(0..<99)) == .none)
        // Taken back, they are not given back: whoever did so could go on for ever.
        #expect(try await tell(history(0..<99, undone: true)).undone == 99)
        let before = try await rows(home)
        #expect(before == [99, 0, 99, 99])
        let error = await #expect(throws: MeshError.self) { _ = try await tell(history(99..<160)) }
        #expect(error?.shortage == .count && error?.message.contains("swipe unshare --forget") == true)
        #expect(try await rows(home) == before)
        #expect(try await tell(history(99..<100)).decisions == 1)
        // What is known is no more of it.
        #expect(try await tell(history(99..<100)) == .none)
        await street.close()
    }

    @Test func theProblemOfBothSaysWhatToDo() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        let most = ReviewMachine.maximumTaken(photos: 4)
        let session = try await laptop.start()
        try await laptop.decide(0, .keep, in: session)
        try await setTaken("swipe_machines", most, home)
        #expect(try await laptop.sync().failed == 1)
        let sending = try await laptop.mesh.send(ListReviewMachines()).machines[0].problem
        #expect(sending?.contains("swipe unshare") == true, "\(sending ?? "")")
        // The other way: what was joined tells too much.
        try await setTaken("swipe_machines", 0, home)
        try await setTaken("swipe_partners", most, laptop)
        try await home.decide(1, .keep, in: home.start())
        #expect(try await laptop.sync().failed == 1)
        let fetching = try await laptop.mesh.send(ListReviewMachines()).machines[0].problem
        #expect(fetching?.contains("leave --forget") == true, "\(fetching ?? "")")
        #expect(try await laptop.lastDecisions() == [.keep, nil, nil, nil])
        // By another invitation it begins anew.
        _ = try await laptop.mesh.send(JoinReviews(address: ReviewNeighbours.address, token: street.token))
        #expect(try await laptop.lastDecisions() == [.keep, .keep, nil, nil])
        await street.close()
    }

    @Test func whatCameFromAMachineGoesWithItAndNothingElse() async throws {
        let street = try await ReviewNeighbours()
        let home = street.home
        let photos = try await home.photos()
        let own = try await home.start()
        try await home.decide(0, .keep, in: own)
        try await home.decide(3, .favorite, in: own)
        let other = try await home.mesh.send(ShareReviews(name: "Tablet")).token
        _ = try await home.mesh.send(TakeHubReviews(token: other, changes: decision(photos[2], .keep, 5_001)))
        let kept = try await home.state()
        func tell(_ changes: ReviewChanges) async throws {
            _ = try await home.mesh.send(TakeHubReviews(token: street.token, changes: changes))
        }
        // Two about a photo, of which the later one is applied; then what waits.
        try await tell(decision(photos[1], .favorite, 5_002))
        try await tell(decision(photos[1], .trash, 5_003))
        #expect(try await home.mesh.send(ProcessSwipes()).trashed == 1)
        let now = Int(Timestamp.now().milliseconds)
        try await tell(decision(photos[0], .trash, now + 60_000))
        try await tell(decision(photos[2], .trash, 5_004))
        for part in 0..<3 { try await tell(history(part * 200..<part * 200 + 200)) }
        try await tell(history(600..<700, undone: true))
        #expect(try await home.lastDecisions() == [.trash, .trash, .favorite])
        let ended = try await home.mesh.send(UnshareReviews(id: street.machine.id, forget: true))
        #expect(ended.name == "Laptop")
        #expect(try await home.mesh.send(ListReviewMachines()).machines.map(\.name) == ["Tablet"])
        // What photos here rest on is still said: one is in the trash.
        let left = try await home.state()
        #expect(Set(left).isSuperset(of: kept) && left.count == kept.count + 2, "\(left)")
        #expect(left.contains { $0.contains("\(photos[1].contentDigest) trash") })
        #expect(try await home.lastDecisions() == [.keep, .keep, .favorite])
        #expect(try await rows(home) == [3, 4, 0, 3])
        #expect(try await home.mesh.send(ListPendingSwipes()).actions.isEmpty)
        await street.close()
    }

    @Test func whatCameFromAMachineThatWasJoinedGoesToo() async throws {
        let street = try await ReviewNeighbours()
        let (home, laptop) = (street.home, street.laptop)
        let there = try await home.start()
        try await home.decide(0, .trash, in: there)
        try await home.finish(there)
        let here = try await laptop.start()
        try await laptop.decide(1, .keep, in: here)
        let own = try await laptop.state()
        try await laptop.sync()
        #expect(try await laptop.state() != own)
        let joined = try await laptop.mesh.send(ListReviewMachines()).machines[0].id
        _ = try await laptop.mesh.send(LeaveReviews(id: joined, forget: true))
        #expect(try await laptop.state() == own)
        #expect(try await laptop.mesh.send(ListReviewMachines()).machines.isEmpty)
        #expect(try await laptop.lastDecisions() == [nil, .keep, nil, nil])
        // Who joins again is told all again.
        _ = try await laptop.mesh.send(JoinReviews(address: ReviewNeighbours.address, token: street.token))
        #expect(try await laptop.state() == home.state())
        await street.close()
    }
}
