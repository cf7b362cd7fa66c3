import Foundation
import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh

/// The keys: how they stand, the way out of the house and back, and the change to a new one.
extension SealedFieldStore {
    func status() async throws -> KeyStatus {
        let (keys, totals, counts) = try await catalogue.read { transaction in
            let sealedFields = transaction.sealedFields
            return (try sealedFields.keys(), try sealedFields.totals(), try sealedFields.counts())
        }
        var state = KeyState.ready
        var problem: String?
        do {
            if try await fields.keyring() == nil { state = .unused }
        } catch {
            state = .locked
            problem = MeshError(describing: error).message
        }
        let known = Set(keys.map(\.id))
        return KeyStatus(
            state: state, keyFile: fields.keyFilePath, problem: problem,
            keys: keys.map { key in
                KeySummary(
                    id: key.id, isActive: key.isActive, createdAt: key.createdAt, values: counts[key.id] ?? 0,
                    exportedAt: key.exportedAt)
            },
            values: totals.values, photos: totals.photos,
            foreignValues: counts.filter { !known.contains($0.key) }.values.reduce(0, +))
    }

    func export(_ request: ExportKeys) async throws -> ExportedKeys {
        let keyring = try await requiredKeyring()
        // The active one first: it is the one that becomes active where these are imported into an empty library.
        let keys = keyring.all.sorted { $0.id == keyring.active && $1.id != keyring.active }
        let text = try await deriver.export(keys, passphrase: request.passphrase)
        let ids = Set(keys.map(\.id.description))
        try await catalogue.write { transaction in
            // A handful: each rotation adds one, and removes those that nothing is sealed with.
            for var key in try transaction.sealedFields.keys() where ids.contains(key.id) {
                key.exportedAt = .now()
                try transaction.sealedFields.store(key)
            }
        }
        return ExportedKeys(text: text, keys: keys.count)
    }

    func importKeys(_ request: ImportKeys) async throws -> ImportedKeys {
        let keys = try await deriver.open(request.text, passphrase: request.passphrase)
        let count = try await fields.takeOver(keys)
        return ImportedKeys(imported: count, known: keys.count - count)
    }

    /// - Throws: `failed_precondition` where there are no keys, or they do not open.
    func requiredKeyring() async throws -> Keyring {
        if let keyring = try await fields.keyring() { return keyring }
        throw MeshError(
            .failedPrecondition,
            "There are no keys yet: they are made when the first sealed field is written (smilepile photos detail).")
    }

    // MARK: A new key

    /// How far a job has come; kept after each page.
    private struct Progress: Codable {
        var key: String
        var uuid = ""
        var field = ""
        var resealed = 0
        var values: Int64 = 0

        var last: SealedRow.Name { SealedRow.Name(uuid: uuid, field: field) }
    }

    private static let unreadable = "unreadable"

    /// The new key is the active one from the beginning, so that what is written meanwhile needs no second sealing; until the
    /// end both open. Each page is one transaction, which changes only what is still as it was read. A stop between two pages
    /// leaves values of both keys, and a kill before the first checkpoint one more key, which goes at the end.
    func rotate(_ job: Job) async throws -> RotationReceipt {
        var progress = try Self.progress(of: job)
        do {
            if progress == nil {
                let key = try await fields.activateNewKey()
                progress = Progress(key: key.description)
                try await job.keep(checkpoint: JSONEncoder().encode(progress))
            }
            if var moving = progress {
                try await reseal(job, &moving)
                progress = moving
            }
            return receipt(job, progress, removedKeys: try await removeUnusedKeys())
        } catch  where job.isCancelled {
            return receipt(job, try Self.progress(of: job), removedKeys: 0)
        }
    }

    /// In one transaction with the key of scheduled backups and the tokens of other machines, which lie under a key of the library as
    /// sealed fields do: where the old one goes alone, no backup is made any more, and no machine is asked.
    ///
    /// What a backup without a passphrase has sealed is under the keys of when it was made: as long as any backup is known, or
    /// is being made, they stay, or what is said about the children would come back from none of them.
    /// - Returns: how many.
    private func removeUnusedKeys() async throws -> Int {
        while true {
            let keyring = try await requiredKeyring()
            let removed = try await uncancelled { [catalogue] in
                try await catalogue.write { transaction -> Int? in
                    // Another rotation has begun: with its key.
                    guard try transaction.sealedFields.activeKey() == keyring.active.description else { return nil }
                    if var schedule = try transaction.madeBackups.schedule(),
                        let key = try? schedule.key?.rewrapped(keyring)
                    {
                        schedule.key = key
                        try transaction.madeBackups.setSchedule(schedule)
                    }
                    try SealedTokens.sealAll(keyring, in: transaction)
                    // Not by when they were made: clocks are put back, and a key costs nothing.
                    let isNeeded =
                        try !transaction.unfinishedBackups.all().isEmpty
                        || !transaction.madeBackups.all().isEmpty
                    return try isNeeded ? 0 : transaction.sealedFields.removeUnusedKeys()
                }
            }
            fields.forget()
            if let removed { return removed }
        }
    }

