import LibraryModel
import ServiceMesh

extension Operand {
    /// Photos, as ``PhotoSelection`` reads them.
    package static let photos = Operand(
        "PHOTO", .text, .any, help: "Numbers, ranges such as 12-40, uuids, or '-' for standard input.")
}

extension Option {
    /// Instead of naming photos: what describes them.
    package static let selection: [Option] = [
        .value(
            "where", "FILTER", .photoFilter, repeats: true,
            help: "Instead: all that meet a filter of 'photos list'."),
        .flag("yes", help: "Do not ask before photos chosen by --where change."),
    ]

    /// What is said of ``selection`` by the commands that have it.
    package static let selectionExplained = """
        --where takes the filters of 'photos list', one at a time: --where category=Cars --where to=2024 means those that meet
        both; further ones are favorites, reviewed, not-reviewed, decision=trash, camera=canon, and text=WORD. How many that
        are is asked first. Numbers in a range that are no photo's are passed over.
        """
}

/// The photos that a command line names, or describes with `--where`.
package struct PhotoSelection: Sendable {
    /// What one word names.
    private enum Name: Sendable {
        case id(Int64)
        case range(ClosedRange<Int64>)
        case uuid(String)

        init(_ word: String, of invocation: Invocation) throws {
            let ends = word.split(separator: "-", omittingEmptySubsequences: false)
            if let id = Int64(word), !word.hasPrefix("-") {
                self = .id(id)
            } else if ends.count == 2, ends.allSatisfy({ $0.isNumber(upTo: 19) }) {
                guard let first = Int64(ends[0]), let last = Int64(ends[1]), first <= last else {
                    throw invocation.usageError("The range \(word) ends before it begins. Write it as 12-40.")
                }
                self = .range(first...last)
            } else {
                self = .uuid(word.lowercased())
            }
        }
    }

    /// Bytes of standard input: a million numbers, and some.
    private static let mostInput = 16 << 20

    /// Nil where photos are named.
    package let filters: PhotoFilters?
    /// Whether each was named by itself, so that one that is not there is a mistake. Else it has gone since it was selected.
    package let mustExist: Bool
    private let names: [Name]

    /// - Throws: a usage error where nothing is chosen, or in both ways.
    package init(
        _ invocation: Invocation, _ session: Session, operand: String = "PHOTO", words given: [String]? = nil
    ) async throws {
        let words = given ?? invocation.operandValues(operand)
        let wheres = invocation.values("where")
        guard words.isEmpty || wheres.isEmpty else {
            throw invocation.usageError("Name photos, or describe them with --where: not both.")
        }
        guard !words.isEmpty || !wheres.isEmpty else {
            throw invocation.usageError(
                invocation.command.options.contains { $0.name == "where" }
                    ? "Name the photos, or describe them with --where." : "\(operand) is missing.")
        }
        filters = wheres.isEmpty ? nil : try PhotoFilters(where: wheres, of: invocation)
        var names: [Name] = []
        var hasRead = false
        for word in words {
            guard word == "-" else {
                names.append(try Name(word, of: invocation))
                continue
            }
            guard !hasRead else { throw invocation.usageError("'-' stands there twice.") }
            hasRead = true
            for word in try await Self.input(invocation, session) { names.append(try Name(word, of: invocation)) }
        }
        self.names = names
        mustExist = names.contains { if case .range = $0 { false } else { true } }
    }

    /// The words on standard input.
    private static func input(_ invocation: Invocation, _ session: Session) async throws -> [String] {
        guard !session.pins.readsInput else {
            throw invocation.usageError("Standard input is either the PIN or the photos: write the PIN into a file.")
        }
        let bytes = try await session.console.input(mostInput)
        guard bytes.count <= mostInput else {
            throw CommandFailure.local("There is too much on standard input: 16 MiB of numbers at most.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure.local(
                "Standard input is no text. It takes numbers, as 'photos list --ids' prints them.")
        }
        return text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// What was named, before anybody has looked how many that are: `3 photos`, `2 photos and the range 12-40`.
    package var summary: String {
        let ranges = names.compactMap { if case .range(let range) = $0 { range } else { nil } }
        let single = names.count - ranges.count
        let named = single > 0 ? [Figures.count(single, "photo")] : []
        return (named + ranges.map { "the range \($0.lowerBound)-\($0.upperBound)" }).joined(separator: " and ")
    }

    /// Their ids, each once, in the order in which they were named; by id where they were described. A uuid costs a request, a
    /// number none.
    package func ids(in library: any LibraryConnection) async throws -> [Int64] {
        if let filters { return try await Self.ids(try await filters.filter(in: library), in: library) }
        var ids: [Int64] = []
        var seen: Set<Int64> = []
        for name in names {
            switch name {
            case .id(let id): if seen.insert(id).inserted { ids.append(id) }
            case .uuid(let uuid):
                let id = try await library.send(GetPhoto(uuid: uuid)).value.id
                if seen.insert(id).inserted { ids.append(id) }
            case .range(let range):
                let found = try await Self.ids(range, in: library)
                guard !found.isEmpty else {
                    throw CommandFailure.refused(
                        MeshError(
                            .notFound,
                            "There are no photos from \(range.lowerBound) to \(range.upperBound). List them with: smilepile photos"
                        ))
                }
                ids += found.filter { seen.insert($0).inserted }
            }
        }
        return ids
    }

    private static func ids(_ filter: PhotoFilter, in library: any LibraryConnection) async throws -> [Int64] {
        var ids: [Int64] = []
        var after: Int64?
        repeat {
            let page = try await library.send(SelectPhotos(filter, after: after)).value
            ids += page.ids
            after = page.next
        } while after != nil
        return ids
    }

    private static func ids(_ range: ClosedRange<Int64>, in library: any LibraryConnection) async throws -> [Int64] {
        var ids: [Int64] = []
        var after: Int64?
        repeat {
            let request = SelectPhotos(firstId: range.lowerBound, lastId: range.upperBound, after: after)
            let page = try await library.send(request).value
            ids += page.ids
            after = page.next
        } while after != nil
        return ids
    }

    /// What a message is told of ids that are no photo's.
    package var ignoreMissing: Bool? { mustExist ? nil : true }

    /// Does something with one photo; nil where it has gone since it was selected.
    package func unlessGone<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch CommandFailure.refused(let error) where error.status == .notFound && !mustExist {
            return nil
        }
    }

    /// As ``ids(in:)``, for numbers of photos in the trash.
    package func trashedIDs(in library: any LibraryConnection) async throws -> [Int64] {
        var ids: [Int64] = []
        var ranges: [ClosedRange<Int64>] = []
        for name in names {
            switch name {
            case .id(let id): ids.append(id)
            case .range(let range): ranges.append(range)
            case .uuid(let text):
                throw CommandFailure.refused(
                    MeshError(.notFound, "'\(text)' is no number of a photo in the trash. Look at: smilepile trash"))
            }
        }
        var after: String?
        repeat {
            guard !ranges.isEmpty else { break }
            let page = try await library.send(ListTrash(limit: 1000, after: after)).value
            ids += page.photos.map(\.photo.id).filter { id in ranges.contains { $0.contains(id) } }
            after = page.next
        } while after != nil
        guard !ids.isEmpty else {
            throw CommandFailure.refused(
                MeshError(.notFound, "There are no such photos in the trash. Look at: smilepile trash"))
        }
        var seen: Set<Int64> = []
        return ids.filter { seen.insert($0).inserted }
    }

    /// Their ids, once a person has agreed. With an ending where there is nothing to do, or where the person does not agree,
    /// which has been said then.
    ///
    /// What is agreed to is what was counted: photos that come to meet a filter meanwhile are not touched.
    /// - Parameter question: of so many photos: `Put 12 photos into the trash?`
    package func agreed(
        in library: any LibraryConnection, _ invocation: Invocation, _ session: Session,
        _ question: (String) -> String
    ) async throws -> (ids: [Int64], ending: ExitCode?) {
        let ids = try await ids(in: library)
        guard !ids.isEmpty else {
            if session.wantsJSON { try session.show(json: ["count": 0]) }
            session.console.message("No photos.")
            return ([], .done)
        }
        guard filters != nil else { return (ids, nil) }
        let asked = question(Figures.count(ids.count, "photo"))
        let isAgreed = try await session.confirm(asked, given: invocation.has("yes"), command: invocation)
        return isAgreed ? (ids, nil) : ([], .failed)
    }
}
