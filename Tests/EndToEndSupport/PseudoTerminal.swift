import CLinux
import CTerminal
import Foundation
import ServiceMesh
import Synchronization

/// A program on a terminal of its own, as a person has it: what it writes, and keys that are pressed.
public final class PseudoTerminal: Sendable {
    private struct State {
        var written = ""
        /// Where the text begins that was not looked at yet.
        var mark = 0
        var isClosed = false
        var waiting: [UUID: (text: String, continuation: CheckedContinuation<Bool, Never>)] = [:]
    }

    private let state = Mutex(State())
    private let master: Int32
    private let isOpen = Mutex(true)
    public let pid: pid_t
    private let before: termios

    public init(
        _ program: String, _ arguments: [String], environment: [String: String], columns: Int = 60, rows: Int = 20
    )
        throws
    {
        var name = [CChar](repeating: 0, count: 128)
        master = cterminal_open(&name, name.count)
        guard master >= 0, cterminal_resize(master, Int32(columns), Int32(rows)) == 0 else {
            throw MeshError(.unavailable, "no pseudo-terminal: errno \(errno)")
        }
        let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        var settings = termios()
        guard tcgetattr(master, &settings) == 0 else { throw MeshError(.unavailable, "no settings: errno \(errno)") }
        before = settings
        // A session of its own, whose first terminal is the one that it opens.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        _ = cterminal_new_session(&attributes)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        _ = clinux_spawn_close_from(&actions, 3)
        let words = ([program] + arguments).map { strdup($0) }
        let variables = environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for text in words + variables { free(text) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, program, &actions, &attributes, words + [nil], variables + [nil])
        guard code == 0 else { throw MeshError(.unavailable, "\(program) cannot be started: \(code)") }
        pid = started
        let terminal = master
        Thread { [weak self] in Self.read(terminal) { self?.take($0) ?? false } }.start()
    }

    deinit {
        kill(pid, SIGKILL)
        hangUp()
    }

    private static func read(_ terminal: Int32, _ take: ([UInt8]?) -> Bool) {
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            // With a look now and then whether anybody still listens: closing a descriptor does not wake who reads it.
            var waited = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            if poll(&waited, 1, 200) == 0 {
                if !take([]) { return }
                continue
            }
            let count = Glibc.read(terminal, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            if !take(Array(piece.prefix(count))) { return }
        }
        _ = take(nil)
    }

    private func take(_ bytes: [UInt8]?) -> Bool {
        let ready = state.withLock { state -> [(CheckedContinuation<Bool, Never>, Bool)] in
            if let bytes { state.written += String(decoding: bytes, as: UTF8.self) } else { state.isClosed = true }
            var ready: [(CheckedContinuation<Bool, Never>, Bool)] = []
            for (id, waiter) in state.waiting {
                let isThere = Self.find(waiter.text, &state)
                guard isThere || state.isClosed else { continue }
                state.waiting[id] = nil
                ready.append((waiter.continuation, isThere))
            }
            return ready
        }
        for (continuation, isThere) in ready { continuation.resume(returning: isThere) }
        return isOpen.withLock { $0 }
    }

    /// Looks at what was not looked at yet, and then goes on behind what was found.
    private static func find(_ text: String, _ state: inout State) -> Bool {
        let bytes = Array(state.written.utf8)
        guard let range = Data(bytes[state.mark...]).range(of: Data(text.utf8)) else { return false }
        state.mark += range.upperBound
        return true
    }

    /// Returns when the program has written this text, behind what was waited for before; false where it has ended, and when
    /// the test is called off by its time limit.
    public func shows(_ text: String) async -> Bool {
        let id = UUID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Bool? in
                    // Who calls it off from here on finds it among those that wait.
                    if Task.isCancelled { return false }
                    if Self.find(text, &state) { return true }
                    if state.isClosed { return false }
                    state.waiting[id] = (text, continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.continuation.resume(returning: false)
        }
    }

    public var written: String { state.withLock { $0.written } }

    public func press(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(master, bytes, bytes.count)
    }

    public func resize(columns: Int, rows: Int) { _ = cterminal_resize(master, Int32(columns), Int32(rows)) }

    /// Whether keys are shown and lines are edited as before the program came.
    public var isAsBefore: Bool {
        var now = termios()
        guard tcgetattr(master, &now) == 0 else { return false }
        return now.c_lflag == before.c_lflag && now.c_iflag == before.c_iflag && now.c_oflag == before.c_oflag
    }

    /// What happens when the window is closed.
    public func hangUp() {
        isOpen.withLock { isOpen in
            if isOpen { close(master) }
            isOpen = false
        }
    }

    /// Waits for the program's end, or for its stop. A thread waits, not a task. A test that is called off by its time limit ends
    /// the program.
    /// - Returns: as waitpid(2) says it.
    public func change() async -> Int32 {
        let pid = pid
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread {
                    var status: Int32 = 0
                    while waitpid(pid, &status, WUNTRACED) < 0 && errno == EINTR {}
                    continuation.resume(returning: status)
                }.start()
            }
        } onCancel: {
            kill(pid, SIGKILL)
        }
    }
}
