import Foundation
import LibraryModel
import LibraryServices
import ServiceMesh

/// Backups of the phone apps: a `metadata.json` beside `photos/`, perhaps one folder deep (version 2), or that document alone
/// (version 1), which has no pictures.
///
/// The Android app leaves out every value that is the usual one, calls photos by a hash of where they were, and makes JPEGs of
/// all under the names that they had; the iOS app names entries after files alone.
package enum PhoneDialect {
    package static let metadataEntry = "metadata.json"
    static let latestVersion = 2

    struct Document: Decodable {
        struct Category: Decodable {
            let id: Int64?
            let name: String?
            let displayName: String?
            let position: Int?
            let iconResource: String?
            let colorHex: String?
            let isDefault: Bool?
            let createdAt: Int64?
        }

        struct Photo: Decodable {
            let id: Int64?
            let path: String?
            let categoryId: Int64?
            let name: String?
            let isFromAssets: Bool?
            let createdAt: Int64?
            let fileSize: Int64?
            let width: Int64?
            let height: Int64?
            let isFavorite: Bool?
        }

        struct Settings: Decodable {
            struct Security: Decodable {
                let hasPIN: Bool?
                let hasPattern: Bool?
                let kidSafeModeEnabled: Bool?
                let deleteProtectionEnabled: Bool?
            }

            let securitySettings: Security?
        }

        struct Entry: Decodable {
            let photoId: Int64?
            let originalPath: String?
            let zipEntryName: String?
            let fileName: String?
            /// MD5, hex.
            let checksum: String?
        }

        let version: Int?
        let exportDate: Int64?
        let appVersion: String?
        let format: String?
        package private(set) var categories: [Category]?
        package private(set) var photos: [Photo]?
        let settings: Settings?
        package private(set) var photoManifest: [Entry]?

        /// - Returns: nil for one of a later version, and which one that is.
        /// - Throws: an error of decoding; `data_loss`.
        static func read(_ bytes: DocumentBytes) throws -> (document: Document?, version: Int) {
            let lists = try LongLists(
                bytes,
                [
                    "categories": CategoryLimits.count, "photos": ForeignContents.maximumPhotos,
                    "photoManifest": ForeignContents.maximumPhotos * 4,
                ])
            let version = try lists.decodeRest(Version.self).version ?? latestVersion
            guard version <= latestVersion else { return (nil, version) }
            var document = try lists.decodeRest(Document.self)
            // What is absent stays nil.
            if document.categories != nil { document.categories = try lists.decode("categories") { $0 } }
            if document.photos != nil { document.photos = try lists.decode("photos") { $0 } }
            if document.photoManifest != nil { document.photoManifest = try lists.decode("photoManifest") { $0 } }
            return (document, version)
        }
    }

    private struct Version: Decodable {
        let version: Int?
    }

    /// - Parameter root: the folder in the archive that has it all, with a slash at its end; empty for none.
    /// - Throws: `unimplemented` for a later version; `data_loss`.
    static func read(_ archive: BackupArchive, root: String = "") throws -> DescribedBackup {
        let name = root + metadataEntry
        let (read, version) = try archive.decoded(name, Document.read)
        guard let document = read else {
            throw MeshError(
                laterBackup: "version \(version) of the phone apps' backups", known: "version \(latestVersion)")
        }
        var foreign = ForeignContents()
        let date = noteAbsent(in: document, madeAt: archive.modified, &foreign)
        for category in document.categories ?? [] {
            foreign.enter(
                ForeignContents.Category(
                    id: category.id, displayName: category.displayName, name: category.name,
                    position: category.position, colorHex: category.colorHex, iconResource: category.iconResource,
                    isDefault: category.isDefault, createdAt: category.createdAt))
        }
        let entries = try ForeignEntries(archive, root: root)
        let listed = Dictionary(
            (document.photoManifest ?? []).compactMap { entry in entry.photoId.map { ($0, entry) } },
            uniquingKeysWith: { first, _ in first })
        var checksums: [String: String] = [:]
        for photo in document.photos ?? [] {
            let path = photo.path ?? ""
            let entry = photo.id.flatMap { listed[$0] }
            let file = ForeignEntries.file(path)
            let names = [
                entry?.zipEntryName, photo.id.map { "\($0)_\(file)" }, entry?.fileName, file, entry?.originalPath,
            ]
            let found = entries.find(names.compactMap { $0 })
            if let found, let checksum = entry?.checksum?.lowercased(), checksum.utf8.count == 32 {
                checksums[found.path] = checksum
            }
            foreign.enter(
                ForeignContents.Photo(
                    id: photo.id, path: path.isEmpty ? "photo \(photo.id ?? 0)" : path, categoryId: photo.categoryId,
                    name: photo.name, caption: nil, isFromAssets: photo.isFromAssets, createdAt: photo.createdAt,
                    isFavorite: photo.isFavorite),
                entry: found)
        }
        noteSettings(document.settings, &foreign)
        let contents = try foreign.contents(name)
        return DescribedBackup(
            summary: BackupSummary(
                dialect: "phone", backupVersion: String(version), appVersion: document.appVersion ?? "unknown",
                timestamp: date, photoCount: contents.photos.count,
                categoryCount: contents.categories.count, isPartial: false, sealedWith: nil),
            contents: contents, promised: [],
            unpromised: Set(try [name] + contents.photos.compactMap { $0.photo.path }), damaged: [],
            notices: [], checksums: checksums)
    }

    /// Counts what the document does not say of itself, and of its photos what an import finds out.
    /// - Parameter modified: of the file.
    /// - Returns: when it was made, as far as is known.
    private static func noteAbsent(
        in document: Document, madeAt modified: Timestamp, _ foreign: inout ForeignContents
    ) -> Timestamp {
        _ = foreign.value(document.version, or: latestVersion, "version", of: "the document")
        _ = foreign.value(document.format, or: "ZIP", "format", of: "the document")
        _ = foreign.value(document.appVersion, or: "unknown", "appVersion", of: "the document")
        foreign.expect(document.categories, "categories", of: "the document", or: "none")
        foreign.expect(document.photos, "photos", of: "the document", or: "none")
        foreign.expect(document.settings, "settings", of: "the document", or: "none")
        foreign.expect(
            document.photoManifest, "photoManifest", of: "the document", or: "entries are found by their names")
        for photo in document.photos ?? [] {
            foreign.expect(photo.fileSize, "fileSize", of: "photos", or: "as the picture has")
            foreign.expect(photo.width, "width", of: "photos", or: "as the picture has")
            foreign.expect(photo.height, "height", of: "photos", or: "as the picture has")
        }
        foreign.expect(document.exportDate, "exportDate", of: "the document", or: "the date of the file")
        return document.exportDate.map { LegacyDate.credible($0).date } ?? modified
    }

    private static func noteSettings(_ settings: Document.Settings?, _ foreign: inout ForeignContents) {
        guard let settings else { return }
        let security = settings.securitySettings
        if security?.hasPIN == true || security?.hasPattern == true {
            foreign.note(
                metadataEntry, ForeignContents.left, "the phone's PIN or pattern; set one here: smilepile pin set")
        }
        if security?.kidSafeModeEnabled == true {
            foreign.note(metadataEntry, ForeignContents.left, "kids mode was on; who uses this machine is decided here")
        }
        foreign.note(
            metadataEntry, ForeignContents.left, "the phone app's settings (dark mode and such) have no meaning here")
    }
}
