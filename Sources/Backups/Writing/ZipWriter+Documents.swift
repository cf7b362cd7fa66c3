import BackupFormats
import ZipArchive

extension ZipWriter {
    /// Blocks.
    func write(_ document: BackupDocument, as entry: Int) throws {
        let run = try EntryRun(entry..<entry + 1, of: self)
        _ = try run.copy(entry, reading: document.bytes, cancelled: { false })
        _ = try run.finish(cancelled: { false })
    }
}
