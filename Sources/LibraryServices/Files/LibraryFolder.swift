import CLinux
import Foundation
import LibraryModel
import ServiceMesh

/// Where things are in a library's folder, and how files come into it.
///
/// A new file is written to `staging/` under its final name, made durable, and hard-linked to its place; then the
/// catalogue's transaction commits; then the staging name goes. So the staging name is the record of what was
/// under way, without a second journal: after a kill, whatever is in `staging/` either has a row (then only the
/// staging name goes) or has none (then the linked file goes too, recognised by its inode). Files in `photos/`
/// that nobody knows are never touched: they may be pictures that exist once.
struct LibraryFolder: Sendable {
    let path: String

    var photos: String { path + "/photos" }
    var thumbnails: String { path + "/thumbnails" }
    var staging: String { path + "/staging" }
    var backups: String { path + "/backups" }
    var catalogue: String { path + "/catalogue.sqlite" }
    var lock: String { path + "/library.lock" }

    static let thumbnailPrefix = "thumb_"

    func make() throws {
        for folder in [path, photos, thumbnails, staging, backups] { try FileSystem.makeFolder(folder) }
        // Photos are linked from one to the other, so none can be on another disk. In a library from elsewhere, a link
        // would have this one's files written and removed wherever it leads.
        for part in [photos, thumbnails, staging, catalogue]
        where try FileSystem.status(part).map({ $0.st_mode & S_IFMT == S_IFLNK }) ?? false {
            throw MeshError(
                .failedPrecondition, "\(part) is a link. Put what it leads to in its place, or remove it.")
        }
        guard try FileSystem.status(path)?.st_uid == geteuid() else {
            throw MeshError(
                .failedPrecondition,
                "The library folder \(path) belongs to another user. Use one of your own, or change its owner.")
        }
    }

    /// Where a file is that the catalogue names: `photos/NAME` or `thumbnails/NAME`.
    ///
    /// The catalogue may come from anywhere. A name that leads out of those folders is no file of this library: it is
    /// neither read nor removed.
    /// - Throws: `data_loss`.
    func location(of stored: String) throws -> String {
        let parts = stored.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ["photos", "thumbnails"].contains(parts[0]), !["", ".", ".."].contains(parts[1]),
            !parts[1].utf8.contains(UInt8(ascii: "/")), !parts[1].utf8.contains(0)
        else {
            throw MeshError(
                .dataLoss,
                "The catalogue names a file that is not in the library's folders: '\(stored.prefix(200))'. It is left alone.",
                details: ["path": .string(String(stored.prefix(300)))])
        }
        return path + "/" + stored
    }

    /// Whether a path leads into this folder, over whatever links.
    func contains(_ other: String) -> Bool {
        guard let own = realpath(path, nil), let real = realpath(other, nil) else { return false }
        defer {
            free(own)
            free(real)
        }
        return String(cString: real).hasPrefix(String(cString: own) + "/")
    }

    /// Two names in `staging/` for a photo and its thumbnail that have no final name yet.
    func temporaryNames() -> (photo: String, thumbnail: String) {
        let stem = String(UInt64.random(in: 0 ... .max), radix: 16)
        return (stem + ".photo", stem + ".thumbnail")
    }

