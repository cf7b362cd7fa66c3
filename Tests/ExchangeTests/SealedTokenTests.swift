import Exchange
import Foundation
import LibraryModel
import LibraryStorage
import SQLiteCatalogue
import ServiceMesh
import SmilePile
import Synchronization
import TestSupport
import Testing
import ZipArchive

/// Tokens that a library shows other machines: whoever has its folder has none of them.
@Suite(.timeLimit(.minutes(2))) struct SealedTokenTests {
    private static let tokens = ["a-member's-token-1234567890", "a-machine's-token-1234567890"]

    private static func open(
        _ folder: TemporaryFolder, _ shown: ShownTokens, keyFile: String = "config/sealing.key"
    ) async throws -> PhotoLibrary {
        var options = PhotoLibrary.Options.repeating(workers: 1)
        options.keyFile = folder.file(keyFile)
        options.groupRemotes = { EmptyRemote(shown: shown, token: $1) }
        options.reviewRemotes = { EmptyRemote(shown: shown, token: $1) }
        return try await PhotoLibrary.open(at: folder.file("library"), options: options)
    }

    private static func join(_ mesh: Mesh) async throws {
        _ = try await mesh.send(JoinGroups(address: "http://127.0.0.1:1", token: tokens[0]))
        _ = try await mesh.send(JoinReviews(address: "http://127.0.0.1:2", token: tokens[1]))
    }

    /// - Returns: how many machines could not be asked.
    private static func sync(_ mesh: Mesh) async throws -> [JSONValue?] {
        let groups = try await mesh.send(WaitForJob(job: mesh.send(SyncGroups()).job))
        let reviews = try await mesh.send(WaitForJob(job: mesh.send(SyncReviews()).job))
        return [groups.receipt?["failed"], reviews.receipt?["failed"]]
    }

    private static func problems(_ mesh: Mesh) async throws -> [String?] {
        try await mesh.send(ListGroupHubs()).hubs.map(\.problem)
            + mesh.send(ListReviewMachines()).machines.map(\.problem)
    }

    private static func stored(_ library: PhotoLibrary) async throws -> [StoredToken] {
        try await library.catalogue.read { transaction in
            try transaction.groupHubs.all().map(\.token) + transaction.reviewMachines.partners().map(\.token)
        }
    }

    /// Files of the library's folder that have one of the tokens in them.
    private static func files(with tokens: [String], in folder: TemporaryFolder) throws -> [String] {
        let library = folder.file("library")
        let all = FileManager.default.enumerator(atPath: library)?.compactMap { $0 as? String } ?? []
        return all.filter { name in
            guard let bytes = FileManager.default.contents(atPath: library + "/" + name) else { return false }
            return tokens.contains { bytes.range(of: Data($0.utf8)) != nil }
        }
    }

    @Test func aCopyOfTheFolderHasNoTokens() async throws {
        let (folder, shown) = (try TemporaryFolder("tokens"), ShownTokens())
        let library = try await Self.open(folder, shown)
        try await Self.join(library.mesh)
        #expect(try await Self.stored(library).allSatisfy { $0.sealed != nil && $0.text.isEmpty })
        #expect(try Self.files(with: Self.tokens, in: folder).isEmpty)
        #expect(try await Self.sync(library.mesh) == [0, 0])
        #expect(shown.all.value == Set(Self.tokens))
        await library.close()
        #expect(try Self.files(with: Self.tokens, in: folder).isEmpty)
        // Nor does one open in the place of another.
        let again = try await Self.open(folder, shown)
        let sealed = try await Self.stored(again)
        try await again.catalogue.write { transaction in
            for hub in try transaction.groupHubs.all() { try transaction.groupHubs.setToken(sealed[1], of: hub.id) }
        }
        #expect(try await Self.sync(again.mesh) == [1, 0])
        await again.close()
    }

    @Test func whatLiesThereAsItIsIsSealedWhenTheLibraryIsOpened() async throws {
        let (folder, shown) = (try TemporaryFolder("tokens"), ShownTokens())
        // Where no key file can be, they are kept as they are: the other machines can be asked all the same.
        try Data().write(to: URL(fileURLWithPath: folder.file("nothing")))
        let old = try await Self.open(folder, shown, keyFile: "nothing/sealing.key")
        try await Self.join(old.mesh)
        #expect(try await Self.stored(old) == Self.tokens.map { .plain($0) })
        #expect(try await Self.sync(old.mesh) == [0, 0])
        await old.close()
        #expect(try Self.files(with: Self.tokens, in: folder) == ["catalogue.sqlite"])

        shown.all.change { $0 = [] }
        let library = try await Self.open(folder, shown)
        // It seals them before it asks anybody.
        await shown.all.meets { $0 == Set(Self.tokens) }
        #expect(try await Self.stored(library).allSatisfy { $0.sealed != nil })
        #expect(try await Self.sync(library.mesh) == [0, 0])
        await library.close()
        #expect(try Self.files(with: Self.tokens, in: folder).isEmpty)
    }

    @Test func withoutTheKeyTheProblemSaysWhatToDo() async throws {
        let (folder, shown) = (try TemporaryFolder("tokens"), ShownTokens())
        let library = try await Self.open(folder, shown)
        try await Self.join(library.mesh)
        await library.close()
        let (file, aside) = (folder.file("config/sealing.key"), folder.file("aside.key"))
        try FileManager.default.moveItem(atPath: file, toPath: aside)

        let locked = try await Self.open(folder, shown)
        #expect(try await Self.sync(locked.mesh) == [1, 1])
        for problem in try await Self.problems(locked.mesh) {
            #expect(problem?.contains("\(file) is missing") == true, "\(problem ?? "")")
            #expect(problem?.contains(". Or join that machine again") == true, "\(problem ?? "")")
            #expect(problem?.contains("..") == false, "\(problem ?? "")")
        }
        // Joined again, it goes on without the key, and is sealed once that is back.
        _ = try await locked.mesh.send(JoinGroups(address: "http://127.0.0.1:1", token: Self.tokens[0]))
        #expect(try await Self.sync(locked.mesh) == [0, 1])
        #expect(try await Self.stored(locked)[0] == .plain(Self.tokens[0]))
        try FileManager.default.moveItem(atPath: aside, toPath: file)
        #expect(try await Self.sync(locked.mesh) == [0, 0])
        #expect(try await Self.stored(locked).allSatisfy { $0.sealed != nil })
        await locked.close()
        #expect(try Self.files(with: Self.tokens, in: folder).isEmpty)

        let opened = try await Self.open(folder, shown)
        #expect(try await Self.sync(opened.mesh) == [0, 0])
        #expect(try await Self.problems(opened.mesh) == [nil, nil])
        await opened.close()
    }

    @Test func anotherKeyForTheLibraryIsOneForTheTokens() async throws {
        let (folder, shown) = (try TemporaryFolder("tokens"), ShownTokens())
        let library = try await Self.open(folder, shown)
        try await Self.join(library.mesh)
        let before = try await Self.stored(library)
        let rotation = try await library.mesh.send(WaitForJob(job: library.mesh.send(RotateKeys()).job))
        #expect(rotation.receipt?["removedKeys"] == 1, "\(String(describing: rotation.receipt))")
        let after = try await Self.stored(library)
        #expect(after.count == 2 && zip(before, after).allSatisfy { $0 != $1 && $1.sealed != nil })
        #expect(try await Self.sync(library.mesh) == [0, 0])
        // One that does not open keeps the key that it was sealed with.
        try await library.catalogue.database.write {
            _ = try $0.execute("UPDATE group_hubs SET sealed_token = CAST(substr(sealed_token, 1, 60) AS BLOB)")
        }
        let second = try await library.mesh.send(WaitForJob(job: library.mesh.send(RotateKeys()).job))
        #expect(second.receipt?["removedKeys"] == 0)
        #expect(try await library.mesh.send(GetKeyStatus()).keys.count == 2)
        #expect(try await Self.sync(library.mesh) == [1, 0])
        await library.close()
    }

    @Test func noBackupHasAToken() async throws {
        let (folder, shown) = (try TemporaryFolder("tokens"), ShownTokens())
        let library = try await Self.open(folder, shown)
        try await Self.join(library.mesh)
        let sealed = try await Self.stored(library).compactMap { $0.sealed.map { Data($0) } }
        let path = folder.file("backup.zip")
        let made = try await library.mesh.send(WaitForJob(job: library.mesh.send(CreateBackup(path: path)).job))
        #expect(made.state == .finished)
        await library.close()
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let reader = try ZipReader(descriptor: input.fileDescriptor)
        for entry in try reader.entries.map({ $0 }) {
            let bytes = try reader.read(entry.index, limit: 1 << 30)
            let secrets =
                Self.tokens.map { Data($0.utf8) } + sealed + sealed.map { Data($0.base64EncodedString().utf8) }
            #expect(secrets.allSatisfy { bytes.range(of: $0) == nil }, "\(entry.name)")
        }
    }
}

/// The tokens that other machines were shown.
private final class ShownTokens: Sendable {
    let all = Awaited(Set<String>())
}

/// A machine that has nothing, and knows every token.
private struct EmptyRemote: GroupRemote, ReviewRemote {
    let shown: ShownTokens
    let token: String

    private func show() { shown.all.change { $0.insert(token) } }

    func groups(utcOffset: Int) async throws -> [HubGroup] {
        show()
        return []
    }

    func photos(of group: String, utcOffset: Int) async throws -> (photos: [HubPhoto], time: Timestamp?) { ([], nil) }

    func fetch(_ photo: HubPhoto, into file: OwnedFile) async throws {}

    func send(_ photo: OutgoingPhoto, _ content: OwnedFile) async throws -> HubPhoto {
        throw MeshError(.unimplemented, "Nothing is taken here.")
    }

    func leave(_ group: String) async throws {}

    func changes(after cursor: String) async throws -> ReviewChanges {
        show()
        return ReviewChanges(sessions: [], decisions: [], undone: [], next: "0.0.0", more: false)
    }

    func take(_ changes: ReviewChanges) async throws {}

    func close() async {}
}
