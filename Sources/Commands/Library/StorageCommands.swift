import LibraryModel

extension CommandTable {
    static let storageCommands: [Command] = [
        Command(
            words: ["storage", "usage"], summary: "Show what photos and thumbnails take on the disk.",
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
                try await conduct(
                    RescanLibrary(digests: !invocation.has("quick")), invocation, session, library)
            }
        },
        Command(
            words: ["storage", "clean"], summary: "Remove thumbnails that belong to no photo.",
            details: "Photos are never removed; files that nobody knows are named by 'smilepile storage check'.",
            options: [.flag("dry-run", help: "Only say what would go.")],
            examples: [Example("smilepile storage clean --dry-run", "Is there anything to clean up?")]
        ) { invocation, session in
            let isPreview = invocation.has("dry-run")
            return try await session.withLibrary { library in
                let answer = try await library.send(CleanStorage(dryRun: isPreview ? true : nil))
                session.show(answer) { cleaning in
                    session.console.result(
                        (isPreview ? "Would remove " : "Removed ")
                            + "\(Figures.count(cleaning.thumbnails, "thumbnail")), \(Figures.size(cleaning.bytes)).")
                }
                return .done
            }
        },
    ]
}
