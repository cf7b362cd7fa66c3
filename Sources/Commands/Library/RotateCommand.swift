import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let rotateCommand = Command(
        words: ["photos", "rotate"], summary: "Turn photos as they are shown.",
        details: """
            What is shown turns everywhere: on the page, in links and groups, on contact sheets and in exports with --shown. The photo's own
            file stays as it is, byte for byte, and so does its original. Films cannot be turned.
            """ + "\n\n" + Option.selectionExplained,
        operands: [.photos],
        options: Turn.options + Option.selection,
        examples: [
            Example("smilepile photos rotate 12 --right", "A quarter clockwise."),
            Example("smilepile photos rotate 12-40 --half", "Scans that stand on their heads."),
            Example("smilepile photos rotate 12 --reset", "As its file has it."),
        ]
    ) { invocation, session in
        let turn = try Turn(invocation)
        let selection = try await PhotoSelection(invocation, session)
        return try await session.withLibrary { library in
            let (ids, ending) = try await selection.agreed(in: library, invocation, session) {
                "Turn \($0) \(turn.words)?"
            }
            if let ending { return ending }
            var photos: [Photo] = []
            var turned: [Int64] = []
            let count = try await PhotoBatches.change(ids, session, most: RotatePhotos.maximumCount) { batch in
                let turns = try await turn.turns(of: batch, selection, library)
                guard !turns.isEmpty else { return 0 }
                let reply = try await library.send(
                    RotatePhotos(turns: turns, ignoreOthers: selection.ignoreMissing)
                ).value
                // Without those that another device has turned elsewhere meanwhile.
                let ends = Dictionary(turns.map { ($0.id, $0.to) }, uniquingKeysWith: { first, _ in first })
                photos += reply.photos.filter { ends[$0.id] == $0.turned }
                turned += reply.turned
                return reply.count
            }
            guard !session.wantsJSON else {
                session.show(json: try JSONText.encode(RotatedPhotos(photos: photos, turned: turned)))
                return .done
            }
            try session.show(changed: count) { "\($0) turned \(turn.words)." }
            let others = ids.count - photos.count
            if others > 0 {
                session.console.message(
                    "\(Figures.count(others, "photo")) passed over: films, gone, or turned elsewhere since.")
            }
            if count > 0, let back = turn.back, let ranges = NumberRanges.text(turned) {
                session.console.message("Undo it with: smilepile photos rotate \(ranges) \(back)")
            }
            return .done
        }
    }

    /// How a command line says it.
    private enum Turn: Sendable {
        case by(degrees: Int)
        case reset

        static let options: [Option] = [
            .flag("right", help: "A quarter clockwise."),
            .flag("left", help: "A quarter the other way."),
            .flag("half", help: "Upside down."),
            .value("by", "DEGREES", .words(["90", "180", "270"]), help: "By so many degrees clockwise."),
            .flag("reset", help: "As the file has it."),
        ]

        init(_ invocation: Invocation) throws {
            var said: [Turn] = []
            if invocation.has("right") { said.append(.by(degrees: 90)) }
            if invocation.has("left") { said.append(.by(degrees: 270)) }
            if invocation.has("half") { said.append(.by(degrees: 180)) }
            if let degrees = invocation.number("by") { said.append(.by(degrees: degrees)) }
            if invocation.has("reset") { said.append(.reset) }
            guard let first = said.first, said.count == 1 else {
                throw invocation.usageError("Say how they turn, once: --right, --left, --half, --by 90 or --reset.")
            }
            self = first
        }

        var words: String {
            switch self {
            case .by(90): "to the right"
            case .by(180): "by half a turn"
            case .by(270): "to the left"
            case .by, .reset: "as their files have them"
            }
        }

        /// The option that takes it back; nil where that differs from photo to photo.
        var back: String? {
            switch self {
            case .by(90): "--left"
            case .by(180): "--half"
            case .by(270): "--right"
            case .by, .reset: nil
            }
        }

        /// A turn by degrees is from where each photo is now: one that another device turns meanwhile is refused, and not turned twice.
        func turns(
            of ids: [Int64], _ selection: PhotoSelection, _ library: any LibraryConnection
        ) async throws -> [PhotoTurn] {
            guard case .by(let degrees) = self else { return ids.map { PhotoTurn(id: $0, to: 0) } }
            var turns: [PhotoTurn] = []
            for id in ids {
                let photo = try await selection.unlessGone { try await library.send(GetPhoto(id: id)).value }
                if let photo { turns.append(PhotoTurn(photo, by: degrees)) }
            }
            return turns
        }
    }
}
