import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

/// What is known of a photo, and what a person says of it. A new fact of photos has its lines here, also in lists
/// (``PhotoLines``).
extension CommandTable {
    static let showCommand = Command(
        words: ["photos", "show"], summary: "Show all that is known about a photo.",
        details: "On a terminal that can show pictures, the photo itself stands above it.", operands: [photo],
        examples: [
            Example("smilepile photos show 12", "By its number."),
            Example("smilepile photos show 12 --json", "For a script."),
        ]
    ) { invocation, session in
        try await session.withLibrary { library in
            let answer = try await library.photo(named: invocation.operand("PHOTO") ?? "")
            guard !session.wantsJSON else {
                session.show(json: answer.json)
                return .done
            }
            // Not of the library's status, which is a parent's: kids may look at photos.
            let folder = try await library.send(Hello()).value.library
            let categories = try await library.send(ListCategories()).value.categories
            if let size = session.pictureTerminal() { await showPicture(of: answer.value, size, library, session) }
            show(answer.value, folder, categories, session)
            return .done
        }
    }

    /// In the upper half of the terminal at most, so that the facts stand below it. A photo that cannot be shown has facts too.
    private static func showPicture(
        of photo: Photo, _ size: TerminalSize, _ library: any LibraryConnection, _ session: Session
    ) async {
        let abilities = TerminalAbilities(environment: session.environment)
        let room = TerminalRectangle(columns: min(size.columns, 80), rows: min(size.rows / 2, 24))
        guard room.rows >= 4, room.columns >= 10 else { return }
        let (width, height) = abilities.pixels(of: room, size)
        guard let pixels = try? await library.send(GetPhotoPixels(id: photo.id, width: width, height: height)).value,
            let picture = ShownPicture(pixels),
            let place = room.fitting(width: picture.width, height: picture.height, size)
        else { return }
        session.console.result(picture.lines(place, size, abilities))
    }

    private static func show(_ photo: Photo, _ folder: String, _ categories: [Category], _ session: Session) {
        var sheet = FactSheet()
        sheet.add("Photo", String(photo.id))
        sheet.add("Name", photo.displayName)
        sheet.add("Caption", photo.caption)
        sheet.add("Category", categories.first { $0.id == photo.categoryId }?.displayName ?? "#\(photo.categoryId)")
        sheet.add("Favourite", photo.isFavorite ? "yes" : "no")
        sheet.add("Last review", photo.lastDecision?.rawValue)
        sheet.add("Taken", LocalDate.taken(photo))
        sheet.add("Camera", photo.camera)
        sheet.add("Added", LocalDate.text(photo.createdAt))
        sheet.add("Film", film(photo))
        sheet.add("Pixels", "\(photo.width)×\(photo.height)")
        sheet.add("Turned", photo.rotation.map { "\($0.rawValue)° clockwise; its file is as it was" })
        if photo.unseenBy != nil {
            sheet.add(
                "Shown",
                (photo.isFilm ? "not yet: nothing here decodes it. " : "not yet: it needs more memory than there was. ")
                    + (photo.originalPath == nil
                        ? "Import its file again." : "Its original is kept: smilepile photos export \(photo.id)"))
        }
        sheet.add("Size", Figures.size(photo.fileSize))
        sheet.add("Kind", photo.mediaType)
        sheet.add("Came as", photo.sourceName)
        sheet.add("File", folder + "/" + photo.path)
        sheet.add(
            "Original",
            photo.originalPath.map { $0 == photo.path ? "the file itself" : folder + "/" + $0 }
                ?? "not in the library; import the file that it was made of again")
        sheet.add("Raw file", photo.companionRaw.map { "\(folder)/\($0.path), which came as \($0.name)" })
        let texts = photo.sidecars.filter { !$0.isRaw }
        sheet.add("Sidecars", texts.isEmpty ? nil : texts.map(\.name).joined(separator: ", "))
        sheet.add("UUID", photo.uuid)
        sheet.add("SHA-256", photo.contentDigest)
        session.console.show(sheet)
    }

    /// How long it runs, and how it is coded.
    private static func film(_ photo: Photo) -> String? {
        if photo.kind == .moving { return "it moves: the film is inside of its original" }
        guard photo.isFilm else { return nil }
        let codecs = photo.codecs.map { "(\($0.replacing(" ", with: ", ")))" }
        return [photo.runningTime ?? "of unknown length", codecs].compactMap { $0 }.joined(separator: " ")
    }

    static let editCommand = Command(
        words: ["photos", "edit"], summary: "Change a photo's name or its date.",
        details: """
            The date is what the camera's clock showed, or should have shown; the photo's own file stays as it is. A shift
            is written as 1h, -30m, 2d or 1h30m; several photos of one camera whose clock was wrong take the same one.
            """ + "\n\n" + Option.selectionExplained,
        operands: [.photos],
        options: Option.selection + [
            .value("name", "TEXT", .text, help: "What it is called; an empty text gives it its file's name."),
            .value("date", "DATE", .date, help: "When it was taken, as far as it is known: \(SaidDate.forms)."),
            .value("shift", "TIME", .text, help: "By how much its date is moved."),
            .value("offset", "OFFSET", .text, help: "How far the camera's clock was from UTC: +02:00, -3:30, 0."),
        ],
        examples: [
            Example("smilepile photos edit 12 --date 1978-08", "A scan of an old print, known to the month."),
            Example("smilepile photos edit 12-14 --shift +1h", "The camera was not set to summer time."),
        ]
    ) { invocation, session in try await edit(invocation, session) }

