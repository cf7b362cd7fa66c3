import Foundation
import Importing
import LibraryModel
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// The tables in Methods.md name messages, repository methods and tests that are there.
@Suite struct MethodTableTests {
    private struct Row {
        let table: String
        let method: String
        let message: String
        let repository: String?
        let shownBy: String
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func rows() throws -> [Row] {
        let path = "Sources/LibraryServices/LibraryServices.docc/Methods.md"
        let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        var table = ""
        return text.split(separator: "\n").compactMap { line in
            if line.hasPrefix("## ") { table = String(line.dropFirst(3)) }
            guard line.hasPrefix("| `") else { return nil }
            let cells = line.split(separator: "|").map { String($0).trimmingWhitespace }
            guard cells.count == (table == "StorageManager" ? 3 : 4) else {
                Issue.record("a row of another form: \(line)")
                return nil
            }
            return Row(
                table: table, method: cells[0], message: cells[1], repository: cells.count == 4 ? cells[2] : nil,
                shownBy: cells[cells.count - 1])
        }
    }

    /// What stands between backquotes.
    private func names(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }

    @Test func everyMethodHasOneRow() throws {
        let rows = try rows()
        let counts = Dictionary(grouping: rows, by: \.table).mapValues(\.count)
        #expect(
            counts == [
                "PhotoDao": 31, "CategoryDao": 18, "PhotoRepository": 21, "CategoryRepository": 10,
                "StorageManager": 13,
            ])
        #expect(Set(rows.map { $0.table + $0.method }).count == 93)
    }

    @Test func everyMessageIsAnswered() async throws {
        let folder = try TemporaryFolder()
        let library = try await PhotoLibrary.open(at: folder.path)
        let known = Set(library.mesh.descriptions.map(\.name))
        await library.close()
        let internalOnes: [any Message.Type] = [AddPhoto.self, AddPhotos.self, PreparePhoto.self]
        let internalNames = Set(internalOnes.filter { $0.access == .service }.map { $0.method })
        for row in try rows() {
            if row.message.hasPrefix("none: ") { continue }
            let messages = names(row.message).filter { known.contains($0) || internalNames.contains($0) }
            // Before `with`, a colon or a mark stands a message; what follows are its properties.
            let first = try #require(names(row.message).first, "\(row.method)")
            #expect(messages.contains(first), "\(row.method): \(first)")
            for name in names(row.message) where name.contains(".") && !name.hasPrefix("totals.") {
                #expect(messages.contains(name), "\(row.method): \(name)")
                #expect(internalNames.contains(name) == row.message.contains("(service only)"), "\(row.method)")
            }
        }
    }

    @Test func everyRepositoryMethodIsDeclared() throws {
        let sources = try ["Photos/PhotoRepository", "Photos/TrashRepository", "Categories/CategoryRepository"].map {
            try String(
                contentsOf: Self.root.appendingPathComponent("Sources/LibraryStorage/\($0).swift"), encoding: .utf8)
        }
        for row in try rows() {
            guard let repository = row.repository else { continue }
            let methods = names(repository)
            #expect(!methods.isEmpty, "\(row.method)")
            for method in methods {
                let labels = method.drop { $0 != "(" }.dropFirst().dropLast().split(separator: ":").map(String.init)
                let isDeclared = sources.contains { source in
                    source.split(separator: "\n").contains { line in
                        guard let start = line.range(of: "func \(method.prefix { $0 != "(" })(") else { return false }
                        let parameters = line[start.upperBound...].prefix { $0 != ")" }.split(separator: ",")
                        let declared = parameters.compactMap {
                            $0.split(separator: ":").first?.split(separator: " ").first.map(String.init)
                        }
                        return declared == labels
                    }
                }
                #expect(isDeclared, "\(row.method): \(method)")
            }
        }
    }

    @Test func everyTestIsThere() throws {
        let tests = Self.root.appendingPathComponent("Tests")
        var bySuite: [String: Set<String>] = [:]
        let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            var suite = ""
            var marked = false
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let words = line.split(whereSeparator: { " ({:".contains($0) }).map(String.init)
                if let at = words.firstIndex(of: "struct"), line.contains("@Suite"), at + 1 < words.count {
                    suite = words[at + 1]
                }
                if line.contains("@Test") { marked = true }
                guard let at = words.firstIndex(of: "func"), at + 1 < words.count else { continue }
                if marked { bySuite[suite, default: []].insert(words[at + 1]) }
                marked = false
            }
        }
        for row in try rows() {
            let shown = names(row.shownBy)
            #expect(!shown.isEmpty, "\(row.method)")
            for name in shown {
                let parts = name.split(separator: "/").map(String.init)
                #expect(parts.count == 2 && bySuite[parts[0]]?.contains(parts[1]) == true, "\(row.method): \(name)")
            }
        }
    }
}
