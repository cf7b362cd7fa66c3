import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Other machines of the same person: who is let in, and what comes from there.
extension SwipeSessionRecorder {
    private static let tokenBytes = 32
    /// Milliseconds between two notes of when a machine was seen.
    private static let seenPrecision: Int64 = 60_000

    // MARK: Letting in

    func share(_ request: ShareReviews) async throws -> SharedReviews {
        let name = try Self.validated(name: request.name)
        let token = BearerSecret.random(bytes: Self.tokenBytes)
        let machine = ReviewMachine(
            id: UUID().uuidString.lowercased(), name: name, isJoined: false, addedAt: clock.now(), seenAt: nil)
        try await catalogue.write { transaction in
            let there = try transaction.reviewMachines.machines()
            let key = CategoryName.key(name)
            guard !there.contains(where: { CategoryName.key($0.name) == key }) else {
                throw MeshError(
                    .alreadyExists,
                    "'\(name)' is let in already. Choose another name, or end that first: smilepile swipe unshare")
            }
            guard there.count < ReviewMachine.maximumCount else {
                throw MeshError(
                    short: .count,
                    "\(there.count) machines are let in, which is the most. End one: smilepile swipe unshare")
            }
            try transaction.reviewMachines.add(machine, key: key, token: token.digest)
        }
        return SharedReviews(machine: machine, token: token.text)
    }

    private static func validated(name: String) throws -> String {
        let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
        let isShown = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: !scalar.properties.isBidiControl
            }
        }
        guard ReviewMachine.nameLength.contains(name.unicodeScalars.count), isShown else {
            throw MeshError(
                .invalidArgument, "A machine's name has 1 to \(ReviewMachine.nameLength.upperBound) characters.")
        }
        return name
    }

    func machines() async throws -> ReviewMachineList {
        try await catalogue.read { try $0.reviewMachines.list() }
    }

    func unshare(_ request: UnshareReviews) async throws -> ReviewMachine {
        let id = request.id.lowercased()
        let machine = try await catalogue.write { transaction in
            guard let machine = try transaction.reviewMachines.machines().first(where: { $0.id == id }) else {
                throw MeshError(
                    .notFound, "No machine is let in as \(id.prefix(40)). See which are: smilepile swipe machines")
            }
            // It stays until all is forgotten: of one that is gone nobody could say what is left.
            if request.forget == true {
                try transaction.reviewMachines.revoke(machine: id)
            } else {
                _ = try transaction.reviewMachines.remove(machine: id)
            }
            return machine
        }
        if request.forget == true {
            try await catalogue.forgetArrived(from: id)
            _ = try await catalogue.write { try $0.reviewMachines.remove(machine: id) }
        }
        return machine
    }

    // MARK: What they ask

    /// Whose token it is.
    /// - Throws: `unauthenticated`, whatever is wrong with it.
    private static func machine(
        _ token: String, _ transaction: any CatalogueTransaction
    ) throws -> ReviewMachine {
        guard let secret = BearerSecret(token, bytes: tokenBytes),
            let machine = try transaction.reviewMachines.machine(token: secret.digest)
        else {
            throw MeshError(.unauthenticated, "This token is not valid, or not any more. Ask for a new invitation.")
        }
        return machine
    }

    func hubReviews(_ request: ListHubReviews) async throws -> ReviewChanges {
        let (machine, changes) = try await catalogue.read { transaction in
            // The token first: nobody without one learns what a cursor is like.
            let machine = try Self.machine(request.token, transaction)
            let cursor = try ReviewCursor(request.after)
            var changes = try transaction.reviews.changes(
                after: cursor, except: machine.id, limit: ReviewChanges.maximumCount)
            changes.preferences = try transaction.settings.reviewPreferences()
            return (machine, changes)
        }
        let now = clock.now()
        if abs(now.milliseconds - (machine.seenAt?.milliseconds ?? 0)) > Self.seenPrecision {
            try await catalogue.write { try $0.reviewMachines.noteUse(of: machine.id, at: now) }
        }
        return changes
    }

    func takeHubReviews(_ request: TakeHubReviews) async throws -> TakenReviews {
        // The token first: nobody without one learns what is right about the rest.
        _ = try await catalogue.read { try Self.machine(request.token, $0) }
        let (changes, now) = (request.changes, clock.now())
        return try await merge(changes) { transaction in
            // It may have been taken back since.
            let machine = try Self.machine(request.token, transaction)
            if !changes.more { try transaction.settings.setLastSyncDate(now) }
            return machine.id
        }
    }

    /// Enters what another machine tells. With its last part, what has come from it and has an end is applied where finishing
    /// applies: not before, since a later decision may be in a later part.
    /// - Parameter source: which machine it is; asked in the transaction that enters it.
    func merge(
        _ changes: ReviewChanges, from source: @escaping @Sendable (any CatalogueTransaction) throws -> String
    ) async throws -> TakenReviews {
        try ReviewChecks.check(changes, at: clock.now())
        let (machine, taken) = try await catalogue.write { transaction in
            let machine = try source(transaction)
            try changes.preferences.map(transaction.settings.take)
            return (machine, changes.isEmpty ? .none : try Self.merge(changes, from: machine, in: transaction))
        }
        if !changes.more { try await applyArrived(from: machine) }
        return taken
    }

    /// - Throws: `resource_exhausted` where a machine has told more than is taken of one; what is known already is no more.
    private static func merge(
        _ changes: ReviewChanges, from machine: String, in transaction: any CatalogueTransaction
    ) throws -> TakenReviews {
        let before = try transaction.reviews.countTaken(from: machine)
        let taken = try transaction.reviews.merge(changes, from: machine)
        let after = try transaction.reviews.countTaken(from: machine)
        guard after > before else { return taken }
        let most = ReviewMachine.maximumTaken(photos: try transaction.photos.totals().photos)
        guard after <= most else {
            throw MeshError(
                short: .count,
                "\(most) sessions and decisions are taken from one machine, and this one has told more. If it is yours, end it and "
                    + "begin anew: smilepile swipe unshare and share, or leave and join. If it is not, remove what came from it: "
                    + "smilepile swipe unshare --forget, or leave --forget")
        }
        return taken
    }

    private func applyArrived(from source: String) async throws {
        while true {
            try Task.checkCancellation()
            let now = clock.now()
            let isLast = try await catalogue.write { transaction in
                guard try transaction.settings.settings().autoProcessActions else { return true }
                let (count, effective) = try transaction.reviews.processArrived(from: source, limit: Self.batch)
                _ = try Self.apply(effective, at: now, in: transaction)
                return count < Self.batch
            }
            if isLast { return }
        }
    }
}

extension ShareReviews: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> SharedReviews {
        try await service.share(self)
    }
}

extension ListReviewMachines: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> ReviewMachineList {
        try await service.machines()
    }
}

extension UnshareReviews: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> ReviewMachine {
        try await service.unshare(self)
    }
}

extension ListHubReviews: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> ReviewChanges {
        try await service.hubReviews(self)
    }
}

extension TakeHubReviews: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> TakenReviews {
        try await service.takeHubReviews(self)
    }
}

extension MergeReviews: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> TakenReviews {
        try await service.merge(changes) { [source] _ in source }
    }
}
