import Configuring
import ControlSocket
import Executors
import Foundation
import ServiceMesh
import Synchronization

/// Lines on standard error: with the journal's `<priority>` prefix under systemd, with the time otherwise. Whatever a text
/// has in it, it is one line, and tells a terminal nothing.
final class DaemonLog: Sendable {
    enum Priority: Int {
        case error = 3
        case warning = 4
        case info = 6
    }

    private let isJournal = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil
    /// The least urgent that is written, as a number of the journal's.
    private let least = Atomic(Priority.info.rawValue)

    /// What is written from now on.
    func keep(_ level: LogLevel) {
        let priority: Priority =
            switch level {
            case .error: .error
            case .warning: .warning
            case .info: .info
            }
        least.store(priority.rawValue, ordering: .relaxed)
    }

    func write(_ priority: Priority, _ text: String) {
        guard priority.rawValue <= least.load(ordering: .relaxed) else { return }
        let prefix = isJournal ? "<\(priority.rawValue)>" : "\(Timestamp.now()) "
        let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        let text = String(String.UnicodeScalarView(scalars))
        StandardError.write("\(prefix)\(text)\n")
    }

    /// An error as a person should read it.
    static func sentence(_ error: any Error) -> String {
        switch error {
        case let error as MeshError: error.message
        case let error as ControlError: error.description
        default: MeshError(describing: error).message
        }
    }
}

/// Writes a line for the beginning and the end of each job, and for what is wrong with the library, in their order. From a
/// thread of its own: standard error may be a pipe that nobody reads, and jobs go on then.
struct JobLog: Sendable {
    /// Lines that wait; later ones are lost.
    private static let waiting = 1_000

    private let thread = BlockingPool(name: "log", threads: 1, capacity: waiting)
    private let log: DaemonLog

    init(_ log: DaemonLog) { self.log = log }

    func add(_ notice: JobNotice) {
        let log = log
        thread.submit { log.write(notice.job.state == .failed ? .warning : .info, notice.description) }
    }

    func add(_ fault: String) {
        let log = log
        thread.submit { log.write(.error, fault) }
    }

    /// Returns when what was added is written.
    func end() async { await thread.shutDown() }
}
