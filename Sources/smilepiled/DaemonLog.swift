import ControlSocket
import Foundation
import ServiceMesh

/// Lines on standard error: with the journal's `<priority>` prefix under systemd, with the time otherwise.
struct DaemonLog {
    enum Priority: Int {
        case error = 3
        case warning = 4
        case info = 6
    }

    private let isJournal = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil

    func write(_ priority: Priority, _ text: String) {
        let prefix = isJournal ? "<\(priority.rawValue)>" : "\(Timestamp.now()) "
        FileHandle.standardError.write(Data("\(prefix)\(text)\n".utf8))
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
