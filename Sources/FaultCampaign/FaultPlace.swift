import BenchSupport
import Foundation

/// A lane's own folders: those that the shim looks at below `data`, and what an operation reads beside them.
final class FaultPlace {
    let folder: String
    var data: String { folder + "/data" }
    var library: String { data + "/library" }
    /// Backups outside the library.
    var backups: String { data + "/backups" }
    /// A folder that holds each file of several backups once.
    var backupFolder: String { data + "/folder" }
    var sources: String { folder + "/sources" }
    /// The folder of the old app's library.
    var phone: String { folder + "/phone" }
    var socket: String { folder + "/socket/control" }
    var log: String { folder + "/daemon.log" }
    private var number = 0

    init(folder: String) throws {
        self.folder = folder
        for path in [folder, folder + "/socket", sources, phone] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    func nextNumber() -> Int {
        number += 1
        return number
    }

    func newFolder(_ name: String) throws -> String {
        let path = "\(sources)/\(name)-\(nextNumber())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// Reads the catalogue as any other program would. What it finds is of no interest, nor whether it may.
    func readCatalogue() {
        try? SQLiteShell.run(library + "/catalogue.sqlite", "SELECT count(*) FROM photos")
    }

    /// Something to be cleaned away.
    func addStrayThumbnails() throws {
        for number in 0..<3 {
            try Data("no thumbnail".utf8).write(
                to: URL(fileURLWithPath: "\(library)/thumbnails/thumb_stray-\(number).jpg"))
            try Data("no preview".utf8).write(
                to: URL(fileURLWithPath: "\(library)/previews/preview_stray-\(number).jpg.webp"))
        }
    }

    /// Puts the library and its backups there, with nothing else, and takes the sources of the last round away.
    func renew(with image: FolderImage) throws {
        try? FileManager.default.removeItem(atPath: sources)
        try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
        number = 0
        try image.write(to: data)
    }
}
