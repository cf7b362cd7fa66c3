import LibraryStorage
import ServiceMesh
import Synchronization

/// Where one check keeps a catalogue: a fresh place, which nothing else uses.
package protocol CataloguePlace: Sendable {
    /// Opens the catalogue that is kept here. The first time it is new and empty; later, after ``Catalogue/close()``, it has what was
    /// stored.
    /// - Throws: `CatalogueIsOwned` while it is open already.
    func open() async throws -> any Catalogue
    /// Ends the right to change the catalogue that is open, in whichever way it may end here. The catalogue is not told.
    func endOwnership() async throws
    /// Removes all that is kept here. Nothing is open any more.
    func remove() async throws
}

/// One promise of the border, and what shows that a catalogue keeps it.
package struct ContractCheck: Sendable, CustomStringConvertible {
    /// The promise, as a clause.
    package let name: String
    private let body: @Sendable (ContractRun) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (ContractRun) async throws -> Void) {
        self.name = name
        self.body = body
    }

    package var description: String { name }

    func named(_ name: String) -> ContractCheck { ContractCheck(name, body) }

    /// Runs the check at a place of its own, which is removed afterwards.
    /// - Returns: where the catalogue does something else than the border promises. Empty where it keeps the promise.
    package func failures(at place: some CataloguePlace) async -> [ContractFailure] {
        let run: ContractRun
        do {
            run = try await ContractRun(at: place)
        } catch {
            return [ContractFailure(detail: "The catalogue does not open: \(error)", file: #fileID, line: #line)]
        }
        do {
            try await body(run)
        } catch {
            run.fail("It throws \(error).", #fileID, #line)
        }
        await run.catalogue.close()
        do {
            try await place.remove()
        } catch {
            run.fail("The place cannot be removed: \(error)", #fileID, #line)
        }
        return run.failures
    }
}

/// Something that a catalogue does otherwise than it promises.
package struct ContractFailure: Sendable, CustomStringConvertible {
    package let detail: String
    /// Of the line of the check.
    package let file: String
    package let line: Int

    package var description: String { "\(file):\(line): \(detail)" }
}

/// One run of a check: its catalogue, and what was found wrong. Bodies of transactions may use it.
final class ContractRun: Sendable {
    private struct State {
        var catalogue: any Catalogue
        var failures: [ContractFailure] = []
    }

    private let place: any CataloguePlace
    private let state: Mutex<State>

    init(at place: some CataloguePlace) async throws {
        self.place = place
        state = Mutex(State(catalogue: try await place.open()))
    }

    var catalogue: any Catalogue { state.withLock { $0.catalogue } }

    var failures: [ContractFailure] { state.withLock { $0.failures } }

    /// Closes the catalogue and opens it again.
    func reopen() async throws {
        await catalogue.close()
        let opened = try await place.open()
        state.withLock { $0.catalogue = opened }
    }

    /// Opens it once more beside the one that is open, which has to be refused.
    func openAgain() async throws -> any Catalogue { try await place.open() }

    func endOwnership() async throws { try await place.endOwnership() }

    // MARK: Transactions

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value { try await catalogue.read(body) }

    @discardableResult
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) async throws -> Value { try await catalogue.write(body) }

    // MARK: Expectations

    func fail(_ detail: String, _ file: String, _ line: Int) {
        state.withLock { $0.failures.append(ContractFailure(detail: detail, file: file, line: line)) }
    }

    func expect(_ condition: Bool, _ detail: String = "", file: String = #fileID, line: Int = #line) {
        if !condition { fail(detail.isEmpty ? "It is not so." : detail, file, line) }
    }

    func equal<Value: Equatable>(_ found: Value, _ wanted: Value, file: String = #fileID, line: Int = #line) {
        if found != wanted { fail("\(found) is not \(wanted)", file, line) }
    }

    /// - Throws: ``Missing`` where there is no value: the check cannot go on.
    func require<Value>(_ value: Value?, file: String = #fileID, line: Int = #line) throws -> Value {
        guard let value else {
            fail("There is nothing.", file, line)
            throw Missing()
        }
        return value
    }

    struct Missing: Error {}

    /// Expects that a write is refused with a case of ``CatalogueError`` and changes nothing.
    /// - Parameter name: the case's.
    func refuses(
        _ name: String, file: String = #fileID, line: Int = #line,
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Void
    ) async throws {
        let before = try await read { try Summary($0) }
        do {
            try await write(body)
            fail("It is not refused with \(name).", file, line)
        } catch let error as CatalogueError {
            let found = Mirror(reflecting: error).children.first?.label ?? "\(error)"
            if found != name { fail("It is refused with \(found), not with \(name).", file, line) }
        } catch {
            fail("It fails with \(error), and is not refused with \(name).", file, line)
        }
        equal(try await read { try Summary($0) }, before, file: file, line: line)
    }

    /// Expects that a request fails, in whichever way.
    func fails(
        _ detail: String, file: String = #fileID, line: Int = #line, _ request: () async throws -> Void
    ) async {
        do {
            try await request()
            fail("\(detail) does not fail.", file, line)
        } catch {}
    }
}

/// How much a catalogue has of what refused writes could have changed.
private struct Summary: Equatable {
    let photos: [String]
    let categories: [String]
    let trash: Int
    let discarded: [String]
    let groups: [StoredGroup]
    let groupPhotos: Set<String>

    init(_ t: any CatalogueTransaction) throws {
        var photos: [String] = []
        try t.photos.forEach(since: nil) { photos.append("\($0)") }
        self.photos = photos
        categories = try t.categories.all().map { "\($0)" }
        trash = try t.trash.count()
        discarded = try t.discardedFiles.all()
        groups = try t.groups.groups(nil)
        groupPhotos = try t.groups.photoIDs()
    }
}
