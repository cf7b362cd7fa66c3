import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    /// Bytes that an export may have, far more than it has.
    private static let exportBytes = 100_000
    private static let passphraseHelp = """
        The passphrase is asked for on a terminal; else it is the first line of standard input, or of a file.
        """

    static let keyCommands: [Command] = [
        Command(
            words: ["keys", "status"], summary: "Show the keys of the sealed fields, and whether they open.",
            examples: [Example("smilepile keys", "Is the key file where it should be?")], isDefaultOfGroup: true
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(GetKeyStatus())
                session.show(answer) { show($0, session) }
                return answer.value.state == .locked ? .failed : .done
            }
        },
        Command(
            words: ["keys", "export"], summary: "Save the keys of the sealed fields under a passphrase.",
            details: """
                Keep the file and the passphrase apart from this machine: without the key file, nothing else opens the
                sealed fields. Export again after 'smilepile keys rotate'.
                \(passphraseHelp)
                """,
            operands: [Operand("FILE", .path, help: "Where it goes; nothing is replaced.")],
            options: [Passphrase.fileOption],
            examples: [Example("smilepile keys export /media/stick/keys.txt", "To a stick that lies elsewhere.")]
        ) { invocation, session in
            let path = session.absolute(invocation.operand("FILE") ?? "")
            // Before anybody thinks of a passphrase.
            let file = try NewFile(path, mode: 0o600)
            guard !FileManager.default.fileExists(atPath: path) else { throw NewFile.refusal(path, EEXIST) }
            let passphrase = try await Passphrase.needed(session, invocation, isNew: true)
            return try await session.withLibrary { library in
                let answer = try await library.send(ExportKeys(passphrase: passphrase))
                try file.write(Array(answer.value.text.utf8))
                try file.finish()
                if session.wantsJSON {
                    try session.show(json: ["path": .string(path), "keys": .integer(Int64(answer.value.keys))])
                } else {
                    session.console.result(
                        "\(Figures.count(answer.value.keys, "key")) saved in \(PlainText.neutralized(path)).")
                }
                return .done
            }
        },
        Command(
            words: ["keys", "import"], summary: "Take over keys of sealed fields that were exported.",
            details: """
                For a library that was copied or restored from elsewhere, and when the key file is lost. A key file that
                is there stays as it is; where there is none it is made.
                \(passphraseHelp)
                """,
            operands: [Operand("FILE", .path, help: "What 'smilepile keys export' wrote.")],
            options: [Passphrase.fileOption],
            examples: [Example("smilepile keys import /media/stick/keys.txt", "After the disk was replaced.")]
        ) { invocation, session in
            let path = session.absolute(invocation.operand("FILE") ?? "")
            let text = try exported(path)
            let passphrase = try await Passphrase.needed(session, invocation, isNew: false)
            return try await session.withLibrary { library in
                let answer = try await library.send(ImportKeys(text: text, passphrase: passphrase))
                session.show(answer) { imported in
                    let known = imported.known > 0 ? ", \(imported.known) known already" : ""
                    session.console.result("\(Figures.count(imported.imported, "key")) taken over\(known).")
                }
                return .done
            }
        },
        Command(
            words: ["keys", "rotate"], summary: "Seal everything with a new key.",
            details: """
                For when the old key may have become known. The library stays usable meanwhile; the old key goes at the end.
                Exports from before open nothing of it: export the keys again.
                """,
            options: [detach],
            examples: [Example("smilepile keys rotate", "Then: smilepile keys export FILE")]
        ) { invocation, session in
            try await session.withLibrary { library in
                try await runJob(RotateKeys(), invocation, session, library)
            }
        },
    ]

    private static func show(_ status: KeyStatus, _ session: Session) {
        var sheet = FactSheet()
        sheet.add(
            "Sealed fields", "\(Figures.count(status.values, "value")) of \(Figures.count(status.photos, "photo"))")
        switch status.state {
        case .unused: sheet.add("Keys", "none yet; the first sealed field makes them")
        case .ready: sheet.add("Keys", "open")
        case .locked: sheet.add("Keys", session.console.style.red("do not open"))
        }
        sheet.add("Key file", status.keyFile ?? "no place known")
        for key in status.keys {
            let exported = key.exportedAt.map { "exported \(LocalDate.text($0))" } ?? "never exported"
            sheet.add(
                key.isActive ? "Active key" : "Older key",
                "\(key.id.prefix(8)), of \(LocalDate.text(key.createdAt)), \(Figures.count(key.values, "value")), \(exported)"
            )
        }
        if status.foreignValues > 0 {
            sheet.add("Keys not here", "\(Figures.count(status.foreignValues, "value")) of another library")
        }
        session.console.show(sheet)
        if let problem = status.problem { session.console.message(PlainText.neutralized(problem)) }
        if status.state == .ready, status.keys.contains(where: { $0.isActive && $0.exportedAt == nil }) {
            session.console.message(
                "If the key file is lost, so is what is sealed. Save the keys elsewhere: smilepile keys export FILE")
        }
    }

    private static func exported(_ path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure.local("\(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { try? file.close() }
        let bytes = try? file.read(upToCount: exportBytes + 1)
        guard let bytes, bytes.count <= exportBytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure.local("\(path) is no export of keys. Name a file that 'smilepile keys export' wrote.")
        }
        return text
    }
}
