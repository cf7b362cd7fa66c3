import BenchSupport
import Foundation
import LibraryModel
import SQLiteCatalogue
import ServiceMesh
import ZipArchive

/// Looks through a library that nobody serves any more: whether catalogue and files agree, and whether what was
/// acknowledged is there.
struct LibraryCheck {
    private(set) var photos = 0
    private(set) var trashed = 0
    private(set) var bytes: Int64 = 0
    /// Acknowledged values that were looked up.
    private(set) var facts = 0
    private(set) var problems: [String] = []

    let path: String

    /// - Parameters:
    ///   - beliefs: of each client.
    ///   - withoutThumbnail: how many photos restores have said they could make none for, which is what a restore does
    ///     when its helper is killed.
    static func run(
        at path: String, beliefs: [ClientBeliefs], withoutThumbnail: Int
    ) async throws -> LibraryCheck {
        var check = LibraryCheck(path: path)
        // Before anything opens it, and perhaps mends it.
        check.problems += try await SQLiteCatalogue.problems(inFileAt: path + "/catalogue.sqlite").map {
            "catalogue: \($0)"
        }
        check.requireEmpty("staging")
        let opened = try await BenchLibrary.open(at: path)
        do {
            let found = try await LibraryContents(MeshAnswering(mesh: opened.mesh))
            check.compareFiles(
                found, forgotten: Set(beliefs.flatMap(\.forgotten)), withoutThumbnail: withoutThumbnail)
            for belief in beliefs { check.compare(found, belief) }
        } catch {
            await opened.close()
            throw error
        }
        await opened.close()
        return check
    }

    private init(path: String) { self.path = path }

    private mutating func require(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { problems.append(what()) }
    }

