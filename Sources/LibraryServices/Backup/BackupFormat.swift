import Foundation
import LibraryModel
import ServiceMesh

/// Names and limits of backups, whatever their documents look like: <doc:/LibraryModel/BackupsAsFiles>.
enum BackupFormat {
    static let photoPrefix = "photos/"
    /// Behind the name of a file that is no backup yet.
    static let partialSuffix = ".partial"
    static let maximumPhotos = 100_000
    /// Ids beyond cannot be said in every JSON, and one at the end of Int64 would leave the catalogue none to give.
    static let ids: ClosedRange<Int64> = 1...(1 << 53)
    /// Bytes of one JSON document: 100,000 photos need about 70 MB.
    static let maximumDocument = 256 << 20

    /// `SmilePileBackup_yyyy-MM-dd_HHmmss.zip`, local time.
    static func fileName(at time: Timestamp) -> String {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        strftime(&text, text.count, "SmilePileBackup_%Y-%m-%d_%H%M%S.zip", &parts)
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
}
