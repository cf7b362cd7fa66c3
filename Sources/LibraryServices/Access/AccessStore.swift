import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh

/// Whom the library is open to: the mode and the PIN, kept in the catalogue.
///
/// One call at a time (``admission``): two who guess wait for each other, and the memory that a hash takes is taken once.
public actor AccessStore: MeshService {
    public static let serviceName = "AccessStore"
    public static let admission = AdmissionLimit(concurrent: 1, queued: 64)
    public static var messages: MessageList<AccessStore> {
        GetMode.self
        SetMode.self
        GetPINStatus.self
        SetPIN.self
        ChangePIN.self
        ClearPIN.self
        Unlock.self
        Lock.self
    }

    private let catalogue: any Catalogue
    /// Who is at the doors is told there what changes.
    private let access: LibraryAccess
    private let deriver: KeyDeriver
    private let clock: BootClock
    /// Hashed in the place of what cannot be a PIN, so that its length does not show in the time that the answer takes.
    private static let nobodysPIN: [UInt8] = []

    package init(
        catalogue: any Catalogue, access: LibraryAccess = LibraryAccess(), deriver: KeyDeriver,
        clock: BootClock = .system
    ) {
        self.catalogue = catalogue
        self.access = access
        self.deriver = deriver
        self.clock = clock
    }

    public func start(on mesh: Mesh) async throws {
        await access.begin(try await catalogue.read { try $0.access.mode() })
    }

    // MARK: The mode

    func mode() async throws -> ModeStatus {
        ModeStatus(mode: try await catalogue.read { try $0.access.mode() })
    }

    func set(_ request: SetMode) async throws -> ModeStatus {
        let mode = request.mode
        do {
            try await catalogue.write { transaction in
                guard try mode == .parent || transaction.access.pin() != nil else {
                    throw MeshError(
                        .failedPrecondition,
                        "Nobody could leave kids mode without a PIN. Set one first: smilepile pin set")
                }
                try transaction.access.setMode(mode)
            }
        } catch {
            // Nobody knows whether it is on disk: then the doors are as a restart might find them, closed.
            if mode == .kids, MeshError(describing: error).mayHaveBeenStored { await access.begin(.kids) }
            throw error
        }
        await access.begin(mode)
        return ModeStatus(mode: mode)
    }

    // MARK: The PIN

    func status() async throws -> PINStatus {
        let clock = clock
        let (caller, isParent) = (Self.caller, CallContext.current.map { $0.originalRole >= .parent } ?? true)
        return try await catalogue.read { transaction in
            guard let record = try transaction.access.pin() else { return PINStatus(isSet: false) }
            let left = PINDelay.left(for: caller, of: record, at: clock.now())
            return PINStatus(
                isSet: true, failures: record.tries[caller]?.failures ?? 0, retryAfterMs: left > 0 ? left : nil,
                guesses: isParent ? try Self.guesses(record, \.failures, transaction) : [])
        }
    }

    func set(_ request: SetPIN) async throws -> PINStatus {
        let hash = try await hash(request.pin.validated())
        return try await catalogue.write { transaction in
            guard try transaction.access.pin() == nil else {
                throw MeshError(.alreadyExists, "There is a PIN already. Change it: smilepile pin change")
            }
            try transaction.access.store(PINRecord(hash: hash))
            return PINStatus(isSet: true)
        }
    }

    func change(_ request: ChangePIN) async throws -> PINStatus {
        let new = try request.newPIN.validated()
        try await check(request.pin)
        let hash = try await hash(new)
        return try await catalogue.write { transaction in
            try transaction.access.store(PINRecord(hash: hash))
            return PINStatus(isSet: true)
        }
    }

    func clear(_ request: ClearPIN) async throws -> PINStatus {
        try await catalogue.read { try Self.requireParentMode($0) }
        try await check(request.pin)
        return try await catalogue.write { transaction in
            try Self.requireParentMode(transaction)
            try transaction.access.store(nil)
            return PINStatus(isSet: false)
        }
    }

    private static func requireParentMode(_ transaction: any CatalogueTransaction) throws {
        guard try transaction.access.mode() == .parent else {
            throw MeshError(
                .failedPrecondition, "Nobody could leave kids mode without a PIN. Leave it first: smilepile mode parent"
            )
        }
    }

    func unlock(_ request: Unlock) async throws -> Unlocked {
        try requireRoom()
        return Unlocked(
            idleSeconds: Int(UnlockLimits.idle.components.seconds),
            totalSeconds: Int(UnlockLimits.total.components.seconds), guesses: try await check(request.pin))
    }

    func lock(_ request: Lock) async {
        if request.everywhere == true { await access.tell(.endOfGrants) }
    }

    /// Refuses a PIN on a device that gets nothing by it, before anybody looks at it: a child's device is no place to find it out.
    private func requireRoom() throws {
        guard let context = CallContext.current, let id = context.caller, let device = access.role(ofDevice: id),
            device.ceiling < .parent, context.originalRole >= device.ceiling
        else { return }
        throw MeshError(
            .failedPrecondition,
            device == .child
                ? "This device is a child's, and a PIN makes no more of it. Change it on a parent's: Devices."
                : "This device looks on, and a PIN makes no more of it. Change it on a parent's: Devices.",
            details: ["deviceRole": .string(device.rawValue)])
    }

    /// The device that asks; empty for this machine.
    private static var caller: String { CallContext.current?.caller ?? "" }

    /// Where wrong ones came from, most of them first.
    private static func guesses(
        _ record: PINRecord, _ count: KeyPath<PINTries, Int>, _ transaction: any CatalogueTransaction
    ) throws -> [PINGuesses] {
        let tries = record.tries.filter { $0.value[keyPath: count] > 0 }
        guard !tries.isEmpty else { return [] }
        let names = try names(transaction)
        return tries.map { id, tries in
            PINGuesses(
                device: id.isEmpty ? nil : id, name: names[id], count: tries[keyPath: count],
                lastAt: tries.lastFailedAt ?? Timestamp(milliseconds: 0))
        }.sorted { ($1.count, $0.device ?? "") < ($0.count, $1.device ?? "") }
    }

    private static func names(_ transaction: any CatalogueTransaction) throws -> [String: String] {
        Dictionary(try transaction.devices.all().map { ($0.device.id, $0.device.name) }) { first, _ in first }
    }

    /// Returns where it is the PIN: which devices guessed since the last right one.
    ///
    /// The try is on disk as a wrong one before it is looked at, so that a kill in between, however timed, gives no try
    /// away. Only a right one takes it back.
    @discardableResult
    private func check(_ pin: PIN) async throws -> [PINGuesses] {
        let (clock, caller) = (clock, Self.caller)
        let record = try await catalogue.write { transaction in
            guard var record = try transaction.access.pin() else {
                throw MeshError(.failedPrecondition, "There is no PIN. Set one: smilepile pin set")
            }
            let now = clock.now()
            let left = PINDelay.left(for: caller, of: record, at: now)
            guard left == 0 else { throw Self.tooEarly(left) }
            // What a device has tried that is not paired any more is nobody's.
            let names = try Self.names(transaction)
            record.tries = record.tries.filter { $0.key.isEmpty || names[$0.key] != nil }
            record.tries[caller, default: PINTries()].fail(at: now)
            record.failures = min(record.failures, Int(Int32.max) - 1) + 1
            record.lastFailure = now
            try transaction.access.store(record)
            return record
        }
        let secret = pin.canonical
        let deriver = deriver
        let isRight = try await Self.deriving {
            try await deriver.matches(secret ?? Self.nobodysPIN, PasswordHash(text: record.hash)) && secret != nil
        }
        guard isRight else { throw Self.wrong(PINDelay.left(for: caller, of: record, at: clock.now())) }
        return try await catalogue.write { transaction in
            guard var record = try transaction.access.pin() else { return [] }
            record.failures = 0
            record.lastFailure = nil
            // This try was counted before it was looked at.
            record.tries[caller]?.untold -= 1
            let guesses = try Self.guesses(record, \.untold, transaction)
            record.tries = record.tries.mapValues { $0.told() }
            record.tries[caller] = PINTries(hasUnlocked: true)
            try transaction.access.store(record)
            return guesses
        }
    }

    private func hash(_ secret: [UInt8]) async throws -> String {
        let deriver = deriver
        return try await Self.deriving { try await deriver.hash(secret).text }
    }

    private static func deriving<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let failure as PasswordHash.Failure {
            switch failure {
            case .outOfMemory:
                throw MeshError(
                    .resourceExhausted, "There is not enough memory to check a PIN just now. Try again in a moment.")
            case .notAHash:
                throw MeshError(
                    .dataLoss,
                    "What the library keeps of its PIN is damaged. Stop the daemon and set a new one: "
                        + "smilepile pin reset --offline")
            }
        }
    }

    /// Says the same of a right PIN and a wrong one, since nobody has looked at it.
    private static func tooEarly(_ left: Int64) -> MeshError {
        MeshError(
            .resourceExhausted, "Too many wrong PINs. The next one is taken in \(seconds(left)).",
            details: ["retryAfterMs": .integer(left)])
    }

    private static func wrong(_ left: Int64) -> MeshError {
        left == 0
            ? MeshError(.unauthenticated, "That is not the PIN. Try again.")
            : MeshError(
                .unauthenticated, "That is not the PIN. The next one is taken in \(seconds(left)).",
                details: ["retryAfterMs": .integer(left)])
    }

    /// Rounded up, so that who waits for so long has waited long enough.
    private static func seconds(_ milliseconds: Int64) -> String {
        let seconds = (milliseconds + 999) / 1000
        return seconds <= 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
    }
}

