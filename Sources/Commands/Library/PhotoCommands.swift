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
        showCommand,
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
                session.show(answer) { photo in
                    session.console.message("Opened \(path).")
                    guard photo.rotation != nil else { return }
                    session.console.message(
                        "It is turned for you, and its file is not: smilepile photos export \(id) --shown")
                }
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
}
