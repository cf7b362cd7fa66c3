import CommandLineInterface

extension Command {
    /// `photos export`, a row for the program's table.
    package static let export = Command(
        words: ["photos", "export"], summary: "Copy photos out of the library, as they came into it.",
        details: """
            Each file gets the photo's own name, with a number where two have the same, and is its original where the
            library has that; its time is the photo's date. A name that Windows takes for a device (CON, aux) gets a _. Files
            that are there already are not overwritten: they are named, and the exit code is 5.

            Sidecars that came with a photo stand beside it. Where the library knows more than the picture says, a sidecar
            of its own does, beach.jpg.xmp, for exiftool, darktable and others: a date that is not the picture's own, a
            caption, the mark of a favourite (rating 5), a category other than Family, a name that no file can have or another
            one has. Imported again without --category, the photo goes into the same category, with all that. --sidecars
            always writes one for each photo, never leaves out those that came with it too.

            With --update files that are there with the same bytes are left, and the others are written anew, so that a folder
            becomes what the library is; what is in it of photos that are gone stays.
            """ + "\n\n" + Option.selectionExplained,
        operands: [.photos],
        options: Option.selection + [
            .flag("all", help: "Every photo of the library."),
            .flag(
                "shown",
                help: "The photos as they are shown, 2048 pixels at most, without what came with originals."),
            .value(
                "sidecars", "WHICH", .words(PhotoExport.Sidecars.allCases.map(\.rawValue)),
                help: "Write what the library knows beside photos; auto unless given."),
            .flag("with-details", help: "Say the sealed fields in the sidecars too; for parents."),
            .flag("update", help: "Write only what is not there or differs."),
            .value("to", "FOLDER", .folder, help: "Where to; the current folder unless given."),
        ],
        examples: [
            Example("smilepile photos export 12 13 --to ~/Desktop/beach", "Two photos, into a folder."),
            Example("smilepile photos export --where from=2025-06 --where favorites", "Here, after a question."),
            Example("smilepile photos export --all --update --to /media/stick", "All that it lacks by now."),
        ]
    ) { invocation, session in try await PhotoExport(session: session).run(invocation) }
}
