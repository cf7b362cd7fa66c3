import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    /// Pages that are made unless somebody asks for more: paper for a whole library is seldom meant.
    private static let standardPages: Int64 = 50

    static let sheetCommands: [Command] = [
        Command(
            words: ["photos", "sheet"], summary: "Make a contact sheet: photos in a grid, to print or to send.",
            details: """
                A page is A4, upright, at 200 pixels an inch. Each photo has its name, its date and the colour of its category.
                The ending of FILE decides the format: .jpg or .png. What does not fit on one page goes to FILE-2, FILE-3 and
                so on. Files that are there already are not overwritten.

                """ + Option.datesExplained,
            operands: [
                Operand(
                    "WORD", .text, .any, help: "Only photos with all of these in name, caption, source or category.")
            ],
            options: [
                Option(
                    name: "output", short: "o", value: ("FILE", .path), isRequired: true,
                    help: "The picture to write: a .jpg or .png.")
            ] + Option.filters + [
                .value(
                    "columns", "NUMBER", .number(1...8),
                    help: "Photos side by side; \(MakeSheetPage.standardColumns) unless given."),
                .value("heading", "TEXT", .text, help: "What stands above the photos."),
                .value(
                    "pages", "NUMBER", .number(1...10_000),
                    help: "How many pages at most; \(standardPages) unless given."),
                .flag("force", help: "Overwrite files that are there."),
            ],
            examples: [
                Example("smilepile photos sheet --category Family -o family.jpg", "The whole category."),
                Example(
                    "smilepile photos sheet --from 2025-06 --to 2025-06 --heading 'June' -o june.png",
                    "A month, with a heading."),
                Example("smilepile photos sheet --favorites --columns 2 -o favourites.jpg", "Large pictures."),
            ]
        ) { invocation, session in
            try await SheetWriter(invocation, session, mostPages: invocation.number("pages") ?? Int(standardPages))
                .run()
        }
    ]
}

/// Writes the pages of a contact sheet. The daemon makes each in memory and hands it over open; the file is written here, with
/// this user's rights, so that nobody gets the daemon to write where they may not.
private struct SheetWriter {
    private struct Written: Encodable {
        let photos: Int
        let files: [String]
    }

    let invocation: Invocation
    let session: Session
    let mostPages: Int
    private let target: SheetTarget

    init(_ invocation: Invocation, _ session: Session, mostPages: Int) throws {
        self.invocation = invocation
        self.session = session
        self.mostPages = mostPages
        guard let target = SheetTarget(session.absolute(invocation.value("output") ?? "")) else {
            throw invocation.usageError("The file's name has to end in .jpg or .png.")
        }
        self.target = target
    }

    func run() async throws -> ExitCode {
        let written = try await session.withLibrary { library in try await write(library) }
        if session.wantsJSON {
            session.show(json: try JSONText.encode(written))
        } else {
            for path in written.files { session.console.result(PlainText.neutralized(path)) }
        }
        return .done
    }

    private func write(_ library: any LibraryConnection) async throws -> Written {
        let filter = try await PhotoFilters(invocation, words: invocation.operandValues("WORD")).filter(in: library)
        var after: String?
        var photos = 0
        var files: [String] = []
        var number = 1
        while true {
            let page = try await library.send(
                MakeSheetPage(
                    filter, after: after, columns: invocation.number("columns"), format: target.format,
                    heading: invocation.value("heading"), page: number)
            ).value
            if number == 1 { try check(page) }
            let path = target.path(ofPage: number)
            guard let content = page.content else {
                throw CommandFailure.local(
                    "The daemon sent no picture. Are the daemon and this program of one version?")
            }
            try await put(content, page.size, at: path)
            files.append(path)
            photos += page.photos
            guard let next = page.next, number < mostPages else { return Written(photos: photos, files: files) }
            after = next
            number += 1
        }
    }

    /// All that is wrong before anything is written.
    private func check(_ first: MadeSheetPage) throws {
        guard first.photos > 0 else {
            throw CommandFailure.local("No photo meets these filters, so there is nothing to put on a sheet.")
        }
        guard first.pages <= mostPages else {
            throw CommandFailure.local(
                "That makes \(first.pages) pages, and \(mostPages) are written at most. Narrow it down, take more columns, or "
                    + "allow them: --pages \(first.pages)")
        }
        guard !invocation.has("force") else { return }
        for number in 1...first.pages {
            let path = target.path(ofPage: number)
            var found = stat()
            guard lstat(path, &found) != 0 else {
                throw CommandFailure.local("\(path) is there already. Choose another name, or overwrite it: --force")
            }
        }
    }

    private func put(_ content: OwnedFile, _ size: Int64, at path: String) async throws {
        let replaces = invocation.has("force")
        let problem: CommandFailure? = await withCheckedContinuation { continuation in
            // Writing may take seconds on a slow disk; the cooperative pool is not for that.
            Thread {
                do {
                    try Self.copy(content, size, to: path, replaces: replaces)
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: CommandFailure(describing: error))
                }
            }.start()
        }
        if let problem { throw problem }
    }

    private static func copy(_ content: OwnedFile, _ size: Int64, to path: String, replaces: Bool) throws {
        // What is to be replaced stays whole until the new one is.
        let place = replaces ? path + ".\(getpid()).new" : path
        let file = try NewFile(place)
        var position: Int64 = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while position < size {
            let count = content.withDescriptor { pread($0, &buffer, buffer.count, off_t(position)) }
            guard count > 0 else { throw CommandFailure.local("The picture ends early. Try again.") }
            try file.write(Array(buffer[..<count]))
            position += Int64(count)
        }
        try file.finish()
        guard replaces else { return }
        guard rename(place, path) == 0 else {
            let refusal = NewFile.refusal(path)
            unlink(place)
            throw refusal
        }
    }
}

/// The files that a sheet's pages go to.
struct SheetTarget {
    let format: MakeSheetPage.Format
    private let stem: String
    private let ending: String

    /// Nil where the ending names no format.
    init?(_ path: String) {
        guard let dot = path.lastIndex(of: "."), path[..<dot].last.map({ $0 != "/" }) ?? false else { return nil }
        stem = String(path[..<dot])
        ending = String(path[dot...])
        switch ending.lowercased() {
        case ".jpg", ".jpeg": format = .jpeg
        case ".png": format = .png
        default: return nil
        }
    }

    func path(ofPage number: Int) -> String { number == 1 ? stem + ending : "\(stem)-\(number)\(ending)" }
}
