import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let photo = Operand("PHOTO", help: "Its number, or its uuid.")
    static let photos = Operand("PHOTO", .text, .oneOrMore, help: "Their numbers or uuids.")

    static let filters: [Option] = [
        .value("category", "NAME", .category, help: "Only of this category."),
        .value("from", "DATE", .date, help: "Only from this day on."),
        .value("to", "DATE", .date, help: "Only up to this day, the day included."),
        .flag("favorites", help: "Only favourites."),
        .flag("reviewed", help: "Only those that a review has decided about."),
        .flag("not-reviewed", help: "Only those that no review has decided about."),
        .value(
            "decision", "DECISION", .words(SwipeAction.allCases.map(\.rawValue)),
            help: "Only those about which the last review decided this."),
    ]

    static let paging: [Option] = [
        .value("limit", "NUMBER", .number(1...1000), help: "How many at most; 100 unless given."),
        .value("after", "CURSOR", .text, help: "Where the page before ended, as it said."),
    ]

    static let photoCommands: [Command] = [
        Command(
            words: ["photos", "list"], summary: "Show photos, the newest first.",
            details: """
                A photo's date is what the camera's clock showed, else the day it was added. A ~ marks dates that were guessed
                from the file's name, or from when it was last written. A * marks photos that cannot be shown yet: they need
                more memory than there was, and their originals are kept.
                """,
            options: filters + paging,
            examples: [
                Example("smilepile photos", "The latest hundred."),
                Example("smilepile photos list --category Family --not-reviewed", "What is still to be reviewed."),
                Example(
                    "smilepile photos list --favorites --from 2025-06-01 --to 2025-06-30", "Favourites of a month."),
            ], isDefaultOfGroup: true
        ) { invocation, session in try await search(nil, invocation, session) },
        Command(
            words: ["photos", "search"], summary: "Find photos by a text in name, caption or path.",
            details: "Upper and lower case, and accents, make no difference. Every other character means itself.",
            operands: [Operand("TEXT", help: "What to look for.")], options: filters + paging,
            examples: [
                Example("smilepile photos search beach", "Everything with 'beach' in it."),
                Example("smilepile photos search été --category Family --limit 10", "Ten at most, of one category."),
            ]
        ) { invocation, session in try await search(invocation.operand("TEXT"), invocation, session) },
        Command(
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
        },
        Command(
            words: ["photos", "open"], summary: "Open a photo in the desktop's viewer.",
            details: "The file is the library's own: look at it, and edit copies. For one: smilepile photos export.",
            operands: [photo], examples: [Example("smilepile photos open 12", "In the program that shows pictures.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.photo(named: invocation.operand("PHOTO") ?? "")
                let folder = try await library.send(GetLibraryStatus()).value.path
                let (path, id) = (folder + "/" + answer.value.path, answer.value.id)
                guard access(path, R_OK) == 0 else {
                    throw CommandFailure.local(
                        "\(path) cannot be read: \(String(cString: strerror(errno))). Copy it out: smilepile photos export \(id)"
                    )
                }
                do {
                    try await session.openFile(path)
                } catch CommandFailure.local(let why) {
                    throw CommandFailure.local(
                        "\(why) Its file is \(path); look at it here: smilepile photos show \(id)")
                }
                session.show(answer) { _ in session.console.message("Opened \(path).") }
                return .done
            }
        },
        Command(
            words: ["photos", "export"], summary: "Copy photos out of the library, as they came into it.",
            details: """
                Each file gets the photo's own name, with a number where two have the same, and is its original where the
                library has that; its sidecars stand beside it. Files that are there already are not overwritten: they are
                named, and the exit code is 5.
                """,
            operands: [Operand("PHOTO", .text, .any, help: "Their numbers or uuids.")],
            options: [
                .flag("all", help: "Every photo of the library."),
                .flag("shown", help: "The photos as they are shown, 2048 pixels at most; no originals, no sidecars."),
                .value("to", "FOLDER", .folder, help: "Where to; the current folder unless given."),
            ],
            examples: [
                Example("smilepile photos export 12 13 --to ~/Desktop/beach", "Two photos, into a folder."),
                Example("smilepile photos export --all --to /media/stick", "Everything."),
            ]
        ) { invocation, session in try await PhotoExport(session: session).run(invocation) },
    ]

    private static func search(
        _ text: String?, _ invocation: Invocation, _ session: Session
    ) async throws -> ExitCode {
        try await session.withLibrary { library in
            let needsNames = invocation.has("category") || !session.wantsJSON
            let categories = needsNames ? try await library.send(ListCategories()).value.categories : []
            var category: Int64?
            if let name = invocation.value("category") { category = try await library.category(named: name).id }
            let answer = try await library.send(
                SearchPhotos(
                    text: text, categoryId: category, from: invocation.from("from"), to: invocation.through("to"),
                    favoritesOnly: invocation.has("favorites") ? true : nil, reviewed: try invocation.isReviewed(),
                    decision: invocation.decision, limit: invocation.number("limit"),
                    after: invocation.value("after")))
            session.show(answer) { page in
                show(page.photos, categories, session)
                if let next = page.next {
                    session.console.message("There are more: repeat with --after \(PlainText.neutralized(next))")
                }
            }
            return .done
        }
    }

    private static func show(_ photos: [Photo], _ categories: [Category], _ session: Session) {
        guard !photos.isEmpty else { return session.console.message("No photos.") }
        let names = Dictionary(categories.map { ($0.id, $0.displayName) }, uniquingKeysWith: { first, _ in first })
        var table = Table(
            .init(heading: "ID", isNumeric: true), .init(heading: "DATE"), .init(heading: "NAME", shrinks: true),
            .init(heading: "CATEGORY", shrinks: true), .init(heading: "PIXELS", isNumeric: true),
            .init(heading: "SIZE", isNumeric: true), .init(heading: "♥"), .init(heading: "CAPTION", shrinks: true))
        for photo in photos {
            table.add([
                String(photo.id), LocalDate.text(of: photo), photo.displayName,
                names[photo.categoryId] ?? String(photo.categoryId), photo.pixels,
                Figures.size(photo.fileSize), photo.isFavorite ? "♥" : "", photo.caption ?? "",
            ])
        }
        session.console.show(table)
        if photos.contains(where: { $0.unseenBy != nil }) {
            session.console.message(
                "* cannot be shown yet. Its original is kept: smilepile photos export NUMBER")
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
        sheet.add("Category", categories.first { $0.id == photo.categoryId }?.displayName ?? String(photo.categoryId))
        sheet.add("Favourite", photo.isFavorite ? "yes" : "no")
        sheet.add("Last review", photo.lastDecision?.rawValue)
        sheet.add("Taken", LocalDate.taken(photo))
        sheet.add("Added", LocalDate.text(photo.createdAt))
        sheet.add("Pixels", "\(photo.width)×\(photo.height)")
        if photo.unseenBy != nil {
            sheet.add(
                "Shown",
                "not yet: it needs more memory than there was. "
                    + (photo.originalPath == nil
                        ? "Import its file again." : "Its original is kept: smilepile photos export \(photo.id)"))
        }
        sheet.add("Size", Figures.size(photo.fileSize))
        sheet.add("Kind", photo.mediaType)
        sheet.add("File", folder + "/" + photo.path)
        sheet.add(
            "Original",
            photo.originalPath.map { $0 == photo.path ? "the file itself" : folder + "/" + $0 }
                ?? "not in the library; import the file that it was made of again")
        sheet.add(
            "Sidecars", photo.sidecars.isEmpty ? nil : photo.sidecars.map(\.name).joined(separator: ", "))
        sheet.add("UUID", photo.uuid)
        sheet.add("SHA-256", photo.contentDigest)
        session.console.show(sheet)
    }
}

extension Invocation {
    /// Whether only reviewed photos are asked for, or only others; nil for both.
    /// - Throws: a usage error for both words.
    func isReviewed() throws -> Bool? {
        guard !has("reviewed") || !has("not-reviewed") else {
            throw usageError("--reviewed and --not-reviewed exclude each other.")
        }
        return has("reviewed") ? true : has("not-reviewed") ? false : nil
    }

    /// Of ``CommandTable/filters``.
    var decision: SwipeAction? { value("decision").flatMap(SwipeAction.init) }
}

extension Photo {
    /// With a mark where it cannot be shown.
    fileprivate var pixels: String { "\(width)×\(height)" + (unseenBy == nil ? "" : "*") }
}
