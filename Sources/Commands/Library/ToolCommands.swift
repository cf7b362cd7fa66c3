import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let toolCommands: [Command] = [
        Command(
            words: ["call"], summary: "Send any message of the daemon, raw.",
            details: "The result goes to standard output, notifications to standard error. 'rpc.discover' lists all.",
            operands: [
                Operand("METHOD", help: "Its name, for example category.list."),
                Operand("JSON", .text, .optional, help: "Its parameters, as an object."),
            ],
            examples: [
                Example("smilepile call category.list", "Without parameters."),
                Example("smilepile call photo.search '{\"text\":\"beach\",\"limit\":5}'", "With some."),
                Example("smilepile call rpc.discover", "What is there to call?"),
            ]
        ) { invocation, session in
            let params = Data((invocation.operand("JSON") ?? "{}").utf8)
            guard let value = try? JSONDecoder().decode(JSONValue.self, from: params), case .object = value else {
                throw invocation.usageError("The parameters are not a JSON object, such as '{\"limit\":5}'.")
            }
            return try await session.withLibrary { library in
                let result = try await library.observe(invocation.operand("METHOD") ?? "", params: params) { update in
                    let text = String(decoding: update, as: UTF8.self)
                    session.console.message(session.console.messages.isTerminal ? JSONText.harmless(text) : text)
                }
                session.show(json: result)
                return .done
            }
        },
        Command(
            words: ["completions"], summary: "Print completions for a shell.",
            operands: [Operand("SHELL", .words(Shell.allCases.map(\.rawValue)), help: "Which one")],
            examples: [
                Example("source <(smilepile completions bash)", "In ~/.bashrc."),
                Example("smilepile completions zsh > ~/.zfunc/_smilepile", "With ~/.zfunc in fpath."),
                Example("smilepile completions fish > ~/.config/fish/completions/smilepile.fish", "For fish."),
            ]
        ) { invocation, session in
            guard let shell = invocation.operand("SHELL").flatMap(Shell.init) else {
                throw invocation.usageError("SHELL is missing.")
            }
            let script = shell.script(for: all)
            if session.wantsJSON {
                try session.show(json: ["shell": .string(shell.rawValue), "script": .string(script)])
            } else {
                session.console.result(script)
            }
            return .done
        },
        manualPageCommand,
        Command(
            words: ["version"], summary: "Print the version.",
            examples: [Example("smilepile version", "Of this program; the daemon's: smilepile ping.")]
        ) { _, session in
            if session.wantsJSON {
                var members: [String: JSONValue] = [
                    "version": .string(version), "catalogueFormat": .integer(Int64(Release.catalogueFormat)),
                ]
                if let commit = Release.commit { members["commit"] = .string(commit) }
                try session.show(json: .object(members))
            } else {
                session.console.result(versionLine)
            }
            return .done
        },
        Command(
            words: ["help"], summary: "Explain a command, or list them all.",
            operands: [Operand("COMMAND", .text, .any, help: "Its words, for example: photos search.")],
            examples: [
                Example("smilepile help", "All commands."),
                Example("smilepile help backup create", "One of them."),
            ]
        ) { invocation, session in
            let words = invocation.operandValues("COMMAND")
            // The parser knows which words there are, and what may have been meant.
            guard case .help(let known) = try Parser(commands: all).parse(words + ["--help"]) else { return .failed }
            let columns = session.console.results.columns()
            let lines = HelpText.page(for: known, style: session.console.style, columns: columns)
            if session.wantsJSON {
                let plain = HelpText.page(for: known, style: Style(isOn: false))
                try session.show(json: ["help": .string(plain.joined(separator: "\n"))])
            } else {
                session.console.result(lines)
            }
            return .done
        },
    ]
}
