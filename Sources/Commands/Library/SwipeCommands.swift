import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let session = Operand("SESSION", help: "The review's id, as 'smilepile swipe start' printed it.")
    private static let oneSession = Option.value("session", "ID", .text, help: "Only of this review.")

    static let swipeCommands: [Command] = [
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
            operands: [session],
            options: [.value("count", "NUMBER", .number(1...1_000_000), help: "How many; 1 unless given.")],
            examples: [
                Example("smilepile swipe undo 1f0c…", "The latest one."),
                Example("smilepile swipe undo 1f0c… --count 3", "The latest three."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    UndoSwipes(sessionID: invocation.operand("SESSION") ?? "", count: invocation.number("count")))
                session.show(answer) { undone in
                    session.console.result("\(Figures.count(undone.actions.count, "decision")) taken back.")
                }
                return .done
            }
        },
        Command(
            words: ["swipe", "finish"], summary: "End a review.",
            details: "Finishing again changes nothing.", operands: [session],
            examples: [Example("smilepile swipe finish 1f0c…", "Then: smilepile swipe process --session 1f0c…")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    FinishSwipeSession(sessionID: invocation.operand("SESSION") ?? ""))
                session.show(answer) { finished in
                    let count = Figures.count(finished.photosProcessed, "decision")
                    session.console.result("Finished, with \(count).")
                }
                return .done
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
                session.show(answer) { processed in
                    session.console.result(
                        "\(Figures.count(processed.favorited, "favourite")), \(processed.trashed) to the trash, "
                            + "\(processed.kept) kept.")
                    if processed.outdated > 0 {
                        session.console.message(
                            "\(Figures.count(processed.outdated, "decision")) about photos that have changed or gone: "
                                + "nothing was done.")
                    }
                }
                return answer.value.outdated > 0 ? .doneWithProblems : .done
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
        var table = Table(
            .init(heading: "ID", isNumeric: true), .init(heading: "DECISION"), .init(heading: "PHOTO"),
            .init(heading: "WHEN"), .init(heading: "SESSION", shrinks: true))
        for action in actions {
            table.add([
                String(action.id), action.action.rawValue, action.photoIdentifier, LocalDate.text(action.timestamp),
                action.sessionID,
            ])
        }
        session.console.show(table)
    }

    private static func showSessions(_ sessions: [SwipeSession], _ session: Session) {
        guard !sessions.isEmpty else { return session.console.message("No reviews.") }
        var table = Table(
            .init(heading: "SESSION"), .init(heading: "STARTED"), .init(heading: "ENDED"),
            .init(heading: "DECISIONS", isNumeric: true))
        for review in sessions {
            table.add([
                review.sessionID, LocalDate.text(review.startTime), review.endTime.map(LocalDate.text) ?? "running",
                String(review.photosProcessed),
            ])
        }
        session.console.show(table)
    }
}
