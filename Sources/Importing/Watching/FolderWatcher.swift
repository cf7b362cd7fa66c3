import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Has imported what comes into some folders. It imports nothing itself: each look that finds something is a job of the
/// ``PhotoImporter``, as if somebody had asked for it.
///
/// What it has to know over a restart is which folders these are: what has been imported is known by the files themselves
/// (`KnownSources`), so it begins each time with a look at everything.
public actor FolderWatcher: MeshService {
    public static let serviceName = "FolderWatcher"
    public static var messages: MessageList<FolderWatcher> {
        WatchFolder.self
        UnwatchFolder.self
        ListWatchedFolders.self
    }

    /// How long it waits.
    package struct Pauses: Sendable {
        /// After the last change, before what has come is imported: files that come together have one job.
        package var quiet = Duration.seconds(2)
        /// For that, where changes never end.
        package var patience = Duration.seconds(15)
        /// Between two looks at a folder of which the kernel tells nothing.
        package var polling = Duration.seconds(300)
        /// Between two looks for one that is not there, or of which the import failed.
        package var missing = Duration.seconds(60)
        /// Before a file is looked at again that somebody was writing; twice as long each time, up to `polling`.
        package var unsettled = Duration.seconds(10)

        package init() {}
    }

    private struct Watch {
        var folder: StoredWatchedFolder
        var state = WatchedFolder.State.watching
        var problem: String?
        var task: Task<Void, Never>?
    }

    private let catalogue: any Catalogue
    private let namedFiles: NamedFiles
    private let files: BlockingPool
    private let pauses: Pauses
    private var watches: [Watch] = []
    private unowned var mesh: Mesh?

    package init(catalogue: any Catalogue, namedFiles: NamedFiles, files: BlockingPool, pauses: Pauses = Pauses()) {
        self.catalogue = catalogue
        self.namedFiles = namedFiles
        self.files = files
        self.pauses = pauses
    }

    public func start(on mesh: Mesh) async throws {
        self.mesh = mesh
        watches = try await catalogue.read { try $0.settings.watchedFolders() }.map { Watch(folder: $0) }
        for folder in watches.map(\.folder) { begin(folder, on: mesh) }
    }

    public func stop() async {
        let tasks = watches.compactMap(\.task)
        tasks.forEach { $0.cancel() }
        for task in tasks { await task.value }
    }

    private func requireMesh() throws -> Mesh {
        guard let mesh else { throw MeshError(.unavailable, "The watcher of folders is not started.") }
        return mesh
    }

    // MARK: Messages

    func list() -> WatchedFolderList { WatchedFolderList(folders: watches.map(Self.described)) }

    private static func described(_ watch: Watch) -> WatchedFolder {
        WatchedFolder(
            path: watch.folder.path, categoryId: watch.folder.categoryId, addedAt: watch.folder.addedAt,
            state: watch.state, job: watch.folder.job, problem: watch.problem)
    }

    func add(_ request: WatchFolder) async throws -> WatchedFolder {
        let mesh = try requireMesh()
        let path = try await requireUsable(request.path)
        if let category = request.categoryId { _ = try await mesh.send(GetCategory(id: category)) }
        for other in watches.map(\.folder.path) where Self.isWithin(path, other) || Self.isWithin(other, path) {
            throw MeshError(
                .alreadyExists,
                "\(other) is watched already, with all that is below it. Stop that first: smilepile watch-folder remove"
            )
        }
        guard watches.count < WatchFolder.maximumCount else {
            throw MeshError(
                .resourceExhausted,
                "\(WatchFolder.maximumCount) folders are watched, which are the most of one library.")
        }
        let folder = StoredWatchedFolder(path: path, categoryId: request.categoryId, addedAt: mesh.clock.timestamp())
        watches.append(Watch(folder: folder))
        do {
            try await store()
        } catch {
            watches.removeAll { $0.folder.path == path }
            throw error
        }
        begin(folder, on: mesh)
        return Self.described(Watch(folder: folder))
    }

    /// The folder's own path, whatever links lead to it.
    private func requireUsable(_ path: String) async throws -> String {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw MeshError(.invalidArgument, "Paths are absolute here; '\(path.prefix(200))' is not.")
        }
        let library = namedFiles.library
        return try await files.run {
            let named = FilePath(text: path)
            let resolved = named.withCString { realpath($0, nil) }
            defer { free(resolved) }
            guard let resolved else {
                throw MeshError(
                    .notFound,
                    "\(named) is not there (\(String(cString: strerror(errno)))). Add it once its disk is.")
            }
            var found = stat()
            guard stat(resolved, &found) == 0, found.st_mode & S_IFMT == S_IFDIR else {
                throw MeshError(.invalidArgument, "\(named) is no folder.")
            }
            let bytes = UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map(UInt8.init(bitPattern:))
            let own = FilePath(bytes: bytes).text
            guard !Self.isWithin(own, library), !Self.isWithin(library, own) else {
                throw MeshError(
                    .invalidArgument,
                    "The library is at \(library). A folder in it cannot be watched, and none that it lies in.")
            }
            return own
        }
    }

    private static func isWithin(_ path: String, _ folder: String) -> Bool {
        // By bytes, as ``FilePath``.
        FilePath(text: path) == FilePath(text: folder)
            || path.utf8.starts(with: (folder == "/" ? "/" : folder + "/").utf8)
    }

    func remove(_ request: UnwatchFolder) async throws -> WatchedFolderList {
        let name =
            request.path.count > 1 && request.path.hasSuffix("/") ? String(request.path.dropLast()) : request.path
        let resolved = try? await requireUsable(name)
        guard let index = watches.firstIndex(where: { [name, resolved].contains($0.folder.path) }) else {
            throw MeshError(
                .notFound, "\(request.path.prefix(200)) is not watched. See which are: smilepile watch-folder")
        }
        let watch = watches.remove(at: index)
        do {
            try await store()
        } catch {
            watches.insert(watch, at: min(index, watches.count))
            throw error
        }
        watch.task?.cancel()
        await watch.task?.value
        return list()
    }

    private func store() async throws {
        let folders = watches.map(\.folder)
        try await catalogue.write { try $0.settings.setWatchedFolders(folders) }
    }

    // MARK: One folder

    private func begin(_ folder: StoredWatchedFolder, on mesh: Mesh) {
        let task = Task(executorPreference: MeshClock.executor) { [weak self] in
            while !Task.isCancelled { await self?.watch(folder, on: mesh) }
        }
        change(folder.path) { $0.task = task }
    }

    private func change(_ path: String, _ body: (inout Watch) -> Void) {
        guard let index = watches.firstIndex(where: { $0.folder.path == path }) else { return }
        body(&watches[index])
    }

    /// Until it is another folder, or none.
    private func watch(_ folder: StoredWatchedFolder, on mesh: Mesh) async {
        let root = FilePath(text: folder.path)
        let events: FolderEvents
        do {
            events = try await files.run { try FolderEvents(root, SourceSelection(excluding: Self.unfinished)) }
        } catch FolderEvents.Refusal.unsupported {
            change(folder.path) { $0.state = .polling }
            return await poll(root, folder, on: mesh)
        } catch {
            change(folder.path) { $0.state = .missing }
            // A timer by nature: nothing tells that a disk is there again.
            try? await mesh.clock.sleep(for: pauses.missing)
            return
        }
        change(folder.path) { $0.state = .watching }
        await waitForOlder(on: mesh, of: folder.path)
        var changes = FolderEvents.Changes()
        changes.isUnknown = true
        var again = pauses.unsettled
        while !Task.isCancelled {
            let isDone = await look(at: changes, of: root, folder, on: mesh)
            if isDone { again = pauses.unsettled }
            await wait(for: events, atMost: isDone ? nil : again, on: mesh)
            if !isDone { again = min(again * 2, pauses.polling) }
            var next = events.take()
            if next.isGone { return }
            // What was not taken before is looked for among everything.
            if next.isEmpty || !isDone { next.isUnknown = true }
            changes = next
        }
    }

    /// Returns when something has changed and then nothing for a while, or when the time is over.
    private func wait(for events: FolderEvents, atMost limit: Duration?, on mesh: Mesh) async {
        let clock = mesh.clock
        let arrived = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await events.arrival()
                return true
            }
            if let limit {
                group.addTask {
                    try? await clock.sleep(for: limit)
                    return false
                }
            }
            let first = await group.next() ?? false
            group.cancelAll()
            return first
        }
        guard arrived else { return }
        let end = clock.now() &+ UInt64(pauses.patience / .nanoseconds(1))
        while !Task.isCancelled, clock.now() < end {
            let seen = events.count
            try? await clock.sleep(for: pauses.quiet)
            if events.count == seen { return }
        }
    }

    private func poll(_ root: FilePath, _ folder: StoredWatchedFolder, on mesh: Mesh) async {
        var seen: Int?
        await waitForOlder(on: mesh, of: folder.path)
        while !Task.isCancelled {
            guard let now = try? await files.run({ try FolderSignature.of(root) }) else { return }
            if now != seen {
                var changes = FolderEvents.Changes()
                changes.isUnknown = true
                // What was being written is another one next time.
                seen = await look(at: changes, of: root, folder, on: mesh) ? now : nil
            }
            // A timer by nature: of this folder nobody tells what changes.
            try? await mesh.clock.sleep(for: pauses.polling)
        }
    }

    /// A daemon that starts goes on with the imports of the one before: a second one of the same files would only read them twice.
    private func waitForOlder(on mesh: Mesh, of path: String) async {
        guard let job = watches.first(where: { $0.folder.path == path })?.folder.job else { return }
        _ = try? await mesh.send(WaitForJob(job: job))
    }

    /// Names under which programs write what is renamed when it is whole: browsers, rclone, rsync, Syncthing on other systems.
    private static let unfinished = ["*.part", "*.partial", "*.crdownload", "*.download", "*.tmp", "*.filepart", "~*"]

    /// Imports what has changed.
    /// - Returns: false where something was left that is to be looked at again.
    private func look(
        at changes: FolderEvents.Changes, of root: FilePath, _ folder: StoredWatchedFolder, on mesh: Mesh
    ) async -> Bool {
        do {
            let paths = try await files.run { Self.paths(changes, of: root) }
            guard !paths.isEmpty else { return true }
            let job = try await mesh.send(
                ImportPhotos(paths: paths, categoryId: folder.categoryId, exclude: Self.unfinished, settled: true)
            ).job
            change(folder.path) { $0.folder.job = job }
            try await store()
            let end = try await mesh.send(WaitForJob(job: job))
            try Task.checkCancellation()
            change(folder.path) { $0.problem = end.error?.message }
            return try Self.isDone(end)
        } catch {
            guard !Task.isCancelled else { return false }
            change(folder.path) { $0.problem = MeshError(describing: error).message }
            return false
        }
    }

    /// Whether nothing is to be looked at again before it changes. What a person has stopped waits for the next start.
    private static func isDone(_ end: JobSnapshot) throws -> Bool {
        guard end.state != .cancelled else { return true }
        let receipt = try end.receipt.map {
            try JSONDecoder().decode(ImportReceipt.self, from: JSONEncoder().encode($0))
        }
        let passing = [ImportOutcome.noSpace, .changed].map { end.outcomes[$0.rawValue] ?? 0 }.reduce(0, +)
        return end.state == .finished && passing == 0
            && receipt?.passedOver[PassedOver.unsettled.rawValue, default: 0] == 0
    }

    /// What an import is to look at. Of a folder in which something changed that lies beside pictures, all of it: what it says of
    /// them is known only together with them.
    private static func paths(_ changes: FolderEvents.Changes, of root: FilePath) -> [String] {
        guard !changes.isUnknown else { return FileSystem.isThere(root) ? [root.text] : [] }
        var paths: Set<FilePath> = []
        for path in changes.paths where FileSystem.isThere(path) {
            var found = stat()
            let isFolder = path.withCString { lstat($0, &found) } == 0 && found.st_mode & S_IFMT == S_IFDIR
            paths.insert(isFolder || FileContent.isNamedPicture(path.name) ? path : path.parent)
        }
        return paths.map(\.text).sorted()
    }
}

extension WatchFolder: HandledMessage {
    public func perform(on service: FolderWatcher) async throws -> WatchedFolder { try await service.add(self) }
}

extension UnwatchFolder: HandledMessage {
    public func perform(on service: FolderWatcher) async throws -> WatchedFolderList { try await service.remove(self) }
}

extension ListWatchedFolders: HandledMessage {
    public func perform(on service: FolderWatcher) async throws -> WatchedFolderList { await service.list() }
}
