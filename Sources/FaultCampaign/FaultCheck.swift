import BenchSupport
import Foundation
import LibraryModel
import SQLiteCatalogue
import ServiceMesh
import ZipArchive

/// Something that must not be after a kill, a fault or a crash and the start after it.
struct FaultFinding: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// Acknowledged and not there, or there and never asked for.
        case lost
        /// Files that nothing knows.
        case stray
        /// A restore, an import or a backup of which a part is there.
        case half
        /// A damaged catalogue, a daemon that ends by itself or hangs.
        case broken
    }

    let kind: Kind
    let text: String
}

/// Looks at a library after a clean start, with the log of what was acknowledged before.
struct FaultCheck {
    let place: FaultPlace
    let operation: FaultOperation
    /// Where the library began.
    let world: FaultWorld
    let steps: [FaultStep]
    let jobs: [FaultClient.SeenJob]
    let backups: [FaultClient.SavedBackup]
    /// Of a crash, in what the recorder wrote; all of it for a kill.
    var position = Int.max

    private(set) var findings: [FaultFinding] = []
    private(set) var acknowledged = 0

    init(
        place: FaultPlace, operation: FaultOperation, world: FaultWorld, clients: [FaultClient], position: Int = .max
    ) {
        self.place = place
        self.operation = operation
        self.world = world
        steps = clients.flatMap(\.steps)
        jobs = clients.flatMap(\.jobs)
        backups = clients.flatMap(\.backups)
        self.position = position
    }

    /// Jobs go on by themselves after a start; returns when all have ended.
    /// - Parameter cancels: those of the fixtures wait for folders that are on another machine.
    static func endJobs(_ library: some LibraryAnswering, cancels: Bool = false) async throws {
        for job in try await library.ask(ListJobs()).jobs where !job.state.hasEnded {
            if cancels { _ = try await library.ask(CancelJob(job: job.id)) }
            _ = try await library.ask(WaitForJob(job: job.id))
        }
    }

    mutating func run(_ library: some LibraryAnswering) async throws {
        try await Self.endJobs(library, cancels: operation == .upgrade)
        try await checkJobs(library)
        let contents = try await LibraryContents(library)
        checkWorld(contents)
        if operation == .clean { try await checkCleaning(library) }
        checkFiles(contents)
        try await checkBackups(library)
        try await checkCatalogue()
        // What the fixtures of earlier versions name was never there.
        if operation != .upgrade { try await checkStorage(library) }
    }

    mutating func find(_ kind: FaultFinding.Kind, _ text: String) {
        findings.append(FaultFinding(kind: kind, text: text))
    }

    private mutating func require(_ holds: Bool, _ kind: FaultFinding.Kind, _ text: @autoclosure () -> String) {
        if !holds { find(kind, text()) }
    }

    // MARK: What was acknowledged

    private mutating func checkWorld(_ contents: LibraryContents) {
        let explanation = steps.explain(FaultWorld(contents), from: world, at: position)
        acknowledged += explanation.certain
        guard !explanation.differences.isEmpty else { return }
        let isRestore = operation == .merge || operation == .replace
        find(isRestore ? .half : .lost, explanation.differences.joined(separator: "; "))
    }

    private mutating func checkJobs(_ library: some LibraryAnswering) async throws {
        for seen in jobs where seen.started <= position {
            acknowledged += 1
            guard let job = try? await library.ask(GetJob(job: seen.id)) else {
                find(.lost, "the job \(seen.id) was acknowledged and is unknown")
                continue
            }
            require(job.state.hasEnded, .broken, "the job \(seen.id) does not end: \(job.state)")
            if let state = seen.state, seen.ended <= position {
                // One that could not write down its own failure goes on at the next start, and then it is whole.
                require(
                    job.state == state || (state == .failed && job.state == .finished), .lost,
                    "the job \(seen.id) had \(state) and is \(job.state): \(job.error?.message ?? "")")
            }
        }
    }

