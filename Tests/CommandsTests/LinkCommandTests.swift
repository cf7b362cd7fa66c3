import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Links")
struct LinkCommandTests {
    private static let ids = ["11a8d64a-0000-4000-8000-000000000000", "11a8ffff-0000-4000-8000-000000000000"]
    private static let token = "0123456789abcdefghijABCDEFGHIJ-_"

    private static func link(
        _ id: String = ids[0], _ title: String? = nil, state: LinkState = .open, categories: [Int64] = [],
        password: Bool = false
    ) -> Link {
        Link(
            id: id, title: title, createdAt: Timestamp(milliseconds: 0), expiresAt: Timestamp(milliseconds: 60_000),
            revokedAt: nil, state: state, categoryIds: categories, photoCount: 12, hasPassword: password,
            givesOriginals: password, givesDetails: false, openings: 3, lastOpenedAt: nil)
    }

    private func stage(_ links: [Link], secrets: [String] = [], says: String? = nil) throws -> Stage {
        let stage = Stage(personSays: says, secrets: secrets)
        try stage.answer("link.list", LinkList(links: links))
        let sea = Category(
            id: 7, displayName: "Sea", position: 0, iconResource: nil, colorHex: "#112233", isDefault: false,
            createdAt: Timestamp(milliseconds: 0), photoCount: 12)
        try stage.answer("category.list", CategoryList(categories: [sea]))
        try stage.answer("link.create", CreatedLink(link: Self.link(), token: Self.token))
        try stage.answer("link.revoke", Self.link(state: .revoked))
        return stage
    }

    @Test("Links are listed, with what they show and give") func list() async throws {
        let shown = try stage([
            Self.link(Self.ids[0], "For \u{1B}[31mGrandma", categories: [7]),
            Self.link(Self.ids[1], state: .revoked, password: true),
        ])
        #expect(await shown.run("links") == .done)
        let lines = shown.results.split(separator: "\n").map(String.init)
        #expect(lines[0].hasPrefix("LINK      TITLE"))
        #expect(lines[1].hasPrefix("11a8d64a  For ␛[31mGrandma  Sea "))
        #expect(lines[2].hasPrefix("11a8ffff ") && lines[2].contains("12 photos") && lines[2].contains("revoked"))
        #expect(lines[2].hasSuffix("password, originals"))
        let empty = try stage([])
        #expect(await empty.run("links", "list") == .done)
        #expect(empty.results.isEmpty && empty.messages.contains("smilepile links create"))
    }

    @Test("A link to photos, and what it is told") func create() async throws {
        let made = try stage([])
        #expect(
            await made.run(
                "links", "create", "12", "15", "--days", "7", "--title", "For Grandma", "--originals", "--address",
                "https://photos.example/") == .done)
        #expect(made.results == "https://photos.example/s/\(Self.token)\n")
        #expect(made.messages.contains("12 photos"))
        #expect(
            made.params("link.create") == [
                "photoIds": [12, 15], "days": 7, "title": "For Grandma", "originals": true,
            ])
        let machine = try stage([])
        #expect(await machine.run("links", "create", "12", "--json", "--address", "http://10.0.0.7:8468") == .done)
        #expect(machine.results.contains("\"address\":\"http://10.0.0.7:8468/s/\(Self.token)\""))
        // Without a page there is no address, and the token is not lost.
        let bare = try stage([])
        #expect(await bare.run("links", "create", "12") == .done)
        #expect(bare.results == "/s/\(Self.token)\n" && bare.messages.contains("does not run"))
    }

    @Test("A link to a category, behind a password that is typed twice") func password() async throws {
        let made = try stage([], secrets: ["sesame", "sesame"])
        #expect(await made.run("links", "create", "--category", "sea", "--password") == .done)
        #expect(made.params("link.create") == ["categoryIds": [7], "password": "sesame"])
        #expect(!made.results.contains("sesame") && !made.messages.contains("sesame"))
        let other = try stage([], secrets: ["sesame", "Sesame"])
        #expect(await other.run("links", "create", "--category", "sea", "--password") == .failed)
        #expect(other.params("link.create") == nil)
        let folder = try TemporaryFolder("password")
        let file = folder.file("password")
        try Data("from a file\n".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let read = try stage([])
        #expect(await read.run("links", "create", "--category", "#7", "--password-file", file) == .done)
        #expect(read.params("link.create")?["password"] == "from a file")
    }

    @Test(
        "What is no link is wrong use",
        arguments: [
            [], ["12", "--category", "Sea"], ["12", "--days", "0"], ["12", "--days", "367"],
            ["--where", "favorites", "12"],
        ]) func wrong(_ words: [String]) async throws
    {
        let stage = try stage([])
        #expect(await stage.program.run(["links", "create"] + words) == .usage)
        #expect(stage.params("link.create") == nil)
    }

    @Test("A link is ended by its id, the beginning of that, or its title") func revoke() async throws {
        let links = [
            Self.link(Self.ids[0], "Sea"), Self.link(Self.ids[1], "Sea", state: .expired),
            Self.link("2222", "11a8d64a"),
        ]
        func found(_ wanted: String) -> [String] { CommandTable.matches(wanted, in: links).map(\.id) }
        #expect(found(Self.ids[1].uppercased()) == [Self.ids[1]])
        #expect(found("Sea") == [Self.ids[0]])
        #expect(found("11a8").count == 2 && found("11a8f") == [Self.ids[1]] && found("11a").isEmpty)
        let stage = try stage(links)
        #expect(await stage.run("links", "revoke", "Sea") == .done)
        #expect(stage.params("link.revoke") == ["id": .string(Self.ids[0])])
        #expect(stage.results == "The link 11a8d64a has ended.\n")
        #expect(await stage.run("links", "revoke", "11a8") == .failed)
        #expect(await stage.run("links", "revoke", "Mountains") == .failed)
    }
}
