import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Puts back what a restore has overwritten.
extension BackupCoordinator {
    func checkUndo(_ restore: JobID) async throws {
        try await catalogue.read { transaction in
            guard try !transaction.overwritten.changes(by: restore).isEmpty else {
                throw RestoreUndoing.nothing(restore)
            }
        }
    }

    /// In one transaction: half of it would be neither the one library nor the other.
    func undo(_ restore: JobID, job: Job) async throws -> UndoneRestore {
        if let made = job.checkpoint.flatMap({ try? JSONDecoder().decode(MadeUndo.self, from: $0) }) {
            job.record(made.lines)
            return made.receipt
        }
        try await job.mayContinue()
        job.begin(phase: "undoing")
        let id = job.id
        let made = try await catalogue.writeAlone { transaction in
            let lines = try RestoreUndoing.run(restore, in: transaction)
            let isWhole = lines.allSatisfy { $0.outcome == RestoreUndoing.restored }
            let made = MadeUndo(
                receipt: UndoneRestore(
                    restored: lines.count { $0.outcome == RestoreUndoing.restored },
                    ending: isWhole ? .complete : .completeWithProblems), lines: lines)
            try transaction.jobs.setCheckpoint(JSONEncoder().encode(made), of: id)
            return made
        }
        job.record(made.lines)
        return made.receipt
    }
}

/// Kept as its job's checkpoint by the transaction that made it, as that of a restore is.
private struct MadeUndo: Codable {
    let receipt: UndoneRestore
    let lines: [ReceiptLine]
}
