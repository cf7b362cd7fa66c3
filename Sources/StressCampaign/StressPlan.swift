import BenchSupport
/// What one client does, in which order: decided by the seed alone, so that a run that found something can be repeated.
///
/// Replies decide which ids a request names, and the machine decides how the requests of several clients meet.
struct StressPlan: Sendable {
    /// How a client behaves while it is connected.
    enum Manner: CaseIterable, Sendable {
        /// A few requests at a time.
        case steady
        /// More requests at once than a connection may have running.
        case bursting
        /// Sends, and does not read for a while.
        case slowReading
        /// Ends its own side after the last request, then reads to the end.
        case halfClosing
        /// Closes with requests running.
        case vanishing
        /// Closes in the middle of a line.
        case breakingOff
        /// Lines that are no requests between those that are.
        case malformed
        /// A line longer than is taken, after which the daemon ends the connection.
        case oversized
        /// Lowers its role first: what needs a parent is refused.
        case child
        /// Deadlines of one millisecond.
        case hurried

        /// Of 40.
        fileprivate var weight: Int {
            switch self {
            case .steady: 20
            case .bursting, .slowReading, .halfClosing, .vanishing, .malformed, .hurried: 3
            case .breakingOff, .child: 1
            case .oversized: 1
            }
        }

        fileprivate static let table = allCases.flatMap { Array(repeating: $0, count: $0.weight) }
    }

    /// One connection from its beginning to its end.
    struct Visit: Sendable {
        let manner: Manner
        let steps: Int
        /// Requests that may wait for their replies.
        let window: Int
        /// For which a slow reader does not read, in milliseconds.
        let pause: Int
    }

    let seed: UInt64
    let client: Int

    func visit(_ number: Int) -> Visit {
        var random = SeededChoices(seed: seed, client, -1 - number)
        let manner = random.pick(Manner.table) ?? .steady
        let steps =
            switch manner {
            case .steady: random.roll(20...120)
            case .bursting: random.roll(80...160)
            default: random.roll(5...40)
            }
        return Visit(
            manner: manner, steps: steps, window: manner == .bursting ? .max : random.roll(1...8),
            pause: random.roll(100...1500))
    }

    /// What the client does at step `number`, counted over all its visits.
    ///
    /// Each client begins with one of everything, in an order of its own: a short run misses nothing.
    func step(_ number: Int) -> (operation: StressOperation, random: SeededChoices) {
        var random = SeededChoices(seed: seed, client, number)
        let all = StressOperation.allCases
        let operation =
            number < all.count
            ? all[(number + client * 7) % all.count] : random.pick(StressOperation.table) ?? .pingDaemon
        return (operation, random)
    }
}

/// What a client may want; each is one message, but `discovered`.
enum StressOperation: CaseIterable, Sendable {
    case searchPhotos, searchText, searchReviewed, getPhoto, setFavorite, setCaption, movePhotos, deletePhotos,
        forgetPhotos
    case listTrash, restorePhotos, purgeTrash
    case setNotes, readNotes, searchNotes, rotateKeys
    case listCategories, getCategory, addCategory, editCategory, reorderCategories, deleteCategory
    case startSwiping, recordSwipe, undoSwipes, finishSwiping, listSessions, listPending, processSwipes
    case listHistory, markProcessed, deleteProcessed
    case getSettings, changeSettings, libraryStatus
    case importPhotos, createBackup, inspectBackup, verifyBackup, restoreBackup
    case listJobs, getJob, jobReceipt, waitForJob, watchJob, cancelJob
    case meshStatistics, meshHealth, hello, pingDaemon, discover
    /// A method that this program does not know by its type, but can ask all the same: see ``DiscoveredMethods``.
    case discovered

    /// As in a busy family: looking is most of it, swiping and sorting comes next, large jobs are rare.
    fileprivate var weight: Int {
        switch self {
        case .searchPhotos: 100
        case .recordSwipe: 80
        case .searchText, .searchReviewed, .getPhoto, .setFavorite, .setCaption, .listCategories: 50
        case .movePhotos, .deletePhotos, .restorePhotos, .addCategory, .editCategory, .getCategory: 30
        case .setNotes, .readNotes: 30
        case .discovered: 40
        case .listTrash, .listPending, .libraryStatus, .getSettings, .pingDaemon, .getJob: 20
        case .undoSwipes, .deleteCategory, .purgeTrash, .startSwiping, .finishSwiping, .processSwipes, .jobReceipt: 12
        case .listHistory, .markProcessed, .searchNotes: 12
        case .reorderCategories, .listSessions, .changeSettings, .waitForJob, .watchJob, .hello: 10
        case .listJobs, .meshStatistics, .meshHealth, .inspectBackup: 6
        case .importPhotos, .cancelJob, .deleteProcessed: 5
        case .forgetPhotos, .discover, .createBackup, .verifyBackup, .restoreBackup, .rotateKeys: 2
        }
    }

    fileprivate static let table = allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    /// Whether it makes a job. Those are rationed: a daemon has 4,096 of them in memory, for an hour each.
    var startsJob: Bool {
        switch self {
        case .importPhotos, .createBackup, .verifyBackup, .restoreBackup, .rotateKeys: true
        default: false
        }
    }

    /// Whether the answer comes when something else has ended.
    var waits: Bool {
        switch self {
        case .waitForJob, .watchJob, .discovered: true
        default: false
        }
    }
}