extension PINTries {
    fileprivate mutating func fail(at now: BootTime) {
        failures = min(failures, Int(Int32.max) - 1) + 1
        untold = min(untold, Int(Int32.max) - 1) + 1
        lastFailure = now
        lastFailedAt = .now()
    }

    fileprivate func told() -> PINTries {
        var tries = self
        tries.untold = 0
        return tries
    }
}

extension GetPINStatus: HandledMessage {
    public func perform(on service: AccessStore) async throws -> PINStatus { try await service.status() }
}

extension SetPIN: HandledMessage {
    public func perform(on service: AccessStore) async throws -> PINStatus { try await service.set(self) }
}

extension ChangePIN: HandledMessage {
    public func perform(on service: AccessStore) async throws -> PINStatus { try await service.change(self) }
}

extension ClearPIN: HandledMessage {
    public func perform(on service: AccessStore) async throws -> PINStatus { try await service.clear(self) }
}

extension Unlock: HandledMessage {
    public func perform(on service: AccessStore) async throws -> Unlocked { try await service.unlock(self) }
}

extension Lock: HandledMessage {
    public func perform(on service: AccessStore) async throws -> Done {
        await service.lock(self)
        return Done()
    }
}

extension GetMode: HandledMessage {
    public func perform(on service: AccessStore) async throws -> ModeStatus { try await service.mode() }
}

extension SetMode: HandledMessage {
    public func perform(on service: AccessStore) async throws -> ModeStatus { try await service.set(self) }
}
