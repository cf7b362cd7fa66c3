import Foundation
import LibraryModel
import ServiceMesh

/// Names and limits of backups, whatever their documents look like: <doc:/LibraryModel/BackupsAsFiles>.
package enum BackupFormat {
    package static let photoPrefix = "photos/"
    static let originalPrefix = "originals/"
    static let thumbnailPrefix = "thumbnails/"
    /// Bytes of a thumbnail that is taken from a backup: they have some 20,000.
    package static let maximumThumbnail = 256 << 10
    /// Each photo with its original, thumbnail and a sidecar, and the documents.
    static let maximumEntries = maximumPhotos * 4 + 64
    /// The sealed fields, where there are any.
    package static let sealedEntry = "sealed.json"
    /// Of lines about sealed values that could not be opened or taken over.
    package static let sealedOutcome = "sealed"
    /// Behind the name of a file that is no backup yet.
    package static let partialSuffix = ".partial"
    /// What can be done about a damaged backup, as the end of a message.
    static let salvageHint = " What is whole of it can be restored: --salvage"
    /// Of a backup: five million, and fewer on a machine whose memory is small.
    package static let maximumPhotos = maximumPhotos(ofMachine: ProcessInfo.processInfo.physicalMemory)
    /// Memory that a photo takes while a backup is restored, in bytes, with its files and what is known of each: measured, and rounded
    /// up. Making and checking a backup take less.
    private static let memoryPerPhoto: UInt64 = 6 << 10

    /// How many photos a backup may have, so that reading one never takes more than a half of the machine's memory, whoever wrote
    /// it; 100,000 on every machine.
    /// - Parameter memory: in bytes.
    static func maximumPhotos(ofMachine memory: UInt64) -> Int {
        Int(min(max(memory / 2 / memoryPerPhoto, 100_000), 5_000_000))
    }

    static let maximumSessions = 1_000_000
    /// Of a session.
    static let maximumActions = 10_000_000
    /// Ids beyond cannot be said in every JSON, and one at the end of Int64 would leave the catalogue none to give.
    static let ids: ClosedRange<Int64> = 1...(1 << 53)
    /// Bytes of one JSON document: 100,000 photos need about 70 MB, and may have four times that.
    package static let maximumDocument = maximumPhotos / 1000 * (2684 << 10)
    /// Bytes of an archive's directory: as many names as there may be, of a hundred bytes.
    static let maximumDirectory = maximumPhotos / 100 * (134 << 10)

    /// Whether a path ends with a name that ``fileName(at:forPhone:number:)`` gives for a backup of the library, or a backup folder for
    /// a snapshot.
    package static func isFileName(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return SnapshotFolder.isSnapshotName(String(name))
            || name.wholeMatch(of: #/SmilePileBackup_[0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{6}(-[0-9]+)?\.zip/#) != nil
    }

    /// `SmilePileBackup_yyyy-MM-dd_HHmmss.zip`, local time; for the phone apps `SmilePile_Backup_yyyyMMdd_HHmmss.zip`, as the
    /// Android app calls its own, so that nobody takes it for a backup of the library.
    /// - Parameter number: of several within one second, and in the hour that comes twice in autumn; from 2 on it is in the name:
    ///   `SmilePileBackup_2026-10-25_023000-2.zip`.
    package static func fileName(at time: Timestamp, forPhone: Bool = false, number: Int = 1) -> String {
        name(forPhone ? "SmilePile_Backup_%Y%m%d_%H%M%S" : "SmilePileBackup_%Y-%m-%d_%H%M%S", at: time, number: number)
    }

    /// - Parameter pattern: as strftime takes it.
    static func name(_ pattern: String, at time: Timestamp, number: Int) -> String {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        strftime(&text, text.count, pattern, &parts)
        let stem = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return stem + (number > 1 ? "-\(number)" : "") + ".zip"
    }
}
