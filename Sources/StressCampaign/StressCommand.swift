import BenchSupport
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

/// `smilepile-bench stress`: a family of clients that do everything at once and behave badly, and a daemon that has to
/// account for all of it.
///
/// Each client's requests follow from the seed; how they meet is the machine's. It fails where a request has no reply or
/// two, where the daemon's counts and the clients' do not belong together, where a reply says `internal` or
/// `data_loss`, and where the library afterwards does not hold what was acknowledged.
package struct StressCommand {
    package static let name = "stress"
    package static let summary = "mixed load on a daemon, with all kinds of trouble, and the accounts of it"
    package static let options = [
        Arguments.Option("seconds", "N", "how long clients go on (60)"),
        Arguments.Option("seed", "S", "the same seed makes the same requests (1)"),
        Arguments.Option("clients", "C", "at once, 1 to 120 (32)"),
    ]

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    let seconds: Int
    let seed: UInt64
    let clients: Int

    package init(seconds: Int, seed: UInt64, clients: Int) {
        self.seconds = seconds
        self.seed = seed
        self.clients = clients
    }

    package init(_ arguments: Arguments) throws {
        seconds = try arguments.number("seconds", in: 1...86_400) ?? 60
        seed = UInt64(try arguments.number("seed", in: 0...Int.max) ?? 1)
        clients = try arguments.number("clients", in: 1...120) ?? 32
    }

    /// - Throws: ``Wrong`` where anything does not close.
    package func run(in work: WorkFolder) async throws {
        let daemon = try StressDaemon(in: work)
        defer { daemon.endNow() }
        let observer = AccountedConnection(name: "observer", socket: daemon.socket)
        try observer.open()
        let backup = try warmUp(daemon, observer)
        let before = daemon.facts

        let descriptions = try observer.ask(Discover()).methods
        let discovered = DiscoveredMethods(descriptions, known: StressOperation.methods)
        let shared = StressShared(discovered: discovered, backup: backup)
        note("stress: \(clients) clients for \(seconds) s, seed \(seed)")
        let disturber = StressDisturber(daemon: daemon, seed: seed, shared: shared)
        let family = try makeClients(daemon, shared)
        await letRun(family, disturber, shared)

        var ledger = observer.ledger
        var accounts: StressAccounts?
        var problems: [String] = []
        var after = before
        do {
            // A connection that was open when kids mode began is a kid's.
            observer.close()
            try observer.open()
            try endJobs(observer)
            let statistics = try settle(observer, daemon)
            after = daemon.facts
            observer.close()
            ledger = observer.ledger
            ledger.merge(disturber.connection.ledger)
            for client in family { ledger.merge(client.connection.ledger) }
            accounts = StressAccounts(
                ledger, statistics,
                observations: Set(descriptions.filter { $0.kind == .observation }.map(\.name)))
            try daemon.stop()
        } catch {
            problems.append("\(error)")
            daemon.endNow()
            problems.append("the daemon's last words: \(daemon.words)")
            for client in family { ledger.merge(client.connection.ledger) }
        }
        problems = ledger.failures + problems + (accounts?.problems ?? [])
        if after.descriptors > before.descriptors + 8 {
            problems.append("the daemon has \(after.descriptors) descriptors and had \(before.descriptors)")
        }
        for description in descriptions
        where ledger[description.name].sent == 0 && discovered.leftOut[description.name] == nil {
            problems.append("\(description.name) was never asked")
        }
        let check = try await LibraryCheck.run(
            at: daemon.library, beliefs: family.map(\.beliefs), withoutThumbnail: ledger.withoutThumbnail)
        problems += check.problems
        guard let accounts else { throw Wrong(description: problems.joined(separator: "\n")) }
        print(
            StressReport(
                seed: seed, seconds: seconds, clients: clients, ledger: ledger, accounts: accounts,
                leftOut: discovered.leftOut, disturber: disturber, before: before, after: after, check: check,
                problems: problems
            ).text)
        if !problems.isEmpty { throw Wrong(description: "seed \(seed): \(problems.count) things are wrong, see above") }
    }

    // MARK: Before

    /// A first album, so that there is something to look at, and so that helpers and readers are there before anything is
    /// counted.
    /// - Returns: a backup of it.
    private func warmUp(_ daemon: StressDaemon, _ observer: AccountedConnection) throws -> String {
        var random = SeededChoices(seed: seed, -2)
        let sources = try ImportSources(
            folder: daemon.folder + "/first", pictures: try ImportSources.pictures(seed: seed), label: "first \(seed)")
        let folders = try (0..<20).map { _ in try sources.make(&random) }
        let started = try observer.ask(ImportPhotos(paths: folders))
        let job = try observer.ask(WaitForJob(job: started.job))
        guard job.state == .finished else { throw Wrong(description: "the first import ended as \(job.state)") }
        _ = try observer.ask(SearchPhotos(limit: 1000))
        let backup = daemon.folder + "/first.zip"
        let saving = try observer.ask(CreateBackup(path: backup))
        _ = try observer.ask(WaitForJob(job: saving.job))
        return backup
    }

    private func makeClients(_ daemon: StressDaemon, _ shared: StressShared) throws -> [StressClient] {
        let pictures = try ImportSources.pictures(seed: seed)
        return try (0..<clients).map { number in
            StressClient(
                number, of: clients, plan: StressPlan(seed: seed, client: number), socket: daemon.socket,
                sources: try ImportSources(
                    folder: daemon.folder + "/client-\(number)", pictures: pictures, label: "\(seed)/\(number)"),
                shared: shared)
        }
    }

    // MARK: Meanwhile

    /// Runs everybody for the time asked for, and returns when all are back.
    private func letRun(_ family: [StressClient], _ disturber: StressDisturber, _ shared: StressShared) async {
        await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
            let group = DispatchGroup()
            /// Unchecked: each is touched by its own thread until the group has ended, and by the caller afterwards.
            struct Body: @unchecked Sendable {
                let run: () -> Void
            }
            for body in family.map({ client in Body { client.run() } }) + [Body { disturber.run() }] {
                group.enter()
                Thread.detachNewThread {
                    body.run()
                    group.leave()
                }
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { shared.end() }
            group.notify(queue: .global()) { ended.resume() }
        }
    }

    // MARK: After

    /// Waits for every job, and looks at how each ended.
    private func endJobs(_ observer: AccountedConnection) throws {
        for job in try observer.ask(ListJobs()).jobs {
            let ended = try end(job, observer)
            let reason = ended.error.map { " (\($0.status.rawValue))" } ?? ""
            observer.ledger.jobs["\(ended.method) \(ended.state.rawValue)\(reason)", default: 0] += 1
            if let error = ended.error, error.status == .internal || error.status == .dataLoss {
                observer.ledger.fail("\(ended.method) (\(ended.id)) failed: \(error)")
            }
            observer.ledger.withoutThumbnail += ended.outcomes["no_thumbnail"] ?? 0
            if ended.method == ImportPhotos.method, let files = ended.receipt?["files"] {
                let counted = ended.outcomes.values.reduce(0, +)
                if files != .integer(Int64(counted)) {
                    observer.ledger.fail("\(ended.id) names \(files) files and has \(counted) lines")
                }
            }
        }
    }

    private func end(_ job: JobSnapshot, _ observer: AccountedConnection) throws -> JobSnapshot {
        if job.state.hasEnded { return job }
        do {
            return try observer.ask(WaitForJob(job: job.id))
        } catch {
            let last = try observer.ask(GetJob(job: job.id))
            throw Wrong(description: "\(job.id) does not end: \(last). \(error)")
        }
    }

    /// The mesh's counts once nothing runs but the question.
    ///
    /// Asked again and again: requests whose clients went away end unseen, and no message tells of it.
    private func settle(_ observer: AccountedConnection, _ daemon: StressDaemon) throws -> MeshStatistics {
        var statistics = try observer.ask(GetMeshStatistics())
        for _ in 0..<100 where statistics.messages.reduce(0, { $0 + $1.inFlight }) > 1 {
            // Between two questions, which would themselves be among what is in flight.
            usleep(100_000)
            statistics = try observer.ask(GetMeshStatistics())
        }
        return statistics
    }
}

