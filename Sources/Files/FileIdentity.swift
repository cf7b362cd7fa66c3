import Foundation

/// Which file something is at this moment, whatever path leads to it. For longer than that there is ``FileOrigin``.
package struct FileIdentity: Hashable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    package init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }

    /// Of what a path leads to, over links; nil where nothing is.
    package init?(at path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        self.init(found)
    }
}
