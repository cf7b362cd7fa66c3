import LibraryModel
import ServiceMesh

/// Where photos, categories and everything said about them are kept, as the actors that own the rules see it:
/// transactions over repositories. No SQL passes this line, so this is where a catalogue on another database plugs in.
///
/// The unit is the transaction and not the single method: a rule is checked in the transaction that acts on it, so
/// several repositories' methods make one. They are synchronous, since a transaction that waits for something else
/// keeps all others waiting. Rejected: repositories whose methods are transactions of their own; each rule would then
/// be part of every implementation, or be checked too early.
///
/// What fails is a ``CatalogueError`` where a repository refuses, else the catalogue's own error, which says at the mesh
/// what it is. What a refused method had done by then may be there still: a body that goes on in spite of a failed change keeps a
/// part of it. A body that lets the error through undoes all.
///
/// A body may run twice, where a catalogue begins a transaction anew: it does nothing but what its transaction undoes. The tests'
/// `CatalogueContract` checks what is promised here, and in the repositories, on any catalogue: <doc:ASecondCatalogue>.
package protocol Catalogue: Sendable {
    /// Runs `body` on one state of the catalogue, which it cannot change: that which the last write before it left, or a later one.
    /// Ends early where the task is cancelled.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value

    /// Runs `body` as one transaction, after and before all others, and returns when it is durable. What it throws
    /// undoes all of it, and nothing of others that wait for the disk with it. It has to be short: others wait. That of a task that is
    /// cancelled before its turn does not run (``uncancelled(_:)``).
    /// - Throws: what `body` throws; where it cannot be committed, why, and then perhaps an error whose
    ///   `MeshError/mayHaveBeenStored` is true.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value

    /// As ``write(_:)``, for what makes room on the disk: has a reserve that nothing else may use.
    func writeFreeingSpace<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value

    /// As ``write(_:)``, with the hint that `body` changes very much: a catalogue may do it apart from others, or as any.
    func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value

    /// Adds what is told after each durable change which parts it touched, before whoever changed them has the reply. It must not
    /// block.
    func onCommit(_ listener: @escaping @Sendable (Set<CataloguePart>) -> Void)

    /// Jobs are kept here as well, so that what they tell and what they did are in one transaction.
    var journal: any JobJournal { get }

    /// What is wrong with the catalogue, as far as is known by now, in sentences for people. Empty while all is well.
    func problems() async -> [String]

    /// Looks through all of it.
    /// - Returns: as ``problems()``.
    func check() async throws -> [String]

    /// Rows that reads have passed over since the catalogue was opened, because they hold what this program never writes, as a damaged disk
    /// leaves it. Those that are not so any more are left out; 1,000 at most.
    func unreadableRows() async throws -> [UnreadableEntry]

    /// The same, after a look at all rows.
    func findUnreadableRows() async throws -> [UnreadableEntry]

    /// Sees to it that what was deleted can be found nowhere in what the catalogue keeps, by whichever program: not in free space,
    /// nor in what it would recover from.
    /// - Returns: false where something that reads keeps a part of it; that goes later.
    func eraseDeleted() async throws -> Bool

    /// Does what is queued and takes nothing more: what comes later fails, another call of this excepted.
    func close() async
}

/// The repositories inside one transaction. They are of no use after it.
package protocol CatalogueTransaction {
    var photos: any PhotoRepository { get }
    var sealedFields: any SealedFieldRepository { get }
    var failedSources: any FailedSourceRepository { get }
    var knownFiles: any KnownFileRepository { get }
    var trash: any TrashRepository { get }
    var categories: any CategoryRepository { get }
    var swipes: any SwipeRepository { get }
    var settings: any SettingRepository { get }
    var access: any AccessRepository { get }
    var devices: any DeviceRepository { get }
    var jobs: any JobRepository { get }
    var discardedFiles: any DiscardedFileRepository { get }
    var unfinishedBackups: any UnfinishedBackupRepository { get }
    var madeBackups: any MadeBackupRepository { get }
    var overwritten: any OverwrittenRepository { get }
    var groups: any GroupRepository { get }
    var groupHubs: any GroupHubRepository { get }
    var reviews: any ReviewRepository { get }
    var reviewMachines: any ReviewMachineRepository { get }

    /// Whether everything that names something else names what is there. Reads all of it.
    func isConsistent() throws -> Bool
}

/// What a change can touch, as those who observe the catalogue tell it apart.
package enum CataloguePart: String, Sendable, Hashable, CaseIterable {
    case photos
    case sealedFields
    case trash
    case categories
    case swipeSessions
    case swipeActions
    /// Other machines of the same person.
    case reviewMachines
    case settings
    case groups
    /// Those that were made, and their schedule.
    case backups
}