extension StressOperation {
    /// The methods that clients know by their types.
    static let methods: Set<String> = [
        SearchPhotos.method, GetPhoto.method, SetFavorite.method, SetCaption.method, MovePhotos.method,
        DeletePhotos.method, ForgetPhotos.method, ListTrash.method, RestorePhotos.method, PurgeTrash.method,
        ListCategories.method, GetCategory.method, AddCategory.method, EditCategory.method, ReorderCategories.method,
        DeleteCategory.method, StartSwipeSession.method, RecordSwipe.method, UndoSwipes.method,
        FinishSwipeSession.method, ListSwipeSessions.method, ListPendingSwipes.method, ProcessSwipes.method,
        ListSwipeHistory.method, MarkSwipesProcessed.method, DeleteProcessedSwipes.method, GetPhotoDetail.method,
        SetPhotoDetail.method, SearchPhotoDetails.method, RotateKeys.method,
        GetSettings.method, ChangeSettings.method, GetLibraryStatus.method, ImportPhotos.method, CreateBackup.method,
        InspectBackup.method, VerifyBackup.method, RestoreBackup.method, ListJobs.method, GetJob.method,
        GetJobReceipt.method, WaitForJob.method, WatchJob.method, CancelJob.method, GetMeshStatistics.method,
        CheckMeshHealth.method, Hello.method, Ping.method, Discover.method,
    ]
}
