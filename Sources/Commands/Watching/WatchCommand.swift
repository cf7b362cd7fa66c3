import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

/// What `smilepile watch` can show.
enum WatchSubject: String, CaseIterable, Sendable {
    case events, photos, photo, categories, jobs, swipe, trash, settings
}

extension CommandTable {
    static let watchCommands: [Command] = [
        Command(
            words: ["watch"], summary: "Show what there is, then each change as it happens.",
            details: """
                Ctrl-C ends it, with exit code 130; so does the end of the daemon, with 3. Where changes come faster
                than they are read, the newest state is shown and those between are left out. With --json each line
                is one object with sequence, overflowed and value. Options that choose photos are for 'watch photos';
                'watch photo' takes the one that it is about, which need not be there yet.
                """,
            operands: [
                Operand(
                    "WHAT", .words(WatchSubject.allCases.map(\.rawValue)), .optional,
                    help: "What to watch; events unless given."),
                Operand("PHOTO", .text, .optional, help: "For 'watch photo': its number, or its uuid."),
            ],
            options: Option.filters + [
                .value("text", "TEXT", .text, help: "Only with this text in name, caption, source or category."),
                .value("limit", "NUMBER", .number(1...1000), help: "How many of the newest; 100 unless given."),
            ],
            examples: [
                Example("smilepile watch photos --category Family", "Sit beside an import."),
                Example("smilepile watch photo 12", "One alone."),
                Example("smilepile watch --json", "For a script that reacts to every change."),
            ]
        ) { invocation, session in
            let subject = invocation.operand("WHAT").flatMap(WatchSubject.init) ?? .events
            let given = (Option.filters.map(\.name) + ["text", "limit"]).first(where: invocation.has)
            if let given, subject != .photos {
                throw invocation.usageError("--\(given) is for 'watch photos' alone.")
            }
            guard (invocation.operand("PHOTO") != nil) == (subject == .photo) else {
                throw invocation.usageError("'watch photo' takes one PHOTO, and nothing else does.")
            }
            let observed = try await observation(of: subject, invocation, session)
            return try await Watcher(session: session, observed: observed).run()
        }
    ]

    private static func observation(
        of subject: WatchSubject, _ invocation: Invocation, _ session: Session
    ) async throws -> WatchedObservation {
        switch subject {
        case .events: try WatchedObservation(SubscribeToEvents(), EventReport())
        case .categories: try WatchedObservation(ObserveCategories(), CategoryReport())
        case .swipe: try WatchedObservation(ObservePendingSwipes(), PendingReport())
        case .trash: try WatchedObservation(ObserveTrash(), TrashReport())
        case .settings: try WatchedObservation(ObserveSettings(), SettingsReport())
        case .jobs: WatchedObservation(method: "job.observe", params: Data("{}".utf8), report: JobsReport())
        case .photo: try WatchedObservation(photo(invocation.operand("PHOTO") ?? ""), PhotoReport())
        case .photos: try WatchedObservation(try await photos(invocation, session), PhotosReport())
        }
    }

    private static func photo(_ name: String) -> ObservePhoto {
        Int64(name).map { ObservePhoto(id: $0) } ?? ObservePhoto(uuid: name.lowercased())
    }

    private static func photos(_ invocation: Invocation, _ session: Session) async throws -> ObservePhotos {
        let filters = try PhotoFilters(invocation)
        // A connection costs little, and one that a category's name is looked up with is not the one that is watched.
        var filter = try await session.withLibrary { try await filters.filter(in: $0) }
        filter.text = invocation.value("text")
        return ObservePhotos(filter, limit: invocation.number("limit"))
    }
}

/// An observation as `watch` asks for it, and what is told of its values.
struct WatchedObservation: Sendable {
    let method: String
    let params: Data
    let report: any ChangeReport

    init(method: String, params: Data, report: any ChangeReport) {
        self.method = method
        self.params = params
        self.report = report
    }

    init<M: Message>(_ message: M, _ report: any ChangeReport) throws {
        self.init(method: M.method, params: try JSONText.encode(message), report: report)
    }
}
