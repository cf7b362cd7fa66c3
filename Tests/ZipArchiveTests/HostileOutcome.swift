import Foundation

@testable import ZipArchive

/// What becomes of an archive that is read as a restore reads it: opened, then every byte.
struct HostileOutcome {
    var refused: ArchiveProblem?
    var reader: ZipReader?
    var failures: [ZipRefusal] = []
    var bytesRead: Int64 = 0

    /// - Parameter mostBytes: that the archive may hold, inflated.
    init(of file: TestFile, mostBytes: Int64) throws {
        do throws(ZipError) {
            let reader = try ZipReader(descriptor: file.descriptor, limits: ZipLimits(maximumTotalBytes: mostBytes))
            let verification = try ZipVerification(reader)
            var bytesRead: Int64 = 0
            try verification.work(progress: { bytesRead += Int64($0) })
            self.reader = reader
            failures = verification.failures
            self.bytesRead = bytesRead
        } catch {
            guard let problem = error.archiveProblem else { throw error }
            refused = problem
        }
    }

    /// Entries of which the bytes could not be had.
    var lost: Set<Int> {
        let obstacles = reader.map { reader in reader.entries.indices.filter { reader.obstacle(to: $0) != nil } }
        return Set((obstacles ?? []) + failures.map(\.entry))
    }

    /// Names under which an entry may be taken, as paths in a folder.
    func taken(in folder: String) throws -> [(name: String, path: String)] {
        (try reader?.entries.map { $0 } ?? []).filter { reader?.problems(of: $0.index).isEmpty == true }.map {
            ($0.name, URL(fileURLWithPath: folder).appendingPathComponent($0.name).standardized.path)
        }
    }
}
