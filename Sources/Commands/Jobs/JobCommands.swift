import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let job = Operand(
        "JOB", help: "The job's id, as 'smilepile jobs' shows it, or enough of its beginning.")
    static let verbose = Option.flag("verbose", help: "Show a line for every file, not only those with problems.")
    static let detach = Option.flag("detach", help: "Start the job, print its id, and leave it running.")

    static let jobCommands: [Command] = [
        Command(
            words: ["jobs", "list"], summary: "Show what runs, and what ended within the last hour.",
            details: "With --all everything whose receipt is kept, for \(JobLimits.keptDays) days, the newest first.",
            options: [
                .flag("all", help: "Also what ended before, the newest first."),
                .value("limit", "NUMBER", .number(1...1000), help: "With --all: how many at most; 100 unless given."),
                .value("after", "CURSOR", .number(0...Int64.max), help: "With --all: where the page before ended."),
            ],
            examples: [
                Example("smilepile jobs", "What is going on?"),
                Example("smilepile jobs list --all", "What was that import three weeks ago?"),
                Example("smilepile jobs --json", "The same for a script."),
            ], isDefaultOfGroup: true
        ) { invocation, session in
            let all = invocation.has("all")
            let (after, limit) = (invocation.value("after").flatMap { Int64($0) }, invocation.number("limit"))
            guard all || (after == nil && limit == nil) else {
                throw invocation.usageError("--limit and --after go with --all.")
            }
            return try await session.withLibrary { library in
                let answer = try await library.send(ListJobs(all: all ? true : nil, after: after, limit: limit))
                session.show(answer) { list in
                    showJobs(list.jobs, isAll: all, session)
                    if let next = list.next {
                        session.console.message("There are more: repeat with --after \(next)")
                    }
                }
                return .done
            }
        },
        Command(
            words: ["jobs", "show"], summary: "Show one job, and its receipt once it has ended.",
            details: """
                The exit code is the job's own: 5 where something was skipped or damaged.
                Receipts are kept for \(JobLimits.keptDays) days; of more than \(JobLimits.keptLines) lines, those stay that need attention,
                then the first of the others.
                """,
            operands: [job], options: [verbose],
            examples: [
                Example("smilepile jobs show import-3f9a2c", "How did it end?"),
                Example("smilepile jobs show import-3f9a2c --verbose", "What became of every file?"),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let snapshot = try await library.send(GetJob(job: invocation.operand("JOB") ?? ""))
                let job = snapshot.value
                if !session.wantsJSON, let ended = job.endedAt {
                    session.console.message(
                        "Job \(job.id): \(LocalDate.text(job.startedAt)) to \(LocalDate.text(ended)).")
                }
                return try await JobReport(
                    session: session, library: library, isVerbose: invocation.has("verbose")
                ).show(snapshot)
            }
        },
        Command(
            words: ["jobs", "watch"], summary: "Follow a running job to its end.",
            details: "Ctrl-C stops watching; the job goes on.", operands: [job], options: [verbose],
            examples: [Example("smilepile jobs watch import-3f9a2c", "Come back to an import that was detached.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let id = try await jobID(invocation, library)
                let follower = JobFollower(session: session, library: library, cancelsOnInterrupt: false)
                guard let snapshot = try await follower.run({ id }) else { return .cancelled }
                return try await JobReport(
                    session: session, library: library, isVerbose: invocation.has("verbose")
                ).show(snapshot)
            }
        },
        Command(
            words: ["jobs", "pause"], summary: "Let a job stand still until it is resumed.",
            details: "It stops at its next file or photo, and stays paused also when the daemon is started again.",
            operands: [job],
            examples: [Example("smilepile jobs pause import-3f9a2c", "Have the machine for something else.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(PauseJob(job: jobID(invocation, library)))
                session.show(answer) { job in
                    session.console.result(
                        "Job \(job.id) is paused. Let it go on with: smilepile jobs resume \(job.id)")
                }
                return .done
            }
        },
        Command(
            words: ["jobs", "resume"], summary: "Let a paused job go on.",
            details: "One that waits, for a stick that is not there, looks for it now and not only after some seconds.",
            operands: [job], examples: [Example("smilepile jobs resume import-3f9a2c", "Go on with an import.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ResumeJob(job: jobID(invocation, library)))
                session.show(answer) { job in
                    session.console.result(
                        job.state == .waiting
                            ? "Job \(job.id) is waiting: "
                                + PlainText.neutralized(job.obstacle?.message ?? "what it needs is not there.")
                                + " It goes on by itself when that is over."
                            : "Job \(job.id) is running. Follow it with: smilepile jobs watch \(job.id)")
                }
                return .done
            }
        },
        Command(
            words: ["jobs", "cancel"], summary: "Ask a job to stop.",
            details: "What it did stays done, and stands in its receipt.", operands: [job],
            examples: [Example("smilepile jobs cancel import-3f9a2c", "Stop an import.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(CancelJob(job: jobID(invocation, library)))
                session.show(answer) { job in
                    session.console.result(
                        job.state.hasEnded
                            ? "Job \(job.id) had ended already (\(job.state.rawValue))."
                            : "Job \(job.id) was asked to stop. See how it ends: smilepile jobs watch \(job.id)")
                }
                return .done
            }
        },
    ]

    /// The whole id of the job that is meant.
    private static func jobID(_ invocation: Invocation, _ library: any LibraryConnection) async throws -> JobID {
        try await library.send(GetJob(job: invocation.operand("JOB") ?? "")).value.id
    }

    private static func showJobs(_ jobs: [JobSnapshot], isAll: Bool, _ session: Session) {
        guard !jobs.isEmpty else {
            return session.console.message(
                isAll ? "No jobs." : "No jobs within the last hour. Earlier ones: smilepile jobs list --all")
        }
        var table = Table(
            .init(heading: "JOB"), .init(heading: "STATE"), .init(heading: "STARTED"),
            .init(heading: "PROGRESS", shrinks: true))
        for job in jobs {
            let state = job.state.rawValue + (job.needsAttention ? ", with problems" : "")
            table.add([job.id, state, LocalDate.text(job.startedAt), progress(of: job)])
        }
        session.console.show(table)
    }

    private static func progress(of job: JobSnapshot) -> String {
        if let reason = job.obstacle ?? job.error { return reason.message }
        if job.state.hasEnded {
            return job.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
        return [job.progress.phase, ProgressLine.counts(job.progress)].compactMap { $0 }.joined(separator: " ")
    }

    /// Starts a job by `message` and sees it through to its receipt, or leaves it running with `--detach`.
    static func runJob<M: Message>(
        _ message: M, _ invocation: Invocation, _ session: Session, _ library: any LibraryConnection
    ) async throws -> ExitCode where M.Reply == JobStarted {
        try await runJob(invocation, session, library) { try await library.send(message) }
    }

    /// The same for one that takes more than a request to start.
    static func runJob(
        _ invocation: Invocation, _ session: Session, _ library: any LibraryConnection,
        start: @escaping @Sendable () async throws -> Answer<JobStarted>
    ) async throws -> ExitCode {
        if invocation.has("detach") {
            let answer = try await start()
            session.show(answer) { started in
                session.console.result(started.job)
                session.console.message("It runs in the daemon. Watch it with: smilepile jobs watch \(started.job)")
            }
            return .done
        }
        let follower = JobFollower(session: session, library: library, cancelsOnInterrupt: true)
        guard let job = try await follower.run({ try await start().value.job }) else {
            return .cancelled
        }
        let code = try await JobReport(
            session: session, library: library, isVerbose: invocation.has("verbose")
        ).show(job)
        // Following one that is paused ends only because the daemon does.
        return job.value.state == .paused ? .notRunning : code
    }
}