    /// `IMG_YYYYMMDD_HHMMSS_<8 hex>.jpg`, by the date the photo was taken, else now; local time, as cameras do.
    func newFileName(takenAt: Timestamp?, fileExtension: String) -> String {
        var seconds = time_t((takenAt ?? .now()).milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let suffix = String(UInt32.random(in: 0 ... .max), radix: 16)
        let padded = String(repeating: "0", count: 8 - suffix.count) + suffix
        let numbers = [
            parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        ]
        let texts = numbers.enumerated().map { index, number in
            let text = String(number)
            return String(repeating: "0", count: max(0, (index == 0 ? 4 : 2) - text.count)) + text
        }
        return "IMG_\(texts[0...2].joined())_\(texts[3...5].joined())_\(padded)\(fileExtension)"
    }

    /// A photo's files in `staging/` and the name they are to have.
    struct Staged: Sendable {
        let photo: String
        /// Nil for a photo of which none could be made.
        let thumbnail: String?
        let fileName: String
    }

    /// Gives staged files their final names, still in `staging/`, and links them to their places, durably.
    /// The catalogue's rows come next, then ``settle(_:)``; where they do not come, ``withdraw(_:)``, and where nobody can
    /// tell, neither: see `MeshError.mayHaveBeenStored`.
    ///
    /// The files' own contents must be durable already. Three folders are synced however many files there are.
    /// - Throws: `FileSystem.Failure`, with EEXIST where a name is taken; nothing is left in place then, and staged
    ///   files that have their final name already are gone.
    func publish(_ staged: [Staged]) throws {
        func pairs(_ item: Staged) -> [(staged: String, name: String, folder: String)] {
            [(item.photo, item.fileName, photos)]
                + (item.thumbnail.map { [($0, Self.thumbnailPrefix + item.fileName, thumbnails)] } ?? [])
        }
        for (_, name, folder) in staged.flatMap(pairs) where try FileSystem.status(folder + "/" + name) != nil {
            throw FileSystem.Failure(action: "link", path: folder + "/" + name, code: EEXIST)
        }
        do {
            for (temporary, name, _) in staged.flatMap(pairs) where temporary != name {
                try FileSystem.rename(staging + "/" + temporary, to: staging + "/" + name)
            }
            try FileSystem.sync(staging)
            for (_, name, folder) in staged.flatMap(pairs) {
                try FileSystem.link(staging + "/" + name, as: folder + "/" + name)
            }
            try FileSystem.sync(photos)
            try FileSystem.sync(thumbnails)
        } catch {
            try? withdraw(staged.map(\.fileName))
            throw error
        }
    }

    /// The row is durable: the staging names go.
    func settle(_ fileName: String) throws {
        try FileSystem.remove(staging + "/" + fileName)
        try FileSystem.remove(staging + "/" + Self.thumbnailPrefix + fileName)
    }

    /// There are no rows: linked files go, and the staged ones.
    ///
    /// The staged names last, once the others are gone durably: without them, a linked file that a power cut brings back
    /// would be nobody's.
    func withdraw(_ fileNames: [String]) throws {
        var synced: Set<String> = []
        for fileName in fileNames {
            for (name, folder) in [(fileName, photos), (Self.thumbnailPrefix + fileName, thumbnails)]
            where try FileSystem.isSameFile(staging + "/" + name, folder + "/" + name) {
                try FileSystem.remove(folder + "/" + name)
                synced.insert(folder)
            }
        }
        for folder in synced { try FileSystem.sync(folder) }
        for fileName in fileNames { try settle(fileName) }
    }

    /// Staged files that are not wanted: linked ones go, and those in `staging/`, whatever their name is by now. What
    /// cannot be removed is left to the next start.
    func abandon(_ items: [Staged]) {
        guard (try? withdraw(items.map(\.fileName))) != nil else { return }
        for item in items {
            for name in [item.photo, item.thumbnail].compactMap({ $0 }) { try? FileSystem.remove(staging + "/" + name) }
        }
    }

    /// Removes files that the catalogue names, and makes that durable.
    ///
    /// One that is gone already counts, once its folder is synced: whoever removed it may have been stopped before that.
    /// - Returns: those that are gone for good. The others cannot be removed now, or are none of ours.
    func remove(stored: [String]) -> [String] {
        var removed: [String: [String]] = [:]
        for name in stored {
            guard let path = try? location(of: name), (try? FileSystem.remove(path)) != nil else { continue }
            removed[LibraryFolder.parent(of: path), default: []].append(name)
        }
        return removed.flatMap { folder, names in (try? FileSystem.sync(folder)) == nil ? [] : names }
    }

    /// What a kill left in `staging/`: every file's name there, without the thumbnails' prefix. Folders are none of
    /// ours; file servers put theirs everywhere.
    func leftovers() throws -> [String] {
        let names = try FileSystem.names(in: staging).compactMap { $0 }.filter { name in
            try FileSystem.status(staging + "/" + name).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
        }
        return Set(
            names.map {
                $0.hasPrefix(Self.thumbnailPrefix) && $0 != Self.thumbnailPrefix
                    ? String($0.dropFirst(Self.thumbnailPrefix.count)) : $0
            }
        ).sorted()
    }
}
