import Foundation

/// A folder of one test's own, removed with everything in it when the value goes out of scope.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init(_ purpose: String = "test") throws {
        path = NSTemporaryDirectory() + "smilepile-\(purpose)-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of `name` inside the folder.
    public func file(_ name: String) -> String { path + "/" + name }
}
