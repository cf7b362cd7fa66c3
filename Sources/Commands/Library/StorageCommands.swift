import CommandLineInterface
import LibraryModel

extension CommandTable {
    static let storageCommands: [Command] = [
        Command(
            words: ["storage", "usage"],
            summary: "Show what photos, thumbnails, previews and originals take on the disk.",
            examples: [Example("smilepile storage usage", "How much room is there?")], isDefaultOfGroup: true
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(GetStorageUsage())
                session.show(answer) { usage in
                    var sheet = FactSheet()
                    sheet.add(
                        "Photos", "\(Figures.size(usage.photoBytes)) in \(Figures.count(usage.photoCount, "file"))")
                    sheet.add(
                        "Thumbnails",
                        "\(Figures.size(usage.thumbnailBytes)) in \(Figures.count(usage.thumbnailCount, "file"))")
                    sheet.add(
                        "Previews",
                        "\(Figures.size(usage.previewBytes)) in \(Figures.count(usage.previewCount, "file"))")
                    sheet.add(
                        "Originals",
                        "\(Figures.size(usage.originalBytes)) in \(Figures.count(usage.originalCount, "file"))")
                    sheet.add("Together", Figures.size(usage.totalBytes))
                    sheet.add("Free", Figures.size(usage.freeBytes))
                    session.console.show(sheet)
                    if !usage.hasEnoughSpace { session.console.message("The disk is nearly full. Free some space.") }
                }
                return .done
            }
        },
        Command(
            words: ["storage", "check"], summary: "Check every stored file against the catalogue.",
            details: """
                Reads every byte of every photo, those in the trash too, and compares it with its digest. Nothing is
                changed. Exit code 5: something is missing, damaged or unknown; the receipt names it.
                """,
            options: [.flag("quick", help: "Compare names and sizes only, not the bytes."), detach, verbose],
            examples: [
                Example("smilepile storage check", "Is every photo still what it was?"),
                Example("smilepile storage check --quick", "Is every file there?"),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                try await runJob(
                    RescanLibrary(digests: !invocation.has("quick")), invocation, session, library)
            }
        },
        Command(
            words: ["storage", "thumbnails"], summary: "Make the thumbnails and previews that are missing.",
            details: """
                A thumbnail has 300 pixels on its long side, a preview 1,024. Also those that this version makes better than
                the one that made them. Each is made from the photo as it is shown; photos in the trash get thumbnails only.
                What somebody wants to see is made by itself. Exit code 5: some could not be made; the receipt names them.
                """,
            options: [.flag("all", help: "Make all of them again."), detach, verbose],
            examples: [
                Example("smilepile storage thumbnails", "Make what is missing."),
                Example("smilepile storage thumbnails --all", "Make every thumbnail and preview again."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                try await runJob(
                    RebuildThumbnails(all: invocation.has("all") ? true : nil), invocation, session, library)
            }
        },
        Command(
            words: ["storage", "clean"], summary: "Remove thumbnails and previews that belong to no photo.",
            details: """
                Photos that the catalogue does not know are named, and stay unless --unknown-photos is given. They may be
                pictures that exist once, and the files that 'smilepile photos forget' has left are among them: look at
                them first, and move out of the library what is wanted.
                """,
            options: [
                .flag("dry-run", help: "Only say what would go."),
                .flag("unknown-photos", help: "Also remove the photos that the catalogue does not know, for good."),
            ],
            examples: [
                Example("smilepile storage clean --dry-run", "Is there anything to clean up?"),
                Example(
                    "smilepile storage clean --unknown-photos --dry-run", "Which photos does the catalogue not know?"),
            ]
        ) { invocation, session in
            let isPreview = invocation.has("dry-run")
            let takesPhotos = invocation.has("unknown-photos")
            return try await session.withLibrary { library in
                let answer = try await library.send(
                    CleanStorage(dryRun: isPreview ? true : nil, unknownPhotos: takesPhotos ? true : nil))
                session.show(answer) { cleaning in
                    let verb = isPreview ? "Would remove" : "Removed"
                    session.console.result(
                        "\(verb) \(Figures.count(cleaning.thumbnails, "thumbnail")) and "
                            + "\(Figures.count(cleaning.previews, "preview")), \(Figures.size(cleaning.bytes)).")
                    guard cleaning.unknownCount > 0 else { return }
                    let count = Figures.count(cleaning.unknownCount, "photo")
                    session.console.result(
                        (takesPhotos
                            ? "\(verb) \(count)" : "There \(cleaning.unknownCount == 1 ? "is" : "are") \(count)")
                            + " that the catalogue does not know, \(Figures.size(cleaning.unknownBytes)):")
                    for path in cleaning.unknownPhotos {
                        session.console.result("  " + PlainText.neutralized(path))
                    }
                    let more = cleaning.unknownCount - cleaning.unknownPhotos.count
                    if more > 0 { session.console.result("  … and \(more) more") }
                }
                return .done
            }
        },
    ]
}
