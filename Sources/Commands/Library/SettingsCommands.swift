import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let settingsCommands: [Command] = [
        Command(
            words: ["settings", "list"], summary: "Show every setting, its value, and what it means.",
            details: explanation(of: SettingKey.allCases),
            examples: [
                Example("smilepile settings", "All of them."),
                Example("smilepile settings list --json", "For a script."),
            ], isDefaultOfGroup: true
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(GetSettings())
                let members = try JSONDecoder().decode([String: JSONValue].self, from: answer.json)
                session.show(answer) { _ in
                    // The meaning on a line of its own: beside the value it would be cut on most terminals.
                    let width = SettingKey.allCases.map { TextWidth.of($0.rawValue) }.max() ?? 0
                    for key in SettingKey.allCases {
                        session.console.result([
                            TextWidth.padded(key.rawValue, to: width) + "  " + text(of: key, in: members),
                            session.console.style.dim("    " + key.meaning),
                        ])
                    }
                }
                return .done
            }
        },
        Command(
            words: ["settings", "get"], summary: "Print the value of one setting.",
            details: explanation(of: SettingKey.allCases),
            operands: [Operand("KEY", .setting(settableOnly: false), help: "The setting's name.")],
            examples: [Example("smilepile settings get keepOriginals", "Is it on?")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let key = try setting(invocation)
                let answer = try await library.send(GetSettings())
                let members = try JSONDecoder().decode([String: JSONValue].self, from: answer.json)
                if session.wantsJSON {
                    try session.show(json: .object([key.rawValue: members[key.rawValue] ?? .null]))
                } else {
                    session.console.result(text(of: key, in: members))
                }
                return .done
            }
        },
        Command(
            words: ["settings", "set"], summary: "Change a setting.",
            details: explanation(of: SettingKey.settable)
                + "\n\nThe mode is set by 'smilepile mode', the PIN by 'smilepile pin'.",
            operands: [
                Operand("KEY", .setting(settableOnly: true), help: "The setting's name."),
                Operand("VALUE", help: "Its new value; 'on' and 'yes' are true, 'off' and 'no' are false."),
            ],
            examples: [
                Example("smilepile settings set keepOriginals false", "Imports keep no originals from now on."),
                Example("smilepile settings set swipeThreshold 0.4", "A swipe counts later."),
            ]
        ) { invocation, session in
            let key = try setting(invocation)
            let value: JSONValue
            do {
                value = try key.value(typed: invocation.operand("VALUE") ?? "")
            } catch let error as MeshError {
                throw invocation.usageError(error.message)
            }
            return try await session.withLibrary { library in
                let json = try await library.call(
                    ChangeSettings.method, params: JSONText.encode(JSONValue.object([key.rawValue: value])))
                let members = try Reply.decode([String: JSONValue].self, from: json, of: ChangeSettings.method)
                if session.wantsJSON {
                    session.show(json: json)
                } else {
                    session.console.result("\(key.rawValue) is \(text(of: key, in: members)) now.")
                }
                return .done
            }
        },
    ]

    private static func setting(_ invocation: Invocation) throws -> SettingKey {
        guard let key = invocation.operand("KEY").flatMap(SettingKey.init) else {
            throw invocation.usageError("KEY is missing.")
        }
        return key
    }

    /// A setting's value as people read it. What is not set at all says nothing in JSON.
    private static func text(of key: SettingKey, in members: [String: JSONValue]) -> String {
        switch members[key.rawValue] {
        case .bool(let flag)?: String(flag)
        case .number(let number)?: String(number)
        case .integer(let number)?: String(number)
        case .string(let text)?:
            key.values == .date ? Timestamp(rfc3339: text).map(LocalDate.text) ?? text : PlainText.neutralized(text)
        default: "none"
        }
    }

    /// Name, values and meaning of each, as the help of every command of the group says them.
    private static func explanation(of keys: [SettingKey]) -> String {
        let lines = keys.flatMap { key in
            [
                "  \(key.rawValue): \(key.values.range)" + (key.setBy.map { "; set by \($0)" } ?? ""),
                "      \(key.meaning)",
            ]
        }
        return (["Settings:"] + lines).joined(separator: "\n")
    }
}
