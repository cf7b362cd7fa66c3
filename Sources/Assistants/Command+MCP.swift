import CommandLineInterface
import Foundation
import LibraryModel

extension Command {
    /// `mcp`, a row for the program's table.
    package static let mcp = Command(
        words: ["mcp"], summary: "Let an assistant ask the library (Model Context Protocol).",
        details: """
            A server on standard input and output, for programs that start it: in their settings its command is
            smilepile, with the argument mcp. What it offers are tools that find photos and tell of categories, jobs,
            backups and the trash. What an assistant is told goes to whoever runs it: captions, names of files, dates.
            The sealed fields, the pictures themselves, groups, keys and the PIN are never offered.

            With --allow-changes it may also mark, move, caption and date photos, put them into the trash and take
            them out, and decide reviews. It can remove nothing for good, but a caption or a date that it writes
            over is not kept.
            """,
        options: [.flag("allow-changes", help: "Offer tools that change the library too.")],
        examples: [
            Example("smilepile mcp", "What an assistant starts; it looks and changes nothing."),
            Example("smilepile mcp --allow-changes", "It may also mark, caption and date photos."),
        ]
    ) { invocation, session in
        if isatty(STDIN_FILENO) == 1 {
            session.console.message("An assistant starts this, and nothing is typed here. Ctrl-D ends it.")
        }
        let server = AssistantServer(
            version: Release.version, allowsChanges: invocation.has("allow-changes"),
            // A connection each time: the daemon may be started anew while an assistant goes on.
            call: { method, params in
                try await session.withLibrary { try await $0.call(method, params: params) }
            }, send: { session.console.result(String(decoding: $0, as: UTF8.self)) })
        let lines = InputLines(descriptor: STDIN_FILENO)
        while true {
            switch try await lines.next() {
            case .line(let line): await server.take(line)
            case .tooLong: await server.refuseLongLine()
            case .end:
                await server.finish()
                return .done
            }
        }
    }
}
