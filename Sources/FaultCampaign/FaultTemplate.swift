import BenchSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh

/// The library with which every round begins: small, and with something in it for each operation.
struct FaultTemplate: Sendable {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// Photos that are imported into it; pictures after these are for imports of the rounds.
    static let photos = 8
    static let backup = "early.zip"
    static let oldDatabase = "smilepile_database"
    static let oldCategory = "Old phone"
    static let oldPhotos = ["old-1", "old-2"]

    let image: FolderImage
    let contents: LibraryContents
    let world: FaultWorld
    /// What the backup holds.
    let backupWorld: FaultWorld
    let pictures: [Data]
    /// Catalogues as earlier versions left them, and what each must become.
    private(set) var earlier: [(image: FolderImage, world: FaultWorld)] = []

    /// Makes it with a daemon that nothing disturbs.
    init(in place: FaultPlace, program: String, seed: UInt64) async throws {
        let album = SampleAlbum(width: 48, height: 36, seed: seed)
        // Of some, another picture is shown than came: these have originals.
        let wide = SampleAlbum(width: 2112, height: 36, seed: seed)
        let pictures = try (0..<(Self.photos + 8)).map { try ($0 % 5 == 1 ? wide : album).photo($0) }
        self.pictures = pictures
        var empty = FolderImage()
        empty.folders = ["backups"]
        try place.renew(with: empty)
        let daemon = try FaultDaemon(
            program: program, library: place.library, socket: place.socket, log: place.log, shim: nil, control: nil)
        guard let connection = try daemon.connect(to: place.socket) else {
            throw Failed(description: "the daemon does not start: \(daemon.words)")
        }
        let library = SocketAnswering(connection: connection)
        func run<M: Message>(_ message: M) throws where M.Reply == JobStarted {
            let job = try connection.ask(WaitForJob(job: try connection.ask(message).job))
            guard job.state == .finished else { throw Failed(description: "\(M.method): \(job)") }
        }
        for index in 0..<Self.photos {
            let folder = try place.newFolder("first")
            try pictures[index].write(to: URL(fileURLWithPath: folder + "/photo-\(index).jpg"))
            if index % 4 == 2 {
                try Data("{}".utf8).write(to: URL(fileURLWithPath: folder + "/photo-\(index).jpg.json"))
            }
            let category = try connection.ask(ListCategories()).categories[index % 2]
            try run(ImportPhotos(paths: [folder], categoryId: category.id))
        }
        let session = try connection.ask(StartSwipeSession()).sessionID
        let early = try await LibraryContents(library)
        try connection.ask(FinishSwipeSession(sessionID: session)).discard()
        for photo in early.photos.prefix(2) {
            try connection.ask(SetCaption(id: photo.id, caption: "early")).discard()
        }
        let brief = try connection.ask(AddCategory(displayName: "Brief"))
        try connection.ask(MovePhotos(ids: [early.photos[7].id], categoryId: brief.id)).discard()
        backupWorld = FaultWorld(try await LibraryContents(library))
        try run(CreateBackup(path: place.backups + "/" + Self.backup))
        // What a power cut leaves of folders that were just made is not modelled.
        try run(CreateBackup(path: place.backupFolder, incremental: true))
        // Two that only the backup has, two in the trash, and a category that is gone.
        try connection.ask(DeletePhotos(ids: early.photos[5...7].map(\.id))).discard()
        try connection.ask(PurgeTrash(ids: early.photos[6...7].map(\.id))).discard()
        try connection.ask(DeletePhotos(ids: [early.photos[4].id])).discard()
        try connection.ask(DeleteCategory(id: brief.id, deletePhotos: true)).discard()
        try connection.ask(SetFavorite(ids: [early.photos[0].id], isFavorite: true)).discard()
        try connection.ask(ChangeSettings(swipeThreshold: 0.7)).discard()
        contents = try await LibraryContents(library)
        world = FaultWorld(contents)
        connection.close()
        daemon.ask(to: SIGTERM)
        guard try daemon.wait() == .exit(0) else { throw Failed(description: "the daemon: \(daemon.words)") }
        image = try FolderImage(of: place.data)
    }

    /// The old app's library, in a folder that operations only read.
    func writePhone(to place: FaultPlace) async throws {
        for (index, name) in Self.oldPhotos.enumerated() {
            try pictures[Self.photos + 4 + index].write(to: URL(fileURLWithPath: "\(place.phone)/\(name).jpg"))
        }
        let rows = Self.oldPhotos.enumerated().map { index, name in
            """
            INSERT INTO photo_entities (id, uri, category_id, timestamp)
                VALUES ('00000000-0000-4000-8000-00000000000\(index)', '/storage/\(name).jpg', 1, 170000000000\(index));
            """
        }
        let script =
            """
            CREATE TABLE android_metadata (locale TEXT);
            CREATE TABLE room_master_table (id INTEGER PRIMARY KEY, identity_hash TEXT);
            CREATE TABLE category_entities (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, display_name TEXT NOT NULL,
                color_hex TEXT, position INTEGER NOT NULL, is_default INTEGER NOT NULL, created_at INTEGER NOT NULL,
                icon_name TEXT);
            CREATE TABLE photo_entities (id TEXT NOT NULL, uri TEXT NOT NULL, category_id INTEGER NOT NULL,
                timestamp INTEGER NOT NULL, encrypted_child_name TEXT, encrypted_child_age TEXT, encrypted_notes TEXT,
                encrypted_tags TEXT, encrypted_milestone TEXT, encrypted_location TEXT, encrypted_metadata TEXT,
                PRIMARY KEY (id));
            CREATE TABLE photo_category_join (photo_id TEXT NOT NULL, category_id INTEGER NOT NULL,
                assigned_at INTEGER NOT NULL, is_primary INTEGER NOT NULL, PRIMARY KEY (photo_id, category_id));
            INSERT INTO category_entities (id, display_name, color_hex, position, is_default, created_at)
                VALUES (1, '\(Self.oldCategory)', '#2196F3', 0, 0, 1600000000000);
            """ + rows.joined()
        try SQLiteShell.make(place.phone + "/" + Self.oldDatabase, applicationID: 1, version: 8, script)
    }

    // MARK: Earlier versions

    /// Takes catalogues of earlier versions from `fixtures`, and lets an undisturbed daemon say what each becomes.
    mutating func addEarlier(from fixtures: String, in place: FaultPlace, program: String) async throws {
        var version = 1
        while let text = try? String(contentsOfFile: "\(fixtures)/catalogue-v\(version).sql", encoding: .utf8) {
            var empty = FolderImage()
            empty.folders = ["backups", "library"]
            try place.renew(with: empty)
            // "SmlP"
            try SQLiteShell.make(
                place.library + "/catalogue.sqlite", applicationID: 0x536D_6C50, version: version, text)
            let image = try FolderImage(of: place.data)
            let daemon = try FaultDaemon(
                program: program, library: place.library, socket: place.socket, log: place.log, shim: nil, control: nil)
            guard let connection = try daemon.connect(to: place.socket) else {
                throw Failed(description: "version \(version) is not upgraded: \(daemon.words)")
            }
            try await FaultCheck.endJobs(SocketAnswering(connection: connection), cancels: true)
            earlier.append((image, FaultWorld(try await LibraryContents(SocketAnswering(connection: connection)))))
            connection.close()
            daemon.kill()
            version += 1
        }
        guard version > 1 else { throw Failed(description: "\(fixtures) has no catalogues of earlier versions") }
    }
}

extension Decodable {
    /// A reply of which only its coming was of interest.
    fileprivate func discard() {}
}
