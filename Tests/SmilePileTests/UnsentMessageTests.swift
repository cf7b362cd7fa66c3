import Foundation
import Testing

/// The messages that nothing sends are those of Methods.md, which says what each is kept for.
@Suite struct UnsentMessageTests {
    private static let section = "Messages that no client sends"

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    /// Modules of clients and of services. The tools that measure and try the daemon send whatever it takes, and are no clients.
    private static let senders = [
        "Commands", "CommandLineInterface", "Exporting", "ControlSocket", "WebServer", "smilepile-web", "smilepiled",
        "LibraryServices", "Importing", "BackupFormats", "Backups", "Exchange", "SmilePile",
    ]
    private static let declaring = [
        "LibraryModel", "LibraryServices", "Importing", "Backups", "Exchange", "ServiceMesh", "ControlSocket",
    ]

    private static func files(_ folder: String, _ kind: String) throws -> [String] {
        let files = try #require(
            FileManager.default.enumerator(
                at: root.appendingPathComponent("Sources/" + folder), includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == kind }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }

    /// The types of messages by their methods.
    private static func declared() throws -> [String: String] {
        var types: [String: String] = [:]
        for text in try declaring.flatMap({ try files($0, "swift") }) {
            var type = ""
            for line in text.split(separator: "\n") {
                let words = line.split(whereSeparator: { " :<{".contains($0) })
                if let at = words.firstIndex(where: { $0 == "struct" || $0 == "extension" }), at + 1 < words.count {
                    type = String(words[at + 1])
                }
                if line.contains("static let method"), let method = quoted(line, by: "\"").first {
                    types[method] = type
                }
            }
        }
        return types
    }

    /// Types that are made, and methods that are named, in what sends.
    private static func sent() throws -> (types: Set<String>, methods: Set<String>) {
        var (types, methods): (Set<String>, Set<String>) = ([], [])
        for text in try senders.flatMap({ try files($0, "swift") }) {
            for line in text.split(separator: "\n")
            where !line.drop(while: { $0 == " " }).hasPrefix("//") && !line.contains("static let method") {
                for call in line.split(separator: "(", omittingEmptySubsequences: false).dropLast() {
                    types.insert(String(call.reversed().prefix { $0.isLetter || $0.isNumber }.reversed()))
                }
                methods.formUnion(quoted(line, by: "\""))
            }
        }
        for text in try files("WebPage", "js") {
            for way in ["ask('", "observe('"] {
                methods.formUnion(text.components(separatedBy: way).dropFirst().map { String($0.prefix { $0 != "'" }) })
            }
        }
        return (types, methods)
    }

    private static func quoted(_ line: Substring, by mark: Character) -> [String] {
        line.split(separator: mark, omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }

    /// Each line of the table: the message, and what it is kept for.
    private static func documented() throws -> [(message: String, purpose: String)] {
        let path = "Sources/LibraryServices/LibraryServices.docc/Methods.md"
        let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        let start = try #require(text.range(of: "## \(section)\n"))
        return text[start.upperBound...].split(separator: "\n").compactMap { line in
            line.wholeMatch(of: /\| (.+) \| `([^`]+)` \|/).map { (String($0.2), String($0.1)) }
        }
    }

    @Test func theTableHasThem() throws {
        let declared = try Self.declared()
        let sent = try Self.sent()
        // As many as there are, by far: a search that finds nothing would call everything unsent.
        try #require(declared.count > 150 && sent.types.count > 500 && sent.methods.count > 50)
        let unsent = declared.filter { !sent.methods.contains($0.key) && !sent.types.contains($0.value) }
        #expect(unsent.keys.sorted() == (try Self.documented().map(\.message)))
    }

    /// Where it says: in a row of Methods.md, in a numbered one of another table, or in an article.
    @Test func eachIsKeptForSomethingThatNamesIt() throws {
        let folder = "Sources/LibraryServices/LibraryServices.docc/"
        let methods = try String(contentsOf: Self.root.appendingPathComponent(folder + "Methods.md"), encoding: .utf8)
        for (message, purpose) in try Self.documented() {
            if let row = purpose.wholeMatch(of: /(\w+) (`[^`]+`)/) {
                let table = try #require(methods.range(of: "## \(row.1)\n"), "\(message)")
                let rows = methods[table.upperBound...].components(separatedBy: "\n## ")[0].split(separator: "\n")
                #expect(
                    rows.contains { $0.hasPrefix("| \(row.2) |") && $0.contains("`\(message)`") },
                    "\(message): \(purpose)")
            } else if let item = purpose.wholeMatch(of: /<doc:(\w+)> (\d+)/) {
                let text = try String(
                    contentsOf: Self.root.appendingPathComponent(folder + item.1 + ".md"), encoding: .utf8)
                #expect(
                    text.split(separator: "\n").contains {
                        $0.hasPrefix("| \(item.2) |") && $0.contains("`\(message)`")
                    }, "\(message): \(purpose)")
            } else {
                let article = try #require(purpose.firstMatch(of: /<doc:\/(\w+)\/(\w+)>: \w/), "\(message)")
                let path = "Sources/\(article.1)/\(article.1).docc/\(article.2).md"
                let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
                #expect(text.contains("`\(message)`"), "\(message): \(path)")
            }
        }
    }
}