    private func names(_ folder: String) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)) ?? [])
    }

    private mutating func requireEmpty(_ folder: String) {
        let left = names(folder)
        require(left.isEmpty, "\(folder)/ holds \(left.count) files: \(left.sorted().prefix(3))")
    }

    // MARK: Files

    private mutating func compareFiles(_ found: LibraryContents, forgotten: Set<String>, withoutThumbnail: Int) {
        photos = found.photos.count
        trashed = found.trash.count
        let rows = found.rows
        let files = names("photos")
        let wanted = Set(rows.map(\.fileName))
        require(wanted.count == rows.count, "\(rows.count) rows name \(wanted.count) files")
        let missing = wanted.subtracting(files)
        require(missing.isEmpty, "\(missing.count) rows without their file: \(missing.sorted().prefix(3))")
        let strangers = files.subtracting(wanted).filter { !forgotten.contains("photos/" + $0) }
        require(strangers.isEmpty, "\(strangers.count) files without a row: \(strangers.sorted().prefix(3))")
        let thumbnails = names("thumbnails")
        let wantedThumbnails = Set(wanted.map { "thumb_" + $0 })
        let without = wantedThumbnails.subtracting(thumbnails)
        require(
            without.count <= withoutThumbnail,
            "\(without.count) photos without a thumbnail, and \(withoutThumbnail) were announced: "
                + "\(without.sorted().prefix(3))")
        let unwanted = thumbnails.subtracting(wantedThumbnails)
        require(unwanted.isEmpty, "\(unwanted.count) thumbnails of no photo: \(unwanted.sorted().prefix(3))")
        // Not every photo needs a preview, and one that a restore brings has none yet.
        let previews = names("previews").subtracting(wanted.map { "preview_\($0).webp" })
        require(previews.isEmpty, "\(previews.count) previews of no photo: \(previews.sorted().prefix(3))")
        compareOriginals(rows, forgotten: forgotten)
        requireEmpty("staging")
        let partial = names("backups").filter { $0.hasSuffix(".partial") }
        require(partial.isEmpty, "unfinished backups are left: \(partial.sorted().prefix(3))")
        for photo in rows where files.contains(photo.fileName) { compareBytes(photo) }
    }

    /// Those that are files of their own, and sidecars; a forgotten photo leaves its own behind.
    private mutating func compareOriginals(_ rows: [Photo], forgotten: Set<String>) {
        let wanted = Set(rows.flatMap(\.filePaths).filter { $0.hasPrefix("originals/") })
        let found = Set(names("originals").map { "originals/" + $0 })
        let missing = wanted.subtracting(found)
        require(missing.isEmpty, "\(missing.count) originals are not there: \(missing.sorted().prefix(3))")
        let strangers = found.subtracting(wanted).filter { path in
            let stem = path.dropFirst("originals/".count).split(separator: ".").first ?? ""
            return !forgotten.contains("photos/\(stem).jpg")
        }
        require(strangers.isEmpty, "\(strangers.count) originals of no photo: \(strangers.sorted().prefix(3))")
    }

    private mutating func compareBytes(_ photo: Photo) {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path + "/" + photo.path)) else {
            return problems.append("\(photo.path) cannot be read")
        }
        bytes += Int64(data.count)
        let digest = ContentDigest(of: data)
        require(
            digest.sha256.hex == photo.contentDigest && digest.size == photo.fileSize,
            "\(photo.path) has other bytes than the catalogue says")
    }

    // MARK: What was acknowledged

    private mutating func compare(_ found: LibraryContents, _ belief: ClientBeliefs) {
        let who = "client \(belief.client)"
        let categories = Dictionary(uniqueKeysWithValues: found.categories.map { ($0.id, $0) })
        for (id, own) in belief.categories where !own.mayBeGone {
            facts += 1
            guard let category = categories[id] else {
                problems.append("\(who): the category \(id), one of \(own.names.sorted()), is gone")
                continue
            }
            require(
                own.names.contains(category.displayName) && own.colors.contains(category.colorHex),
                "\(who): the category \(id) is \(category.displayName) \(category.colorHex), "
                    + "acknowledged was one of \(own.names.sorted()) \(own.colors.sorted())")
        }
        let byUUID = Dictionary(grouping: found.photos, by: \.uuid)
        let trash = Set(found.trash.map(\.photo.uuid))
        for (uuid, own) in belief.photos where !own.mayBeGone {
            facts += 1
            guard let photo = byUUID[uuid]?.first else {
                require(trash.contains(uuid), "\(who): the photo \(own.photo.id) (\(uuid)) is gone")
                require(own.hasForeignValues, "\(who): the photo \(own.photo.id) is in the trash, where nobody put it")
                continue
            }
            guard !own.hasForeignValues else { continue }
            require(
                own.captions.contains(photo.caption),
                "\(who): the caption of \(photo.id) is \(photo.caption ?? "none"), acknowledged was one of "
                    + "\(own.captions.map { $0 ?? "none" }.sorted())")
            let notes = found.notes[uuid]
            require(
                own.notes.contains(notes),
                "\(who): the notes of \(photo.id) are \(notes ?? "none"), acknowledged was one of "
                    + "\(own.notes.map { $0 ?? "none" }.sorted())")
            require(
                own.hasForeignFavorite || own.favorites.contains(photo.isFavorite),
                "\(who): the photo \(photo.id) \(photo.isFavorite ? "is" : "is not") a favourite")
        }
        let sessions = Dictionary(uniqueKeysWithValues: found.sessions.map { ($0.sessionID, $0) })
        for (id, own) in belief.sessions {
            guard let session = sessions[id] else {
                require(!found.hasAllSessions, "\(who): the session \(id) is gone")
                continue
            }
            facts += 1
            require(
                own.photos.contains(session.photosProcessed),
                "\(who): the session \(id) has \(session.photosProcessed) photos, "
                    + "acknowledged were \(own.photos.lowerBound) to \(own.photos.upperBound)")
            require(!own.isFinished || session.endTime != nil, "\(who): the session \(id) was finished and runs")
        }
    }
}
