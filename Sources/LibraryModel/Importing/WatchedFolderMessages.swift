import ServiceMesh

/// A folder whose pictures are imported by themselves, as they come.
public struct WatchedFolder: Codable, Sendable, Equatable {
    public enum State: String, Codable, Sendable, CaseIterable {
        /// The kernel tells what changes.
        case watching
        /// It is looked at every five minutes: it lies on another machine, or has more folders in it than the kernel watches.
        case polling
        /// It is not there: its disk may not be mounted. It is looked for every minute.
        case missing
    }

    /// Absolute.
    public let path: String
    /// Where its photos go; the first category, or the one that a library's own sidecar names, where there is none.
    public let categoryId: Int64?
    public let addedAt: Timestamp
    public let state: State
    /// The newest job that imported from it.
    public let job: JobID?
    /// Why the last look came to nothing.
    public let problem: String?

    public init(
        path: String, categoryId: Int64?, addedAt: Timestamp, state: State, job: JobID?, problem: String?
    ) {
        (self.path, self.categoryId, self.addedAt) = (path, categoryId, addedAt)
        (self.state, self.job, self.problem) = (state, job, problem)
    }
}

public struct WatchedFolderList: Codable, Sendable, Equatable {
    /// By the time at which they were added.
    public let folders: [WatchedFolder]

    public init(folders: [WatchedFolder]) { self.folders = folders }
}

/// Has what comes into a folder imported by itself, beginning with what is there: each file once its writer has closed it, with a
/// job and a receipt as every import. Folders below it belong to it. What is deleted there stays in the library. What programs
/// call a file while they write it (`*.part`, `*.partial`, `*.tmp` and such, and hidden names) is not looked at.
///
/// Errors: `invalid_argument` (a relative path, no folder, one in the library or with the library in it), `not_found` (the folder,
/// the category), `already_exists` (it is watched, or one below or above it is), `resource_exhausted` (``maximumCount``).
public struct WatchFolder: Message {
    public typealias Reply = WatchedFolder
    public static let method = "folder.watch"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Has what comes into a folder imported by itself."
    public var isForThisMachine: Bool { true }
    /// Folders of one library.
    public static let maximumCount = 32
    /// Absolute.
    public let path: String
    public let categoryId: Int64?

    public init(path: String, categoryId: Int64? = nil) { (self.path, self.categoryId) = (path, categoryId) }
}

/// Watches a folder no more. What was imported from it stays. Errors: `not_found`.
public struct UnwatchFolder: Message {
    public typealias Reply = WatchedFolderList
    public static let method = "folder.unwatch"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Imports from a folder by itself no more."
    public var isForThisMachine: Bool { true }
    public let path: String

    public init(path: String) { self.path = path }
}

/// The folders that are watched, and how they are.
public struct ListWatchedFolders: Message {
    public typealias Reply = WatchedFolderList
    public static let method = "folder.list"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Lists the folders from which is imported by itself."

    public init() {}
}
