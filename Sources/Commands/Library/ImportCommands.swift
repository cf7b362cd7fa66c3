import LibraryModel

extension CommandTable {
    static let importCommands: [Command] = [
        Command(
            words: ["import"], summary: "Import photos from files and folders.",
            details: """
                Folders are read with everything below them. The kind of a file is told by its content. Photos are shown at
                2048 pixels at most; the files that they were made of are kept beside them, byte for byte. Files that the
                library has already are not stored again; photos without their original get it. Ctrl-C stops; what is
                imported stays.
                Exit code 5: some files were not photos, damaged, unreadable or changing; the receipt names them.
                """,
            operands: [Operand("PATH", .path, .oneOrMore, help: "A file or a folder.")],
            options: [
                .value("category", "NAME", .category, help: "Where the photos go; the first category unless given."),
                .flag("no-originals", help: "Do not keep files of which a smaller photo is made."),
                .flag("dry-run", help: "Only look: say what would be imported, store nothing."), detach, verbose,
            ],
            examples: [
                Example("smilepile import ~/Pictures --category Family", "Everything in a folder."),
                Example("smilepile import beach.jpg cake.heic", "Two photos, into the first category."),
                Example("smilepile import /media/camera --dry-run", "What is on the camera?"),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                var category: Int64?
                if let name = invocation.value("category") { category = try await library.category(named: name).id }
                let message = ImportPhotos(
                    paths: invocation.operandValues("PATH").map(session.absolute), categoryId: category,
                    originals: invocation.has("no-originals") ? false : nil,
                    dryRun: invocation.has("dry-run") ? true : nil)
                return try await runJob(invocation, session, library) {
                    try await library.send(try await ImportPaths.fitting(message, library))
                }
            }
        }
    ]
}
