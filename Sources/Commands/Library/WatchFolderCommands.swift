import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let watchFolderCommands: [Command] = [
        Command(
            words: ["watch-folder", "list"], summary: "List the folders that are imported from by themselves.",
            examples: [Example("smilepile watch-folder", "Which they are, and how they are.")], isDefaultOfGroup: true
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListWatchedFolders())
                let names = try await Self.categoryNames(answer.value.folders, library)
                session.show(answer) { list in
                    guard !list.folders.isEmpty else {
                        session.console.message("No folder is watched. Watch one: smilepile watch-folder add FOLDER")
                        return
                    }
                    var table = Table(
                        .init(heading: "FOLDER", shrinks: true), .init(heading: "TO", shrinks: true),
                        .init(heading: "STATE"), .init(heading: "NEWEST JOB"))
                    for folder in list.folders {
                        let name = folder.categoryId.map { names[$0] ?? "#\($0)" }
                        table.add([folder.path, name ?? "the first", folder.state.words, folder.job ?? "–"])
                    }
                    session.console.show(table)
                    for folder in list.folders {
                        guard let problem = folder.problem else { continue }
                        session.console.message(
                            "\(PlainText.neutralized(folder.path)): \(PlainText.neutralized(problem))")
                    }
                }
                return .done
            }
        },
        Command(
            words: ["watch-folder", "add"], summary: "Have what comes into a folder imported by itself.",
            details: """
                It begins with what is there. A file is imported once its writer has closed it; with everything below the
                folder, but for names that programs use while they write. What is deleted there stays in the library.
                Where the folder's disk is not there, it is waited for. A phone's Syncthing folder, a scanner's share and the
                place where a card is copied to are such folders.
                """,
            operands: [Operand("FOLDER", .folder, help: "It is there now.")],
            options: [
                .value("category", "NAME", .category, help: "Where its photos go, by name or #number; else the first.")
            ],
            examples: [
                Example("smilepile watch-folder add ~/Phone --category Family", "What a phone sends by itself."),
                Example("smilepile watch-folder add /srv/scans", "Into the first category."),
            ]
        ) { invocation, session in
            let path = session.absolute(invocation.operand("FOLDER") ?? "")
            return try await session.withLibrary { library in
                let category: Int64? =
                    if let name = invocation.value("category") { try await library.category(named: name).id } else {
                        nil
                    }
                let answer = try await library.send(WatchFolder(path: path, categoryId: category))
                session.show(answer) { folder in
                    session.console.result(
                        "Watching \(PlainText.neutralized(folder.path)). What is there is imported now.")
                    session.console.message("How it goes: smilepile watch-folder, and smilepile jobs")
                }
                return .done
            }
        },
        Command(
            words: ["watch-folder", "remove"], summary: "Import from a folder by itself no more.",
            details: "What was imported from it stays, and so does the folder.",
            operands: [Operand("FOLDER", .path, help: "As 'smilepile watch-folder' shows it; it need not be there.")],
            examples: [Example("smilepile watch-folder remove ~/Phone", "The photos stay.")]
        ) { invocation, session in
            let path = session.absolute(invocation.operand("FOLDER") ?? "")
            return try await session.withLibrary { library in
                let answer = try await library.send(UnwatchFolder(path: path))
                session.show(answer) { list in
                    session.console.result("It is watched no more.")
                    if !list.folders.isEmpty {
                        session.console.message("\(Figures.count(list.folders.count, "folder")) still watched.")
                    }
                }
                return .done
            }
        },
    ]

    private static func categoryNames(
        _ folders: [WatchedFolder], _ library: any LibraryConnection
    ) async throws -> [Int64: String] {
        guard folders.contains(where: { $0.categoryId != nil }) else { return [:] }
        let all = try await library.send(ListCategories()).value.categories
        return Dictionary(all.map { ($0.id, $0.displayName) }, uniquingKeysWith: { first, _ in first })
    }
}

extension WatchedFolder.State {
    fileprivate var words: String {
        switch self {
        case .watching: "watched"
        case .polling: "looked at every 5 minutes"
        case .missing: "not there"
        }
    }
}
