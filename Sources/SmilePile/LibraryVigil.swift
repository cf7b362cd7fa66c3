import Executors
import LibraryServices
import PhotoFolder
import SQLiteCatalogue
import ServiceMesh
import Synchronization

/// Looks from time to time whether an open library is still where it was opened, also while nobody changes it; says so when
/// it is not, and saves the catalogue where its files were taken away.
package final class LibraryVigil: Sendable {
    private static let interval = Duration.seconds(3)

    private let folder: LibraryFolder
    private let hold: LibraryHold
    private let catalogue: SQLiteCatalogue
    private let files: BlockingPool
    private let log: @Sendable (String) -> Void
    private let looking = Mutex<Task<Void, Never>?>(nil)

    init(
        folder: LibraryFolder, hold: LibraryHold, catalogue: SQLiteCatalogue, files: BlockingPool,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.hold = hold
        self.catalogue = catalogue
        self.files = files
        self.log = log
        catalogue.ownership.observe { log($0 ?? "The library is in its place again, and can be changed.") }
    }

    func start(clock: MeshClock = .system) {
        looking.withLock {
            $0 = Task { [weak self] in
                while !Task.isCancelled {
                    // A timer by nature: nothing tells when somebody removes a name that leads to an open file.
                    try? await clock.sleep(for: Self.interval)
                    guard !Task.isCancelled else { return }
                    await self?.look()
                }
            }
        }
    }

    /// Ends the looking, after one last time.
    func stop() async {
        let task = looking.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
        await task?.value
        await look()
    }

    package func look() async {
        let hold = hold
        // Nil also where the pool takes nothing more: the next look comes in seconds.
        let lost = try? await files.run({ hold.lostFile })
        if lost != nil, hold.copy == nil { await rescue() }
        // After the rescue, which changes what there is to say.
        let ownership = catalogue.ownership
        try? await files.run { ownership.look() }
    }

    private func rescue() async {
        var failure: (any Error)?
        for path in folder.rescuePlaces(at: .now()) {
            do {
                try await catalogue.copy(to: path)
                return hold.noteCopy(path)
            } catch {
                failure = error
            }
        }
        // It is tried again at the next look.
        if let failure {
            log("The catalogue was taken away, and no copy could be written: \(MeshError(describing: failure).message)")
        }
    }
}
