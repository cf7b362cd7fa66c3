@preconcurrency import Dispatch
import Files
import Foundation
import Glibc
import Synchronization

/// What changes in a folder and in all that are below it, as the kernel tells (inotify(7)).
///
/// What it tells is collected until somebody takes it: however much is written, no more than ``most`` names are kept. Links are
/// not followed, as an import does not follow them.
final class FolderEvents: Sendable {
    /// Since they were taken last.
    struct Changes: Sendable, Equatable {
        /// Files that were closed by their writer, renamed or linked, and folders that came.
        var paths: Set<FilePath> = []
        /// Whether more has changed than is known: everything is to be looked at.
        var isUnknown = false
        /// Whether the folder itself is not there any more, or is another one.
        var isGone = false

        var isEmpty: Bool { paths.isEmpty && !isUnknown && !isGone }
    }

    /// Why nothing is told of a folder.
    enum Refusal: Error {
        case missing
        /// The kernel watches no more folders for this user, or tells nothing of this file system.
        case unsupported
    }

    /// Names that are kept before it counts as unknown which have changed.
    static let most = 500
    /// Folders that one of these watches; the kernel's own limit for a user is 8,192 on small machines.
    private static let mostFolders = 50_000

    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

    private struct State {
        var changes = Changes()
        var folders: [Int32: FilePath] = [:]
        var count = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let root: FilePath
    private let selection: SourceSelection
    private let descriptor: Int32
    private let state = Mutex(State())
    private let source: any DispatchSourceRead

    /// Begins to watch. Blocks while folders are read.
    /// - Throws: ``Refusal``.
    init(_ root: FilePath, _ selection: SourceSelection) throws {
        (self.root, self.selection) = (root, selection)
        guard FileSystem.tellsChanges(root) else { throw Refusal.unsupported }
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { throw Refusal.unsupported }
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "watched-folder", qos: .utility))
        let descriptor = descriptor
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler { [weak self] in self?.read() }
        source.activate()
        do {
            try watch(root)
        } catch {
            source.cancel()
            throw error
        }
    }

    deinit { source.cancel() }

    /// How many events there were, ever.
    var count: Int { state.withLock { $0.count } }

    /// Returns when there is something to take, or when the task is cancelled. For one task.
    ///
    /// Rejected: an `AsyncStream`, which is over for ever once a task was cancelled that read it.
    func arrival() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.changes.isEmpty { state.waiter = continuation }
                    return !state.changes.isEmpty
                }
                if isThere { continuation.resume() } else if Task.isCancelled { wake() }
            }
        } onCancel: {
            wake()
        }
    }

    private func wake() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// What has changed since this was asked last.
    func take() -> Changes {
        state.withLock { state in
            defer { state.changes = Changes() }
            return state.changes
        }
    }

    // MARK: Folders

    /// A folder, and what is below it. What comes into one between its making and this is told by the folder's own name.
    private func watch(_ folder: FilePath) throws {
        var waiting = [folder]
        while let next = waiting.popLast() {
            let number = next.withCString { inotify_add_watch(descriptor, $0, Self.mask) }
            guard number >= 0 else {
                switch errno {
                // It was one a moment ago.
                case ENOENT, ENOTDIR, ELOOP:
                    if next == root { throw Refusal.missing }
                    continue
                // Of what nobody may read, nothing is imported either.
                case EACCES where next != root: continue
                default: throw Refusal.unsupported
                }
            }
            let isFull = state.withLock { state in
                state.folders[number] = next
                return state.folders.count > Self.mostFolders
            }
            if isFull { throw Refusal.unsupported }
            waiting += FileSystem.folders(in: next).filter {
                selection.passesOver($0.name, at: inner($0), isFolder: true) == nil
            }
        }
    }

    private func inner(_ path: FilePath) -> String {
        String(decoding: path.text.utf8.dropFirst(root.text.utf8.count + 1), as: UTF8.self)
    }

    // MARK: Events

    private func read() {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                var position = 0
                while position + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
                    position += MemoryLayout<inotify_event>.size
                    let name = buffer[position..<position + Int(event.len)].prefix { $0 != 0 }
                    position += Int(event.len)
                    note(event.wd, event.mask, FilePath(bytes: name))
                }
            }
        }
    }

    private func note(_ folder: Int32, _ mask: UInt32, _ name: FilePath) {
        func has(_ kinds: Int32...) -> Bool { kinds.contains { mask & UInt32(bitPattern: $0) != 0 } }
        if has(IN_Q_OVERFLOW) { return change { $0.isUnknown = true } }
        guard let parent = state.withLock({ $0.folders[folder] }) else { return }
        if has(IN_IGNORED, IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT) {
            if has(IN_IGNORED) { state.withLock { _ = $0.folders.removeValue(forKey: folder) } }
            if parent == root { change { $0.isGone = true } }
            return
        }
        let path = parent.appending(name)
        let isFolder = has(IN_ISDIR)
        guard selection.passesOver(name.text, at: inner(path), isFolder: isFolder) == nil else { return }
        if has(IN_MOVED_FROM) {
            if isFolder { forget(path) }
            return
        }
        if isFolder {
            do { try watch(path) } catch {
                return change {
                    $0.isUnknown = true; $0.isGone = true
                }
            }
        }
        change { changes in
            if changes.paths.count < Self.most { changes.paths.insert(path) } else { changes.isUnknown = true }
        }
    }

    /// What was moved away tells under a name that it does not have any more.
    private func forget(_ folder: FilePath) {
        let numbers = state.withLock { state in
            let below = folder.text + "/"
            let numbers = state.folders.filter { $0.value == folder || $0.value.text.utf8.starts(with: below.utf8) }
                .keys
            // At once: what they have told already is waiting to be read.
            for number in numbers { state.folders[number] = nil }
            return Array(numbers)
        }
        for number in numbers { inotify_rm_watch(descriptor, number) }
    }

    private func change(_ body: (inout Changes) -> Void) {
        state.withLock { state in
            body(&state.changes)
            state.count += 1
        }
        wake()
    }
}
