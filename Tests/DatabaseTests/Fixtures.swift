@testable import Database
import Dispatch
import Executors
import Foundation
import TestSupport
import Synchronization

/// A small schema that has every kind of rule.
enum Album {
    static let applicationID: Int32 = 0x534D_5445

    static let first = Migration(
        version: 1, name: "albums",
        script: """
            CREATE TABLE album (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE CHECK (name <> ''));
            CREATE TABLE picture (
                id INTEGER PRIMARY KEY, title TEXT, album INTEGER NOT NULL REFERENCES album (id) ON DELETE CASCADE,
                letters INTEGER GENERATED ALWAYS AS (length(title)) STORED);
            """)

    static let schema = Schema(applicationID: applicationID, migrations: [first])

    @discardableResult
    static func add(_ name: String, to connection: Connection) throws -> Int64 {
        try connection.execute("INSERT INTO album (name) VALUES (?)", name)
        return connection.lastInsertRowID
    }

    static func names(_ connection: Connection) throws -> [String] {
        try connection.query("SELECT name FROM album ORDER BY id") { row in try row[0] }
    }
}

extension DatabaseLimits {
    /// A group waits for everybody who is queued, however long a busy machine takes.
    static var patient: DatabaseLimits {
        var limits = DatabaseLimits()
        limits.groupTime = .seconds(3_600)
        return limits
    }

    /// Nothing is synced but what the test writes: for those that count syncs.
    static var withoutIdleCheckpoints: DatabaseLimits {
        var limits = patient
        limits.idleCheckpoint = .seconds(3_600)
        return limits
    }
}

/// An open database in a folder of its own.
struct OpenDatabase {
    let folder: TemporaryFolder
    let path: String
    let database: DatabasePool

    init(schema: Schema = Album.schema, readers: Int = 2, limits: DatabaseLimits = .patient) async throws {
        folder = try TemporaryFolder("database")
        path = folder.file("library.db")
        database = try await DatabasePool.open(at: path, schema: schema, readers: readers, limits: limits)
    }
}

/// Holds a database thread until it is opened. Bodies may block there: the thread is not of the cooperative pool.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func pass() {
        semaphore.wait()
        semaphore.signal()
    }
}

/// Something that happens once, for tasks to wait for.
final class Event: Sendable {
    private enum State {
        case awaited([CheckedContinuation<Void, Never>])
        case happened
    }

    private let state = Mutex(State.awaited([]))

    func happen() {
        let waiting = state.withLock { state in
            defer { state = .happened }
            if case .awaited(let waiting) = state { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let hasHappened = state.withLock { state in
                guard case .awaited(let waiting) = state else { return true }
                state = .awaited(waiting + [continuation])
                return false
            }
            if hasHappened { continuation.resume() }
        }
    }
}

/// Things in the order in which several threads noted them.
final class Record<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    func add(_ element: Element) { elements.withLock { $0.append(element) } }

    var all: [Element] { elements.withLock { $0 } }
}

extension DatabasePool {
    /// Blocks the commit thread until `gate` opens; returns once it stands there.
    func holdCommits(until gate: Gate) async -> Task<Void, any Error> {
        let held = Event()
        let task = Task {
            try await write { _ in
                held.happen()
                gate.pass()
            }
        }
        await held.wait()
        return task
    }

    /// Has `bodies` run in this order and, where they may, in one group, and returns the error of each.
    func writeTogether(
        _ bodies: [@Sendable (Connection) throws -> Void], as kinds: [WorkItem.Kind]? = nil
    ) async throws -> [(any Error)?] {
        let gate = Gate()
        let holder = await holdCommits(until: gate)
        let replies = Record<(index: Int, error: (any Error)?)>()
        let done = Event()
        let reply: @Sendable (Int, (any Error)?) -> Void = { index, error in
            replies.add((index, error))
            if replies.all.count == bodies.count { done.happen() }
        }
        for (index, body) in bodies.enumerated() {
            _ = try commits.queue.submit(
                WorkItem(
                    id: UInt64.max - UInt64(index), kind: kinds?[index] ?? .shared, interruption: nil,
                    run: { connection in
                        try body(connection)
                        return { reply(index, nil) }
                    },
                    fail: { reply(index, $0) }))
        }
        gate.open()
        // The holder shares their group and their fate.
        _ = await holder.result
        await done.wait()
        return replies.all.sorted { $0.index < $1.index }.map(\.error)
    }
}

/// Runs a program, on a thread of its own, and returns its exit status and what it printed.
func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
    try await withCheckedThrowingContinuation { continuation in
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        process.terminationHandler = { process in
            // Small outputs only: the pipe holds them until the process has ended.
            let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            continuation.resume(returning: (process.terminationStatus, output))
        }
        do { try process.run() } catch { continuation.resume(throwing: error) }
    }
}
