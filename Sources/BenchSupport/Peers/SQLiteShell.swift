import Foundation

/// Databases that other programs have made, or look into: by SQLite's own command line, so that they are another program's.
package enum SQLiteShell {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Makes a database by a script, with a log as the programs in question have one.
    package static func make(_ path: String, applicationID: Int32, version: Int, _ script: String) throws {
        try run(
            path,
            """
            PRAGMA journal_mode = wal; PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);
            BEGIN; \(script); COMMIT;
            """)
    }

    /// Runs a script on the database at `path`. Blocks.
    package static func run(_ path: String, _ script: String) throws {
        guard let sqlite = Tool.sqlite.path else {
            throw Failure(description: "sqlite3 is not installed. Install the package \(Tool.sqlite.package).")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: sqlite)
        process.arguments = ["-bail", path, script]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        let said = errors.fileHandleForReading.readDataToEndOfFile()
        ended.wait()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "sqlite3 \(path): \(String(decoding: said.prefix(400), as: UTF8.self))")
        }
    }
}

extension Tool {
    package static let sqlite = Tool(name: "sqlite3", package: "sqlite3")
}
