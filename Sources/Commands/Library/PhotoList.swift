import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let listing: [Option] =
        Option.filters + paging + [
            .flag("all", help: "All of them, page by page, and not the newest hundred."),
            .flag("ids", help: "Print only the numbers, one a line: for '-' of other commands."),
        ]
}

/// Photos as `photos list` and `photos search` show them: one page, or all, each page as it comes.
struct PhotoList: Sendable {
    /// Photos of one request where all are wanted.
    private static let pageSize = 1000

    let session: Session

    func run(_ invocation: Invocation, words: [String] = []) async throws -> ExitCode {
        let all = invocation.has("all")
        guard !all || (invocation.value("limit") == nil && invocation.value("after") == nil) else {
            throw invocation.usageError("--all is the whole list: leave --limit and --after out.")
        }
        guard !invocation.has("ids") || !session.wantsJSON else {
            throw invocation.usageError("--ids prints numbers and --json prints JSON: leave one of them out.")
        }
        let filters = try PhotoFilters(invocation, words: words)
        return try await session.withLibrary { library in
            let filter = try await filters.filter(in: library)
            if all { return try await everything(filter, invocation, library) }
            let answer = try await library.send(
                SearchPhotos(filter, limit: invocation.number("limit"), after: invocation.value("after")))
            guard !session.wantsJSON else {
                session.show(json: answer.json)
                return .done
            }
            try await showPage(answer.value, invocation, library)
            return .done
        }
    }

    private func showPage(
        _ page: PhotoPage, _ invocation: Invocation, _ library: any LibraryConnection
    ) async throws {
        if invocation.has("ids") {
            session.console.result(page.photos.map { String($0.id) })
        } else if page.photos.isEmpty {
            session.console.message("No photos.")
        } else {
            var table = PhotoLines(session, try await library.send(ListCategories()).value.categories)
            table.show(page.photos)
            table.explainMarks()
        }
        if let next = page.next {
            session.console.message(
                "There are more: repeat with --all, or with --after \(PlainText.neutralized(next))")
        }
    }

    /// Page by page, so that a library of any size takes the memory of one.
    private func everything(
        _ filter: PhotoFilter, _ invocation: Invocation, _ library: any LibraryConnection
    ) async throws -> ExitCode {
        let wantsIDs = invocation.has("ids")
        let isTable = !session.wantsJSON && !wantsIDs
        var table = PhotoLines(session, isTable ? try await library.send(ListCategories()).value.categories : [])
        var after: String?
        var count = 0
        repeat {
            try Task.checkCancellation()
            let page = try await library.send(SearchPhotos(filter, limit: Self.pageSize, after: after)).value
            if session.wantsJSON {
                if count == 0 { session.console.results.write("{\"photos\":[") }
                try writeJSON(page.photos, isFirst: count == 0)
            } else if wantsIDs {
                session.console.result(page.photos.map { String($0.id) })
            } else if !page.photos.isEmpty {
                table.show(page.photos)
            }
            count += page.photos.count
            after = page.next
            // What nobody can read any more is not worth asking for.
            if session.console.lostResults() != 0 { break }
        } while after != nil
        if session.wantsJSON { session.console.results.write("]}\n") }
        if count == 0, isTable { session.console.message("No photos.") }
        table.explainMarks()
        return .done
    }

    /// The members of one array, each on a line of its own.
    private func writeJSON(_ photos: [Photo], isFirst: Bool) throws {
        guard !photos.isEmpty else { return }
        let lines = try photos.map { String(decoding: try JSONText.encode($0), as: UTF8.self) }
        let text = (isFirst ? "\n" : ",\n") + lines.joined(separator: ",\n")
        session.console.results.write(session.console.results.isTerminal ? JSONText.harmless(text) : text)
    }
}