    private static func progress(of job: Job) throws -> Progress? {
        try job.checkpoint.map { try JSONDecoder().decode(Progress.self, from: $0) }
    }

    private func receipt(_ job: Job, _ progress: Progress?, removedKeys: Int) -> RotationReceipt {
        let unreadable = job.snapshot.outcomes[Self.unreadable] ?? 0
        return RotationReceipt(
            key: progress?.key ?? "", resealed: progress?.resealed ?? 0, unreadable: unreadable,
            removedKeys: removedKeys,
            ending: job.isCancelled ? .cancelled : unreadable > 0 ? .completeWithProblems : .complete)
    }

    private func reseal(_ job: Job, _ progress: inout Progress) async throws {
        let total = try await catalogue.read { try $0.sealedFields.totals().values }
        let told = try await job.recordedItems()
        job.begin(phase: "sealing with the new key", items: max(Int64(total), progress.values))
        job.advance(items: progress.values)
        while true {
            try await job.mayContinue()
            let last = progress.last
            let page = try await catalogue.read { try $0.sealedFields.page(after: last, limit: Self.batch) }
            guard let end = page.last else { return }
            let keyring = try await requiredKeyring()
            let made = try await pool.run { Self.resealed(page, keyring) }
            let count = try await uncancelled { [catalogue] in
                try await catalogue.write { transaction -> Int? in
                    // Another rotation has begun: once more, with its key.
                    guard try transaction.sealedFields.activeKey() == keyring.active.description else { return nil }
                    return try transaction.sealedFields.reseal(made.rows)
                }
            }
            guard let count else {
                fields.forget()
                continue
            }
            try await tell(made.unreadable, told, job)
            progress.key = keyring.active.description
            (progress.uuid, progress.field) = (end.name.uuid, end.name.field)
            progress.resealed += count
            progress.values += Int64(page.count)
            job.advance(items: Int64(page.count))
            try await job.keep(checkpoint: JSONEncoder().encode(progress))
        }
    }

    /// Takes a page that is under the old key; what is under the new one already stays.
    private static func resealed(
        _ page: [SealedRow], _ keyring: Keyring
    ) -> (rows: [(row: SealedRow, sealed: [UInt8])], unreadable: [String]) {
        var rows: [(row: SealedRow, sealed: [UInt8])] = []
        var unreadable: [String] = []
        for row in page {
            let place = SealedFields.place(row.name)
            guard let plaintext = try? keyring.open(row.sealed, at: place) else {
                unreadable.append(row.name.uuid)
                continue
            }
            if (try? SealedValue(row.sealed))?.keyID != keyring.active {
                rows.append((row, keyring.seal(plaintext, at: place)))
            }
        }
        return (rows, unreadable)
    }

    /// One line for a photo, which does not say the field.
    private func tell(_ uuids: [String], _ told: RecordedItems, _ job: Job) async throws {
        guard !uuids.isEmpty else { return }
        let places = try await catalogue.read { try $0.sealedFields.places(of: uuids) }
        for (uuid, place) in zip(uuids, places) {
            let item = place.map { "photo \($0.id)" } ?? "a photo in the trash (\(uuid))"
            guard !told.contains(item) else { continue }
            job.record(
                ReceiptLine(item: item, outcome: Self.unreadable, detail: "a sealed field does not open, and stays"))
        }
    }
}

extension GetKeyStatus: HandledMessage {
    public func perform(on service: SealedFieldStore) async throws -> KeyStatus { try await service.status() }
}

extension ExportKeys: HandledMessage {
    public func perform(on service: SealedFieldStore) async throws -> ExportedKeys { try await service.export(self) }
}

extension ImportKeys: HandledMessage {
    public func perform(on service: SealedFieldStore) async throws -> ImportedKeys {
        try await service.importKeys(self)
    }
}

extension RotateKeys: HandledJob {
    public typealias Service = SealedFieldStore
    public static var resumption: JobResumption { .onward }

    public func prepare(on service: SealedFieldStore) async throws { _ = try await service.requiredKeyring() }

    /// A key file on a stick that is not plugged in is no reason to give up.
    public func prepareAgain(on service: SealedFieldStore, job: Job) async throws {
        do {
            try await prepare(on: service)
        } catch let error as MeshError where error.status == .failedPrecondition {
            throw JobObstacle(error.message)
        }
    }

    public func run(on service: SealedFieldStore, job: Job) async throws -> RotationReceipt {
        try await service.rotate(job)
    }
}