    private mutating func checkBackups(_ library: some LibraryAnswering) async throws {
        for backup in backups {
            if let receipt = backup.receipt, backup.ended <= position {
                acknowledged += 1
                let isThere = access(receipt.path, F_OK) == 0
                require(isThere, .lost, "the backup \(receipt.path) was acknowledged and is gone")
            }
            guard let job = backup.job, let path = backup.path, let ended = try? await library.ask(GetJob(job: job))
            else { continue }
            let isThere = access(path, F_OK) == 0
            if ended.state == .finished { require(isThere, .lost, "the backup \(path) finished and is not there") }
            if ended.state == .failed {
                require(!isThere, .half, "the backup \(path) was reported failed and has its final name")
            }
        }
        for folder in [place.backups, place.library + "/backups"] {
            for name in Self.names(folder) {
                guard name.hasSuffix(".zip") else {
                    find(.stray, "\(folder)/\(name) is left")
                    continue
                }
                try await verify(folder + "/" + name, library)
            }
        }
        let snapshots = place.backupFolder + "/snapshots"
        for name in Self.names(snapshots) where !name.hasPrefix("library.json") {
            if name.hasSuffix(".zip") {
                try await verify(snapshots + "/" + name, library)
            } else {
                find(.stray, "\(snapshots)/\(name) is left")
            }
        }
    }

    private mutating func verify(_ backup: String, _ library: some LibraryAnswering) async throws {
        let started = try await library.ask(VerifyBackup(path: backup))
        let verified = try await library.ask(WaitForJob(job: started.job))
        require(verified.state == .finished, .half, "\(backup) does not verify: \(verified.error?.message ?? "")")
    }

    // MARK: Files

    private static func names(_ folder: String) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }

    private mutating func checkFiles(_ contents: LibraryContents) {
        let library = place.library
        let staged = Self.names(library + "/staging")
        require(staged.isEmpty, .stray, "staging/ holds \(staged.sorted())")
        let top = Self.names(library).subtracting([
            "photos", "thumbnails", "previews", "originals", "staging", "backups", "catalogue.sqlite",
            "catalogue.sqlite-wal",
            "catalogue.sqlite-shm", "library.lock",
        ])
        require(top.isEmpty, .stray, "the library's folder holds \(top.sorted())")
        guard operation != .upgrade else { return }
        let rows = contents.rows
        let wanted = Set(rows.map(\.fileName))
        let files = Self.names(library + "/photos")
        let missing = wanted.subtracting(files).sorted()
        require(missing.isEmpty, .half, "rows without their file: \(missing)")
        let strays = files.subtracting(wanted).sorted()
        require(strays.isEmpty, .stray, "files without a row: \(strays)")
        let thumbnails = Self.names(library + "/thumbnails")
        let without = Set(wanted.map { "thumb_" + $0 }).subtracting(thumbnails).sorted()
        require(without.isEmpty, .half, "photos without a thumbnail: \(without)")
        let others = thumbnails.subtracting(wanted.map { "thumb_" + $0 }).sorted()
        require(others.isEmpty, .stray, "thumbnails of no photo: \(others)")
        let previews = Self.names(library + "/previews").subtracting(wanted.map { "preview_\($0).webp" }).sorted()
        require(previews.isEmpty, .stray, "previews of no photo: \(previews)")
        let originals = Set(rows.flatMap(\.filePaths).filter { $0.hasPrefix("originals/") })
        let kept = Set(Self.names(library + "/originals").map { "originals/" + $0 })
        require(originals.isSubset(of: kept), .half, "photos without their original: \(originals.subtracting(kept))")
        require(kept.isSubset(of: originals), .stray, "originals of no photo: \(kept.subtracting(originals))")
        for photo in rows where files.contains(photo.fileName) {
            let bytes = (try? Data(contentsOf: URL(fileURLWithPath: library + "/" + photo.path))) ?? Data()
            require(
                ContentDigest(of: bytes).sha256.hex == photo.contentDigest, .half,
                "\(photo.path) has other bytes than its row says")
            var found = stat()
            require(
                stat(library + "/" + photo.thumbnailPath, &found) != 0 || found.st_size > 0, .half,
                "\(photo.thumbnailPath) is empty")
        }
    }

    // MARK: What the library says of itself

    /// Stray thumbnails that were not removed by what was broken off must be found by the next one.
    private mutating func checkCleaning(_ library: some LibraryAnswering) async throws {
        _ = try await library.ask(CleanStorage())
    }

    private mutating func checkStorage(_ library: some LibraryAnswering) async throws {
        let started = try await library.ask(RescanLibrary(digests: true))
        let job = try await library.ask(WaitForJob(job: started.job))
        require(
            job.state == .finished && job.outcomes.isEmpty, .broken,
            "the check of the storage ends as \(job.state) with \(job.outcomes)")
    }

    private mutating func checkCatalogue() async throws {
        let problems = try await SQLiteCatalogue.problems(inFileAt: place.library + "/catalogue.sqlite")
        for problem in problems { find(.broken, "the catalogue: \(problem)") }
    }
}
