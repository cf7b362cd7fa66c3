import Glibc

/// What a file's status says about its bytes: two that are equal were taken with no change between them, as far as the
/// file system's clock can tell.
package struct FileState: Equatable, Sendable {
    private let device: dev_t
    private let inode: ino_t
    private let size: off_t
    private let modified: Moment
    /// Of the last change of the status too, which nobody can set back.
    private let changed: Moment

    private struct Moment: Equatable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) {
            seconds = time.tv_sec
            nanoseconds = time.tv_nsec
        }
    }

    package init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
        size = status.st_size
        modified = Moment(status.st_mtim)
        changed = Moment(status.st_ctim)
    }

    /// Whether another change could follow the last one within the same tick of the file system's clock, and so leave
    /// the status as it is: 2 s on a memory stick (FAT), some milliseconds on most others.
    package var isFresh: Bool {
        var now = timespec()
        guard clock_gettime(CLOCK_REALTIME, &now) == 0 else { return true }
        return isFresh(at: now.tv_sec)
    }

    /// - Parameter now: seconds since 1970.
    package func isFresh(at now: Int) -> Bool { max(modified.seconds, changed.seconds) >= now - 3 }
}
