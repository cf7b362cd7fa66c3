import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import QRCodes
import ServiceMesh

/// Links for people who have no paired device.
extension CommandTable {
    private static let days = Int64(Link.days.lowerBound)...Int64(Link.days.upperBound)

    static let linkCommands: [Command] = [
        Command(
            words: ["links", "list"], summary: "List the links that were made, and how often each was opened.",
            details:
                "Those that have ended are listed for 30 days. The address of a link is shown once, when it is made.",
            examples: [Example("smilepile links", "Which are open, and until when.")], isDefaultOfGroup: true
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListLinks())
                let categories = try await library.send(ListCategories()).value.categories
                session.show(answer) { show($0.links, categories, session) }
                return .done
            }
        },
        Command(
            words: ["links", "create"], summary: "Make a link with which others see some photos.",
            details: """
                Whoever has the address sees these photos and nothing else, without being paired, until it ends. They get no places,
                no cameras, no captions and no names; films as a picture. --details gives captions, films, and what stands in the
                photos; --originals gives the files that were imported, with all that is in them.
                A link to a whole category also shows what comes into it later. Photos in the trash are in no link.
                """ + "\n\n" + Option.selectionExplained,
            operands: [.photos],
            options: [
                .value(
                    "category", "NAME", .category, repeats: true,
                    help: "Instead of photos: a whole category, by name or #number."),
                .value("days", "NUMBER", .number(days), help: "Until it ends; 30 unless given."),
                .value("title", "TEXT", .text, help: "What visitors read above the photos."),
                .flag("password", help: "Ask for a password, which visitors need too."),
                Passphrase.linkFileOption,
                .flag("details", help: "Give captions, films, and what stands in the photos."),
                .flag("originals", help: "Give the files that were imported."),
                .value("address", "URL", .text, help: "Where others reach the page; its address unless given."),
            ] + Option.selection,
            examples: [
                Example("smilepile links create 12 15-40 --days 7", "Some photos, for a week."),
                Example(
                    "smilepile links create --category Holidays --password", "A whole category, behind a password."),
                Example("smilepile links create --where favorites --originals --yes", "The favourites, as files."),
            ]
        ) { invocation, session in try await createLink(invocation, session) },
        Command(
            words: ["links", "revoke"], summary: "End a link at once, for everybody who has it.",
            details: "What is on its way to a visitor ends too.",
            operands: [Operand("LINK", help: "Its id, the beginning of that, or its title.")],
            examples: [Example("smilepile links revoke 11a8d64a", "See which there are: smilepile links")]
        ) { invocation, session in
            let wanted = invocation.operand("LINK") ?? ""
            return try await session.withLibrary { library in
                let found = matches(wanted, in: try await library.send(ListLinks()).value.links)
                guard found.count == 1, let link = found.first else {
                    throw CommandFailure.local(
                        found.isEmpty
                            ? "No link is '\(PlainText.neutralized(wanted))'. See which there are: smilepile links"
                            : "\(found.count) links are '\(PlainText.neutralized(wanted))'. Name one by its id: smilepile links"
                    )
                }
                let answer = try await library.send(RevokeLink(id: link.id))
                session.show(answer) { _ in session.console.result("The link \(link.id.prefix(8)) has ended.") }
                return .done
            }
        },
    ]

    /// By the whole id, else by the title, else by how the id begins. One that is open goes before those that have ended.
    static func matches(_ wanted: String, in links: [Link]) -> [Link] {
        let lower = wanted.lowercased()
        let whole = links.filter { $0.id == lower }
        if !whole.isEmpty { return whole }
        let titled = links.filter { $0.title == wanted }
        let open = titled.filter { $0.state == .open }
        if !titled.isEmpty { return open.isEmpty ? titled : open }
        return lower.count < 4 ? [] : links.filter { $0.id.hasPrefix(lower) }
    }

    private static func show(_ links: [Link], _ categories: [Category], _ session: Session) {
        guard !links.isEmpty else {
            session.console.message("There are no links. Make one: smilepile links create --help")
            return
        }
        let names = Dictionary(categories.map { ($0.id, $0.displayName) }, uniquingKeysWith: { first, _ in first })
        var table = Table(
            .init(heading: "LINK"), .init(heading: "TITLE", shrinks: true), .init(heading: "SHOWS", shrinks: true),
            .init(heading: "OPENED", isNumeric: true), .init(heading: "ENDS"), .init(heading: "WITH", shrinks: true))
        for link in links {
            let shown =
                link.categoryIds.isEmpty
                ? Figures.count(link.photoCount, "photo")
                : link.categoryIds.compactMap { names[$0] }.joined(separator: ", ")
            let end =
                switch link.state {
                case .open: LocalDate.text(link.expiresAt)
                case .expired: "expired"
                case .revoked: "revoked"
                }
            let gives = [
                link.hasPassword ? "password" : nil, link.givesDetails ? "details" : nil,
                link.givesOriginals ? "originals" : nil,
            ].compactMap(\.self).joined(separator: ", ")
            table.add([String(link.id.prefix(8)), link.title ?? "", shown, String(link.openings), end, gives])
        }
        session.console.show(table)
    }

    // MARK: Making one

    private static func createLink(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let names = invocation.values("category")
        let isOfPhotos = !invocation.operandValues("PHOTO").isEmpty || invocation.has("where")
        guard isOfPhotos != !names.isEmpty else {
            throw invocation.usageError("Name photos, describe them with --where, or name a whole --category.")
        }
        let selection = isOfPhotos ? try await PhotoSelection(invocation, session) : nil
        let place = try invocation.value("address").map(address)
        let password = try await Passphrase.ofLink(session, invocation)
        return try await session.withLibrary { library in
            var ids: [Int64]?
            if let selection {
                let (agreed, ending) = try await selection.agreed(in: library, invocation, session) {
                    "Make a link to \($0)?"
                }
                if let ending { return ending }
                ids = agreed
            }
            let categories = names.isEmpty ? nil : try await library.categories(named: names).map(\.id)
            let answer = try await library.send(
                CreateLink(
                    photoIds: ids, categoryIds: categories, title: invocation.value("title"),
                    days: invocation.number("days"), password: password.map { LinkPassword($0) },
                    originals: invocation.has("originals") ? true : nil,
                    details: invocation.has("details") ? true : nil))
            try show(answer, at: place, session)
            return .done
        }
    }

    private static func address(_ text: String) throws -> HubAddress {
        do {
            return try HubAddress(text)
        } catch let error as MeshError {
            throw CommandFailure.refused(error)
        }
    }

    private static func show(_ answer: Answer<CreatedLink>, at given: HubAddress?, _ session: Session) throws {
        let record = WebRecord.running(socket: session.socketPath)
        let base = given?.text ?? record.map(WebStart.reachable)
        let path = "/s/" + answer.value.token
        if session.wantsJSON {
            var members = try JSONDecoder().decode([String: JSONValue].self, from: answer.json)
            if let base { members["address"] = .string(base + path) }
            return try session.show(json: .object(members))
        }
        let console = session.console
        let link = answer.value.link
        guard let base else {
            console.result(path)
            console.message(
                "This comes behind the page's address, and is shown once. The page does not run: smilepile web --help")
            return
        }
        if console.results.isTerminal, let code = QRCode(base + path) {
            if code.columns <= console.results.columns() ?? 80 { console.result(code.lines) }
        }
        console.result(base + path)
        console.message(
            "Shows \(Figures.count(link.photoCount, "photo")) until \(LocalDate.text(link.expiresAt)). The address is shown once."
        )
        if let host = try? HubAddress(base).host, host == "localhost" || host.hasPrefix("127.") || host == "::1" {
            console.message("Only this machine reaches this address. For others: smilepile web --help")
        }
    }
}
