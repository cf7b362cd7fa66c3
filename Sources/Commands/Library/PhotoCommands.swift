import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let photo = Operand("PHOTO", help: "Its number, or its uuid.")
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
                """ + "\n\n" + Option.datesExplained,
            options: listing,
            examples: [
                Example("smilepile photos", "The latest hundred."),
                Example("smilepile photos list --category Family --not-reviewed", "What is still to be reviewed."),
                Example("smilepile photos list --camera 'iphone 12' --from 2025-06", "Of one camera, since June."),
            ], isDefaultOfGroup: true
        ) { invocation, session in try await PhotoList(session: session).run(invocation) },
        Command(
            words: ["photos", "search"], summary: "Find photos by words in name, caption or category.",
            details: """
                Each word must occur in a photo's name, its caption, the name of the file it came from or its category's name,
                in any order; words in quotes stay together. Upper and lower case, and accents, make no difference: lodz
                finds Łódź. Every other character means itself. The library's own files are found by their whole path
                alone: photos/IMG_20250615_100000_9f86d081.jpg.
                """ + "\n\n" + Option.datesExplained,
            operands: [Operand("WORD", .text, .oneOrMore, help: "What to look for.")], options: listing,
            examples: [
                Example("smilepile photos search beach grandma", "Everything with both in it."),
                Example("smilepile photos search 'first day' --category Family --from 2024", "These words together."),
                Example("smilepile photos search beach --all --ids", "The numbers of all, for a script."),
            ]
        ) { invocation, session in
            try await PhotoList(session: session).run(invocation, words: invocation.operandValues("WORD"))
        },
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
            words: ["photos", "cameras"], summary: "List the cameras that photos were taken with.",
            details: """
                That of most photos comes first. What one has taken: smilepile photos list --camera 'iphone 12'. Photos from
                before cameras were kept have none until their files are read again: smilepile photos redate --camera none.
                """,
            options: [.value("limit", "NUMBER", .number(1...1000), help: "How many at most; 100 unless given.")],
            examples: [
                Example("smilepile photos cameras", "Which there are."),
                Example("smilepile photos cameras --limit 5", "Those of most photos."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                session.show(try await library.send(ListCameras(limit: invocation.number("limit")))) { list in
                    show(list, session)
                }
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
    ]

    private static func show(_ list: CameraList, _ session: Session) {
        guard !list.cameras.isEmpty else {
            return session.console.message("No photo says its camera.")
        }
        var table = Table(.init(heading: "CAMERA", shrinks: true), .init(heading: "PHOTOS", isNumeric: true))
        for camera in list.cameras { table.add([camera.name, String(camera.photoCount)]) }
        session.console.show(table)
        let rest = list.count - list.cameras.count
        if rest > 0 { session.console.message("There are \(rest) more: --limit 1000") }
        if list.withoutCamera > 0 {
            session.console.message(
                "\(Figures.count(list.withoutCamera, "photo")) without: smilepile photos list --camera none")
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
        sheet.add("Came as", photo.sourceName)
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
