import Foundation

/// Our other programs.
package enum Programs {
    /// This one.
    static func own() throws -> String { try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") }

    /// One that stands in the same folder.
    /// - Parameter script: that builds it.
    package static func beside(_ name: String, by script: String = "Scripts/bench") throws -> String {
        let path = URL(fileURLWithPath: try own()).deletingLastPathComponent().path + "/" + name
        guard access(path, X_OK) == 0 else {
            throw LineSocket.Failure(
                description: "\(name) is not beside this program. Build it with \(script).")
        }
        return path
    }
}
