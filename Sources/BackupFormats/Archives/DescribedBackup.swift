import LibraryModel
import Scratch
import ServiceMesh

/// What a dialect makes of a backup's documents. A second dialect is a function that returns one, and its test.
struct DescribedBackup: Sendable {
    let summary: BackupSummary
    /// Validated.
    let contents: BackupContents
    /// Every entry of which the documents say what it is.
    let promised: SpooledList<BackupManifest.File>
    /// Names of those that belong to the backup all the same, such as the document that says it.
    let unpromised: Set<String>
    /// Paths of those that were damaged when they were saved.
    let damaged: [String]
    /// What a person has to know of the documents themselves.
    var notices: [ReceiptLine]
    /// MD5 of pictures of another program, lower-case hex, by the names of their entries.
    var checksums: [String: String] = [:]

    func adding(_ notice: ReceiptLine) -> DescribedBackup {
        var described = self
        described.notices.append(notice)
        return described
    }
}
