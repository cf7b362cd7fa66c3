import Database
import Foundation
import LibraryModel
import LibraryStorage

/// The mode and the PIN in SQLite: rows of the table `settings`, which ``SettingTable`` does not read as settings.
struct AccessTable: AccessRepository {
    private let rows: SettingRows

    init(connection: Connection) { rows = SettingRows(connection: connection) }

    func mode() throws -> AppMode { try rows.value(.currentAppMode).flatMap(AppMode.init) ?? .parent }

    func setMode(_ mode: AppMode) throws { try rows.set(.currentAppMode, to: mode.rawValue) }

    func pin() throws -> PINRecord? {
        guard let hash = try rows.value(.pinHash) else { return nil }
        let failures = try rows.value(.pinFailures)
        var lastFailure: BootTime?
        if let boot = try rows.value(.pinLastFailureBoot), let time = try rows.number(.pinLastFailureTime) {
            lastFailure = BootTime(boot: boot, milliseconds: time)
        }
        let stored = try rows.value(.pinTries)
        let tries = stored.map { try? JSONDecoder().decode([String: PINTries].self, from: Data($0.utf8)) } ?? [:]
        // What is no number has been meddled with; then it counts as many.
        let many = Int(Int32.max)
        let counted = failures.map { Int($0).flatMap { $0 >= 0 ? $0 : nil } ?? many } ?? 0
        return PINRecord(
            hash: hash, failures: tries == nil ? many : counted, lastFailure: lastFailure, tries: tries ?? [:])
    }

    func store(_ pin: PINRecord?) throws {
        guard let pin else {
            for key in [SettingRows.Key.pinHash, .pinFailures, .pinLastFailureBoot, .pinLastFailureTime, .pinTries] {
                try rows.remove(key)
            }
            return
        }
        try rows.set(.pinHash, to: pin.hash)
        try rows.set(.pinFailures, to: String(pin.failures))
        if pin.tries.isEmpty {
            try rows.remove(.pinTries)
        } else {
            let tries = try JSONEncoder().encode(pin.tries)
            try rows.set(.pinTries, to: String(decoding: tries, as: UTF8.self))
        }
        guard let last = pin.lastFailure else {
            try rows.remove(.pinLastFailureBoot)
            try rows.remove(.pinLastFailureTime)
            return
        }
        try rows.set(.pinLastFailureBoot, to: last.boot)
        try rows.set(.pinLastFailureTime, to: String(last.milliseconds))
    }
}
