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
/// A body may run twice, where a catalogue begins a transaction anew: it does nothing but what its transaction undoes. In tests the
/// services have a `RepeatingCatalogue`, which runs each body twice.
///
/// A catalogue gives numbers: the ids of photos, categories and decisions, those that jobs stand in line by, and those of a `ReviewCursor`.
/// A number is given once. A new one is greater than all that the same list ever had in a committed transaction, also where what had
/// them is gone, and it never becomes visible after a greater one. So a client that has read a list up to a number misses nothing when it
/// goes on behind it. Numbers may have gaps. A catalogue that runs transactions side by side gives the numbers at the commit, or lets
/// transactions that take numbers of one list wait for each other. Photos and categories that come from elsewhere may keep their
/// numbers; what is given after them is greater all the same.
///
/// A catalogue has one owner at a time (``CatalogueOwnership``): while one has it open, nobody else opens it.
///
/// The tests' `CatalogueContract` checks what is promised here, and in the repositories, on any catalogue: <doc:ASecondCatalogue>.
package protocol Catalogue: Sendable {
    /// The right to change it. A commit that comes after its end is refused, with an error that is `failed_precondition` at the mesh and
    /// has ``CatalogueOwnership/fault`` as its sentence, and nothing of it is stored; reads may go on. Jobs are refused in the same way.
    var ownership: CatalogueOwnership { get }

    /// Runs `body` on one state of the catalogue, which it cannot change: the state that the last write before it left, or a later one.
    /// The read ends early where the task is cancelled.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value

    /// Runs `body` as one transaction, after and before all others, and returns when it is durable. An error that the body throws
    /// undoes all of it, and nothing of other transactions that wait for the disk with it. A body has to be short, since others wait. The
    /// body of a task that is cancelled before its turn does not run (``uncancelled(_:)``).
    /// - Throws: what `body` throws; where it cannot be committed, why, and then perhaps an error whose
    ///   `MeshError/mayHaveBeenStored` is true.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value

    /// As ``write(_:)``, for a change that makes room on the disk: it has a reserve that nothing else may use.
    func writeFreeingSpace<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value

    /// As ``write(_:)``, with the hint that `body` changes very much: a catalogue may run it apart from others, or as any.
    func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value

    /// Adds a listener. It is told after each durable change which parts the change touched, before the task that made the change goes
    /// on. It must not block.
    func onCommit(_ listener: @escaping @Sendable (Set<CataloguePart>) -> Void)

    /// Jobs are kept here as well, so that a job's receipt and the changes that it made are in one transaction.
    var journal: any JobJournal { get }

    /// The faults of the catalogue that are known by now, in sentences for people. Empty while all is well.
    func problems() async -> [String]

    /// Looks through the whole catalogue.
    /// - Returns: as ``problems()``.
    func check() async throws -> [String]

    /// Rows that reads have passed over since the catalogue was opened, because they hold what this program never writes, as a damaged disk
    /// leaves it. Rows that can be read again are left out; 1,000 rows at most.
    func unreadableRows() async throws -> [UnreadableEntry]

    /// The same, after a look at all rows.
    func findUnreadableRows() async throws -> [UnreadableEntry]

    /// Sees to it that no program finds deleted values anywhere in the catalogue's files: neither in free space, nor in the log from
    /// which it would recover.
    /// - Returns: false where a read keeps a part of them there; that part goes later.
    func eraseDeleted() async throws -> Bool

    /// Runs the transactions that are queued and takes no more: later ones fail. Another call of this does nothing.
    func close() async
}

/// The repositories inside one transaction. They must not be used after it.
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
    var links: any LinkRepository { get }
    var sentFiles: any SentFileRepository { get }
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

/// A part of the catalogue, as far as observers tell changes apart.
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
    /// Backups that were made, and their schedule.
    case backups
}