    private static func edit(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let shift = try invocation.value("shift").map { text in
            guard let shift = TimeText.shift(text) else {
                throw invocation.usageError("'\(text)' is no time. Write 1h, -30m, 2d or 1h30m.")
            }
            return shift
        }
        let offset = try invocation.value("offset").map { text in
            guard let offset = TimeText.offset(text) else {
                throw invocation.usageError("'\(text)' is no offset from UTC. Write +02:00, -3:30 or 0.")
            }
            return offset
        }
        let date = invocation.date("date")
        guard invocation.value("name") != nil || date != nil || shift != nil || offset != nil else {
            throw invocation.usageError("Say what changes: --name, --date, --shift or --offset.")
        }
        let selection = try await PhotoSelection(invocation, session)
        return try await session.withLibrary { library in
            // All of them first: a number that was mistyped must not leave half of them changed.
            let (ids, ending) = try await selection.agreed(in: library, invocation, session) { "Change \($0)?" }
            if let ending { return ending }
            guard ids.count == 1 || invocation.value("name") == nil else {
                throw invocation.usageError("Name one photo at a time.")
            }
            func tell(_ photo: Photo) {
                let date = LocalDate.taken(photo) ?? "no date"
                session.console.result("Photo \(photo.id): \(PlainText.neutralized(photo.displayName)), \(date)")
            }
            // One photo that was named is told as it is now; else, as by the other commands, how many there are.
            let tellsCount = session.wantsJSON && (ids.count != 1 || !selection.mustExist)
            var count = 0
            if ids.count == 1 {
                let request = EditPhoto(
                    id: ids[0], name: invocation.value("name"), takenAt: date?.clock, datePrecision: date?.precision,
                    takenOffset: offset, shift: shift)
                if let answer = try await selection.unlessGone({ try await library.send(request) }) {
                    count = 1
                    if !tellsCount { session.show(answer, human: tell) }
                }
            } else {
                count = try await PhotoBatches.change(ids, session, most: EditPhotos.maximumCount) { batch in
                    let request = EditPhotos(
                        ids: batch, takenAt: date?.clock, datePrecision: date?.precision, takenOffset: offset,
                        shift: shift,
                        ignoreMissing: selection.ignoreMissing)
                    let photos = try await library.send(request).value.photos
                    if !tellsCount { photos.forEach(tell) }
                    return photos.count
                }
            }
            if tellsCount { try session.show(changed: count) { "\($0) changed." } }
            return .done
        }
    }
}

/// Photos as lines of one table, however many pages they come in.
struct PhotoLines {
    private let session: Session
    private let names: [Int64: String]
    private var stream = TableStream()
    private var hasUnseen = false

    init(_ session: Session, _ categories: [Category]) {
        self.session = session
        names = Dictionary(categories.map { ($0.id, $0.displayName) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func show(_ photos: [Photo]) {
        var table = Table(
            .init(heading: "ID", isNumeric: true), .init(heading: "DATE"), .init(heading: "NAME", shrinks: true),
            .init(heading: "CATEGORY", shrinks: true), .init(heading: "PIXELS", isNumeric: true),
            .init(heading: "SIZE", isNumeric: true), .init(heading: "♥"), .init(heading: "CAPTION", shrinks: true))
        for photo in photos {
            table.add([
                String(photo.id), LocalDate.text(of: photo), photo.displayName,
                names[photo.categoryId] ?? "#\(photo.categoryId)",
                // With a mark where it cannot be shown.
                "\(photo.width)×\(photo.height)" + (photo.unseenBy == nil ? "" : "*"),
                Self.size(photo), photo.isFavorite ? "♥" : "", photo.caption ?? "",
            ])
            if photo.unseenBy != nil { hasUnseen = true }
        }
        let console = session.console
        console.result(stream.lines(table, width: console.results.columns(), style: console.style))
    }

    /// Of a film how long it runs: the size of its poster says nothing of it.
    private static func size(_ photo: Photo) -> String {
        photo.isFilm ? photo.runningTime ?? "film" : Figures.size(photo.fileSize)
    }

    func explainMarks() {
        guard hasUnseen else { return }
        session.console.message("* cannot be shown yet. Its original is kept: smilepile photos export NUMBER")
    }
}

extension Photo {
    /// How long a film runs: `0:12`, `1:02:03`; nil where it does not say so.
    fileprivate var runningTime: String? { duration.map { Figures.duration(seconds: (Double($0) / 1000).rounded()) } }
}
