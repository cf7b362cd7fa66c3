import AndroidDatabase
import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh
import ZipArchive
import Synchronization

/// What a migration does with one photo. It never throws: whatever happens is in its lines.
struct OneMigration: Sendable {
    let mesh: Mesh
    let job: Job
    let catalogue: any Catalogue
    let namedFiles: NamedFiles
    let photoFiles: any PhotoFiles
    let files: BlockingPool
    let found: LegacyPhotoFiles
    let keepsMissing: Bool
    let keepsOriginals: Bool
    let isDryRun: Bool
    private let timeouts = TimeoutBudget()
    /// Digests of the sources that a dry run has seen: nothing else tells it that two rows are one picture.
    let seen = SeenSources()

    /// One photo with all that was decided about it before.
    struct Item: Sendable {
        let photo: LegacyLibrary.Photo
        let home: LegacyCategories.Home
        let uuid: String
        /// Where the library has this uuid already, as a sentence.
        let there: String?
    }

    /// What became of the photo, then what was changed or left of it.
    struct Lines: Sendable {
        let photo: ReceiptLine
        var others: [ReceiptLine] = []
    }

    /// - Parameter further: what the photo's other categories are called, as the end of a sentence; nil for none.
    func take(_ item: Item, further: String?) async -> Lines {
        let name = Self.name(item.photo)
        func only(_ outcome: MigrationOutcome, _ detail: String?) -> Lines {
            Lines(photo: ReceiptLine(item: name, outcome: outcome.rawValue, detail: detail))
        }
        do { try await job.mayContinue() } catch { return Lines(photo: Self.line(name, error)) }
        if let there = item.there { return only(.duplicate, there) }
        let category: Int64
        var others: [ReceiptLine] = []
        switch item.home {
        case .category(let id): category = id
        case .instead(let id, let title):
            category = id
            others.append(
                ReceiptLine(
                    item: name, outcome: MigrationOutcome.defaulted.rawValue,
                    detail: "its category is not in the old database; it goes to '\(title)'"))
        case .none: return only(.left, "its category is not taken over")
        }
        let (createdAt, change) = LegacyDate.credible(item.photo.timestamp)
        if let change {
            others.append(ReceiptLine(item: name, outcome: MigrationOutcome.defaulted.rawValue, detail: change))
        }
        if let further {
            others.append(
                ReceiptLine(
                    item: name, outcome: MigrationOutcome.left.rawValue,
                    detail: "a photo is in one category here; it was also in \(further)"))
        }
        let line: ReceiptLine
        switch await look(item.photo.uri) {
        case .success(.file(let file)): line = await take(file, item, category, createdAt, name)
        case .success(.missing(let reason)):
            line =
                keepsMissing
                ? await keep(item, category, createdAt, name, reason)
                : ReceiptLine(item: name, outcome: MigrationOutcome.missing.rawValue, detail: reason)
        case .failure(let error): line = Self.line(name, error)
        }
        let taken: [MigrationOutcome] = [.imported, .kept, .keptUnseen]
        let isTaken = taken.map(\.rawValue).contains(line.outcome)
        return Lines(photo: line, others: isTaken ? others : [])
    }

    private func look(_ uri: String) async -> Result<LegacyPhotoFiles.Finding, any Error> {
        do { return .success(try await files.run { found.find(uri) }) } catch { return .failure(error) }
    }

    private static func line(_ name: String, _ error: any Error) -> ReceiptLine {
        let known = MeshError(describing: error)
        let outcome: MigrationOutcome = known.status == .cancelled ? .cancelled : .unreadable
        return ReceiptLine(item: name, outcome: outcome.rawValue, detail: outcome == .cancelled ? nil : known.message)
    }

    /// As an import does, with what the old row knows.
    private func take(
        _ file: SourceFiles.File, _ item: Item, _ category: Int64, _ createdAt: Timestamp, _ name: String
    ) async -> ReceiptLine {
        var one = OneImport(
            mesh: mesh, job: nil, namedFiles: namedFiles, photoFiles: photoFiles, files: files, category: category,
            keepsOriginals: keepsOriginals, isDryRun: isDryRun, timeouts: timeouts)
        one.overrides = .init(
            uuid: item.uuid, createdAt: createdAt, shown: LegacyDate.shown(item.photo.timestamp),
            isFavorite: item.photo.isFavorite)
        let outcome = await one.take(file)
        let line = outcome.line
        // The importer's words are a subset of the migration's.
        var detail = line.detail
        if [ImportOutcome.imported.rawValue, ImportOutcome.keptUnseen.rawValue].contains(line.outcome) {
            if let digest = outcome.sourceDigest, !seen.insert(digest) {
                return ReceiptLine(
                    item: name, outcome: MigrationOutcome.duplicate.rawValue,
                    detail: "another photo of the old library has the same bytes")
            }
            detail = "from \(file.path)" + (line.outcome == ImportOutcome.imported.rawValue ? "" : "; \(detail ?? "")")
        }
        return ReceiptLine(item: name, outcome: line.outcome, detail: detail)
    }

    /// A row without a picture: no file and no thumbnail, 0 x 0 pixels, the digest of no bytes. Lists show it; a backup
    /// names it as unreadable and goes on; a second run knows it by its uuid.
    private func keep(
        _ item: Item, _ category: Int64, _ createdAt: Timestamp, _ name: String, _ reason: String
    ) async -> ReceiptLine {
        let kept = ReceiptLine(
            item: name, outcome: MigrationOutcome.kept.rawValue, detail: "without its file: \(reason)")
        guard !isDryRun else { return kept }
        let title = item.photo.uri.split(separator: "/").last.map(String.init) ?? ""
        let date = LegacyDate.shown(item.photo.timestamp)
        let photo = Photo(
            id: 0, uuid: item.uuid, path: "photos/missing-\(item.uuid).jpg", categoryId: category,
            name: String(String.UnicodeScalarView(title.unicodeScalars.filter { $0.value >= 32 }.prefix(200))),
            caption: nil, isFromAssets: false, createdAt: createdAt, fileSize: 0, width: 0, height: 0,
            isFavorite: item.photo.isFavorite, takenAt: date?.clock, datePrecision: date?.precision,
            dateSource: date?.source,
            contentDigest: ContentDigest(of: Data()).sha256.hex, mediaType: "image/jpeg")
        // Sources are told apart by their digest; this one has none, so it gets one that no file has.
        let source = ContentDigest(of: Data("missing \(item.uuid)".utf8)).sha256.hex
        do {
            let new = SourcedPhoto(photo: photo, sourceDigest: source, sourceSize: 0)
            try await catalogue.write { try $0.photos.insert([new]) }
            return kept
        } catch CatalogueError.pictureThere, CatalogueError.repeatedPhoto {
            return ReceiptLine(
                item: name, outcome: MigrationOutcome.duplicate.rawValue, detail: "the library has it already")
        } catch {
            return Self.line(name, error)
        }
    }

    /// How a receipt names an old photo: the end of its uri, where the file's name is.
    private static func name(_ photo: LegacyLibrary.Photo) -> String {
        let text = photo.uri.isEmpty ? "photo \(photo.id.prefix(100))" : photo.uri
        let scalars = text.unicodeScalars
        return scalars.count <= 300 ? text : "…" + String(String.UnicodeScalarView(scalars.suffix(300)))
    }
}

/// Digests of source files, from several tasks.
final class SeenSources: Sendable {
    private let digests = Mutex<Set<String>>([])

    /// False where it was there already.
    func insert(_ digest: String) -> Bool { digests.withLock { $0.insert(digest).inserted } }
}
