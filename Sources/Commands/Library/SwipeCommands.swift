import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let session = Operand(
        "SESSION", help: "The review's id, as 'smilepile swipe start' printed it, or the beginning of it.")
    private static let oneSession = Option.value("session", "ID", .text, help: "Only of this review.")

    static let swipeCommands: [Command] = [
        reviewCommand,
        Command(
            words: ["swipe", "start"], summary: "Begin a review; prints its id.",
            examples: [Example("smilepile swipe start", "Several may run at once.")]
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(StartSwipeSession())
                session.show(answer) { session.console.result(PlainText.neutralized($0.sessionID)) }
                return .done
            }
        },
        Command(
            words: ["swipe", "record"], summary: "Write down one decision about one photo.",
            details: """
                Nothing happens to the photo before 'smilepile swipe process'. A second decision replaces the first.
                With --digest the decision holds only if the photo is still the one that was shown.
                """,
            operands: [
                session, photo,
                Operand("DECISION", .words(SwipeAction.allCases.map(\.rawValue)), help: "What to do with it"),
            ],
            options: [.value("digest", "SHA-256", .text, help: "Of the content that was shown.")],
            examples: [Example("smilepile swipe record 1f0c… 12 favorite", "A favourite, once processed.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let photo = try await library.photo(named: invocation.operand("PHOTO") ?? "").value
                guard let action = invocation.operand("DECISION").flatMap(SwipeAction.init) else {
                    throw invocation.usageError("DECISION is missing.")
                }
                let answer = try await library.send(
                    RecordSwipe(
                        sessionID: invocation.operand("SESSION") ?? "", photoIdentifier: photo.uuid,
                        contentDigest: invocation.value("digest")?.lowercased() ?? photo.contentDigest, action: action))
                session.show(answer) { recorded in
                    session.console.result("Recorded: \(recorded.action.rawValue) for photo \(photo.id).")
                }
                return .done
            }
        },
        Command(
            words: ["swipe", "undo"], summary: "Take back the latest decisions that are not applied yet.",
            details: "Also of a review that is finished, until they are processed.", operands: [session],
            options: [
                .value("count", "NUMBER", .number(1...1_000_000), help: "How many; 1 unless given."),
                .flag("all", help: "The whole review."),
            ],
            examples: [
                Example("smilepile swipe undo 1f0c", "The latest one."),
                Example("smilepile swipe undo 1f0c --count 3", "The latest three."),
                Example("smilepile swipe undo 1f0c --all", "All that are not applied."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    UndoSwipes(
                        sessionID: invocation.operand("SESSION") ?? "", count: invocation.number("count"),
                        all: invocation.has("all") ? true : nil))
                session.show(answer) { undone in
                    session.console.result("\(Figures.count(undone.count, "decision")) taken back.")
                }
                return .done
            }
        },
        Command(
            words: ["swipe", "finish"], summary: "End a review.",
            details: """
                With the setting autoProcessActions its decisions are applied as well, and the answer says what was done.
                Finishing again changes nothing.
                """, operands: [session],
            examples: [Example("smilepile swipe finish 1f0c", "Then: smilepile swipe process --session 1f0c")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    FinishSwipeSession(sessionID: invocation.operand("SESSION") ?? ""))
                session.show(answer) { finished in
                    let count = Figures.count(finished.session.photosProcessed, "photo")
                    session.console.result("Finished: \(count) reviewed.")
                    if let processed = finished.processed { show(processed, session) }
                }
                return answer.value.processed?.outdated ?? 0 > 0 ? .doneWithProblems : .done
            }
        },
        Command(
            words: ["swipe", "pending"], summary: "Show the decisions that are not applied yet, the oldest first.",
            options: [
                oneSession, paging[0],
                .value("after", "ID", .number(0...Int64.max), help: "The last decision's id of the page before."),
            ],
            examples: [Example("smilepile swipe pending", "What would be done?")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    ListPendingSwipes(
                        sessionID: invocation.value("session"), limit: invocation.number("limit"),
                        after: invocation.value("after").flatMap { Int64($0) }))
                session.show(answer) { showPending($0.actions, session) }
                return .done
            }
        },
        Command(
            words: ["swipe", "process"], summary: "Apply the decisions: mark favourites, move to the trash.",
            details: "Each is applied once, however often you ask.", options: [oneSession],
            examples: [
                Example("smilepile swipe process", "All that are pending."),
                Example("smilepile swipe process --session 1f0c…", "Those of one review."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ProcessSwipes(sessionID: invocation.value("session")))
                session.show(answer) { show($0, session) }
                return answer.value.outdated > 0 ? .doneWithProblems : .done
            }
        },
        Command(
            words: ["swipe", "dismiss"], summary: "Mark decisions as processed without applying them.",
            details: "They stay in the history, and the photos stay reviewed. Without --session: all that are pending.",
            options: [oneSession], examples: [Example("smilepile swipe dismiss --session 1f0c", "Of one review.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let request =
                    invocation.value("session").map { MarkSwipesProcessed(sessionID: $0) } ?? MarkSwipesProcessed()
                let answer = try await library.send(request)
                session.show(answer) { marked in
                    session.console.result("\(Figures.count(marked.count, "decision")) will not be applied.")
                }
                return .done
            }
        },
        Command(
            words: ["swipe", "history"], summary: "Show what was decided, the latest first, processed or not.",
            options: [
                oneSession,
                .value("photo", "PHOTO", .text, help: "Only about this photo: its number or its uuid."),
                paging[0],
                .value("after", "ID", .number(0...Int64.max), help: "Where the page before ended, as it said."),
            ],
            examples: [
                Example("smilepile swipe history --session 1f0c", "Of one review."),
                Example("smilepile swipe history --photo 12", "All that was ever decided about a photo."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                var uuid = invocation.value("photo")
                if let name = uuid, Int64(name) != nil { uuid = try await library.photo(named: name).value.uuid }
                let answer = try await library.send(
                    ListSwipeHistory(
                        sessionID: invocation.value("session"), photoIdentifier: uuid,
                        limit: invocation.number("limit"), after: invocation.value("after").flatMap { Int64($0) }))
                session.show(answer) { history in
                    guard !history.actions.isEmpty else { return session.console.message("Nothing was decided.") }
                    show(history.actions, session, withState: true)
                    if let next = history.next {
                        session.console.message("There are more: repeat with --after \(next)")
                    }
                }
                return .done
            }
        },
        Command(
            words: ["swipe", "forget"], summary: "Delete old decisions that were processed.",
            details:
                "What waits to be processed stays, however old, and so does what an open review decided.\n"
                + "The photos stay reviewed.",
            options: [
                .value("before", "DATE", .date, help: "Those from before this day; needed."), oneSession,
            ],
            examples: [Example("smilepile swipe forget --before 2025-01-01", "All of last year and before.")]
        ) { invocation, session in
            guard let before = invocation.value("before").flatMap(LocalDate.startOf) else {
                throw invocation.usageError("--before is missing.")
            }
            return try await session.withLibrary { library in
                let answer = try await library.send(
                    DeleteProcessedSwipes(before: before, sessionID: invocation.value("session")))
                session.show(answer) { deleted in
                    session.console.result("\(Figures.count(deleted.count, "decision")) deleted.")
                }
                return .done
            }
        },
        Command(
            words: ["swipe", "sessions"], summary: "Show the reviews, the latest first.", options: [paging[0]],
            examples: [Example("smilepile swipe sessions --limit 5", "The last five.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListSwipeSessions(limit: invocation.number("limit")))
                session.show(answer) { showSessions($0.sessions, session) }
                return .done
            }
        },
    ]

    private static func showPending(_ actions: [PhotoAction], _ session: Session) {
        guard !actions.isEmpty else { return session.console.message("No decisions wait.") }
        show(actions, session, withState: false)
    }

    private static func show(_ actions: [PhotoAction], _ session: Session, withState: Bool) {
        var columns: [Table.Column] = [
            .init(heading: "ID", isNumeric: true), .init(heading: "DECISION"), .init(heading: "PHOTO"),
            .init(heading: "WHEN"), .init(heading: "SESSION", shrinks: true),
        ]
        if withState { columns.insert(.init(heading: "STATE"), at: 2) }
        var table = Table(columns)
        for action in actions {
            var cells = [
                String(action.id), action.action.rawValue, action.photoIdentifier, LocalDate.text(action.timestamp),
                action.sessionID,
            ]
            if withState { cells.insert(action.isProcessed ? "processed" : "waits", at: 2) }
            table.add(cells)
        }
        session.console.show(table)
    }

    static func show(_ processed: ProcessedSwipes, _ session: Session) {
        session.console.result(processed.sentence)
        if processed.outdated > 0 {
            session.console.message(
                "\(Figures.count(processed.outdated, "decision")) about photos that have changed or gone: "
                    + "nothing was done.")
        }
    }

    private static func showSessions(_ sessions: [SwipeSession], _ session: Session) {
        guard !sessions.isEmpty else { return session.console.message("No reviews.") }
        var table = Table(
            .init(heading: "SESSION"), .init(heading: "STARTED"), .init(heading: "ENDED"),
            .init(heading: "PHOTOS", isNumeric: true))
        for review in sessions {
            table.add([
                review.sessionID, LocalDate.text(review.startTime), review.endTime.map(LocalDate.text) ?? "running",
                String(review.photosProcessed),
            ])
        }
        session.console.show(table)
    }
}

extension ProcessedSwipes {
    var sentence: String {
        "\(Figures.count(favorited, "favourite")), \(trashed) to the trash, \(kept) kept."
    }
}
