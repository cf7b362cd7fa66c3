import CommandLineInterface
import LibraryModel

extension CommandTable {
    static let importCommands: [Command] = [
        Command(
            words: ["import"], summary: "Import photos and films from files and folders.",
            details: """
                Folders are read with everything below them. The kind of a file is told by its content. Photos are shown at
                2048 pixels at most; the files that they were made of are kept beside them, byte for byte, and so are their
                sidecars (.xmp, Google Takeout's .json). Files that the library has already are not stored again; photos
                that lack their original or sidecars get them. A file that was imported and has not been written to since
                is not even opened. Pictures too large for the memory there is are kept, and shown
                once a newer version can: import them again then. Films are kept as they are, each shown by one of its
                frames. Recordings, documents and other files are left where they are and counted, and so is what systems leave in folders (dot files, Thumbs.db, @eaDir and such). Ctrl-C
                stops; what is imported stays. Without --category, a photo with a sidecar that SmilePile has exported goes to the
                category that it names, made where there is none.
                Exit code 5: some pictures could not be taken, because they are damaged, of another kind, unreadable or
                changing, or because the disk is full; the receipt names them.
                """,
            operands: [
                Operand("PATH", .path, .oneOrMore, help: "A file or a folder; - for a list on standard input.")
            ],
            options: [
                .value("category", "NAME", .category, help: "Where the photos go; the first category unless given."),
                .flag("no-originals", help: "Do not keep files of which a smaller photo is made, and no sidecars."),
                .value(
                    "exclude", "GLOB", .text, repeats: true,
                    help: "Leave out files and folders of such a name: '*.gif', Drafts/."),
                .flag("include-hidden", help: "Take dot files and what else systems leave in folders, too."),
                .flag("verify-known", help: "Read files too that were imported and have not been written to since."),
                .flag("dry-run", help: "Only look: say what would be imported, store nothing."), detach, verbose,
            ],
            examples: [
                Example("smilepile import ~/Pictures --category Family", "Everything in a folder."),
                Example("smilepile import /media/camera --dry-run", "What is on the camera?"),
                Example("smilepile import - < list.txt", "What another program chose: find -print0, or a path a line."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                var category: Int64?
                if let name = invocation.value("category") { category = try await library.category(named: name).id }
                let message = ImportPhotos(
                    paths: try await ImportPaths.named(invocation.operandValues("PATH"), session),
                    categoryId: category, originals: invocation.has("no-originals") ? false : nil,
                    exclude: invocation.has("exclude") ? invocation.values("exclude") : nil,
                    includeHidden: invocation.has("include-hidden") ? true : nil,
                    verifyKnown: invocation.has("verify-known") ? true : nil,
                    dryRun: invocation.has("dry-run") ? true : nil)
                return try await runJob(invocation, session, library) {
                    try await library.send(try await ImportPaths.fitting(message, library))
                }
            }
        }
    ]
}
