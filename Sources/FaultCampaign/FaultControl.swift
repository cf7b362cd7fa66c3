import CFaults
import Foundation

/// A call that changes what is on the disk, as the shim tells them apart.
enum FaultCall: Int, CaseIterable, Sendable {
    case write
    case truncate
    case fsync
    case fdatasync
    case folderSync
    case create
    case rename
    case link
    case unlink

    var name: String { self == .folderSync ? "folder-sync" : "\(self)" }

    init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}

/// What is to happen at the chosen call.
enum FaultEffect: String, CaseIterable, Sendable {
    case killBefore = "before"
    case killAfter = "after"
    case killTorn = "torn"
    case inputOutputError = "EIO"
    case diskFull = "ENOSPC"
    case interrupted = "EINTR"
    case short
    /// EIO of a sync, with what was written since the last one gone from the file.
    case dropped

    static let kills: [FaultEffect] = [.killBefore, .killAfter, .killTorn]

    /// Those that make sense for a call.
    static func kills(at call: FaultCall) -> [FaultEffect] {
        call == .write ? kills : [.killBefore, .killAfter]
    }

    static func errors(at call: FaultCall) -> [FaultEffect] {
        switch call {
        case .write: [.inputOutputError, .diskFull, .interrupted, .short]
        case .fsync, .fdatasync: [.inputOutputError, .dropped]
        case .folderSync, .truncate: [.inputOutputError]
        case .create, .rename, .link: [.inputOutputError, .diskFull]
        case .unlink: [.inputOutputError]
        }
    }

    fileprivate var mode: faults_mode {
        switch self {
        case .killBefore: faults_kill_before
        case .killAfter: faults_kill_after
        case .killTorn: faults_kill_torn
        case .inputOutputError, .diskFull, .interrupted: faults_fail
        case .short: faults_short
        case .dropped: faults_fail_dropping
        }
    }

    fileprivate var error: Int32 {
        switch self {
        case .diskFull: ENOSPC
        case .interrupted: EINTR
        default: EIO
        }
    }
}

/// The page of memory through which the shim is told what to do, and tells what it has seen.
final class FaultControl {
    let path: String
    private let page: UnsafeMutablePointer<faults_control>

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameters:
    ///   - root: the folder whose files count.
    ///   - journal: where to record what happens to them, if it is to be recorded.
    init(path: String, root: String, journal: String? = nil) throws {
        self.path = path
        let size = MemoryLayout<faults_control>.size
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0, ftruncate(file, off_t(size)) == 0 else {
            throw Failed(description: "\(path) cannot be made.")
        }
        defer { close(file) }
        let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        guard let mapped, mapped != MAP_FAILED else { throw Failed(description: "\(path) cannot be mapped.") }
        page = mapped.bindMemory(to: faults_control.self, capacity: 1)
        faults_set_root(page, root)
        if let journal { faults_set_journal(page, journal) }
    }

    deinit { munmap(page, MemoryLayout<faults_control>.size) }

    func disarm() { faults_arm(page, faults_idle, 0, 0, 0, 0) }

    func count() { faults_arm(page, faults_count, 0, 0, 0, 0) }

    /// - Parameters:
    ///   - calls: those that are counted down.
    ///   - nth: 1 for the next one.
    ///   - kill: how many calls after a failed one the daemon is killed; 0 for not at all.
    func arm(_ effect: FaultEffect, at calls: some Sequence<FaultCall>, nth: Int, thenKill kill: Int = 0) {
        let chosen = calls.reduce(UInt32(0)) { $0 | 1 << UInt32($1.rawValue) }
        faults_arm(page, effect.mode, chosen, Int64(nth), effect.error, Int64(kill))
    }

    /// The call that it came to, and its path; nil where it did not.
    var fired: (call: FaultCall, path: String)? {
        guard faults_has_fired(page) != 0, let call = FaultCall(rawValue: Int(page.pointee.fired_call)) else {
            return nil
        }
        return (call, String(cString: faults_fired_path(page)))
    }

    /// Calls since it was armed, or told to count.
    func seen(_ call: FaultCall) -> Int { Int(faults_seen(page, Int32(call.rawValue))) }
}
