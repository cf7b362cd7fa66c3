import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

/// One look at everything: from outside, and with the daemon's help where it runs.
struct Examination {
    let session: Session
    /// Names and sizes in place of every byte.
    let isQuick: Bool
    /// Whether what is safe is put right.
    let repairs: Bool
    /// The library to look at where no daemon runs.
    let library: String?

    private var surroundings: Surroundings { Surroundings(session: session) }

    func run() async throws -> Report {
        var findings = InstallationChecks.programs(try await surroundings.programs(), version: Release.version)
        findings.append(try await surroundings.configuration())
        var daemon: (pid: Int32, version: String)?
        var folder = library.map(session.absolute)
        do {
            (daemon, folder) = try await session.withLibrary { connection in
                let hello = try await connection.send(Hello()).value
                findings += try await served(hello, connection)
                return ((hello.pid, hello.version), hello.library)
            }
        } catch let failure as CommandFailure where !Self.isStop(failure) {
            let outside = try await surroundings.outside(library: library.map(session.absolute))
            let named = folder
            let surroundings = surroundings
            let path = try await Console.offPool { named ?? surroundings.library() }
            if case .notRunning = failure, outside.listener == nil {
                findings.append(InstallationChecks.notRunning(outside))
            } else {
                findings.append(InstallationChecks.silent(outside, why: failure.message))
            }
            findings += try await onDisk(path, pid: nil)
            findings += repaired(
                try await Console.offPool { surroundings.key(nil, library: path, user: geteuid()) })
            findings.append(MachineChecks.clock(now: .now(), jump: nil))
            folder = path
        }
        findings.append(InstallationChecks.service(try await surroundings.service()))
        findings += try await libraries()
        let socket =
            session.socketPath == session.usualSocket ? nil : session.socketPath
        return Report(
            findings: findings.map { $0.at(socket) }, library: folder, socket: session.socketPath, daemon: daemon)
    }

    /// Whether a person has stopped it.
    private static func isStop(_ failure: CommandFailure) -> Bool {
        if case .refused(let error) = failure { error.status == .cancelled } else { false }
    }

    // MARK: From outside

    /// - Parameter pid: the daemon's, where one serves it.
    private func onDisk(_ path: String, pid: Int32?) async throws -> [Finding] {
        let surroundings = surroundings
        let (permissions, disk) = try await Console.offPool {
            let user = surroundings.keeper(of: path, pid: pid)
            return (
                surroundings.permissions(library: path, isServed: pid != nil, user: user), DiskFacts.look(at: path)
            )
        }
        let machine = disk.map { [MachineChecks.space($0), MachineChecks.fileSystem($0)] } ?? []
        return repaired(permissions) + machine
    }

    private func libraries() async throws -> [Finding] {
        var findings: [Finding] = []
        for fault in KnownFault.all {
            let version = try await Console.offPool { fault.version() }
            let hasRepair = version == nil ? nil : try await fault.hasRepair(session.environment)
            if let finding = fault.finding(version: version, hasRepair: hasRepair) { findings.append(finding) }
        }
        return findings
    }

    // MARK: With the daemon

    private func served(_ hello: HelloReply, _ connection: any LibraryConnection) async throws -> [Finding] {
        var findings = [
            InstallationChecks.running(
                pid: hello.pid, version: PlainText.neutralized(hello.version), own: Release.version,
                isReplaced: surroundings.isReplaced(hello.pid),
                start: surroundings.start(library: hello.library == surroundings.library() ? nil : hello.library))
        ]
        findings += try await onDisk(hello.library, pid: hello.pid)
        guard let status = try await ask(GetLibraryStatus(), connection, "library", .library, &findings) else {
            // The rest is not told either, and each would ask for a PIN of its own.
            return findings
        }
        findings += LibraryChecks.findings(status)
        findings.append(MachineChecks.clock(now: .now(), jump: status.clockJump))
        if let watched = try await ask(ListWatchedFolders(), connection, "watched-folders", .library, &findings) {
            findings += LibraryChecks.watched(watched.folders)
        }
        if let keys = try await ask(GetKeyStatus(), connection, "keys", .keys, &findings) {
            findings += try await judged(keys, hello, connection)
        }
        if let list = try await ask(ListBackups(), connection, "backups", .backups, &findings) {
            let places = try await ask(ListBackupPlaces(), connection, "backup-places", .backups, &findings)
            findings += BackupChecks.findings(status, list, folders: places?.folders ?? [])
        }
        return findings + (try await files(connection))
    }

    private func judged(
        _ status: KeyStatus, _ hello: HelloReply, _ connection: any LibraryConnection
    ) async throws -> [Finding] {
        let surroundings = surroundings
        let file = repaired(
            try await Console.offPool {
                surroundings.key(
                    status.keyFile, library: hello.library,
                    user: surroundings.keeper(of: hello.library, pid: hello.pid))
            })
        var now = status
        // What was put right may have been all that it lacked.
        if file.contains(where: { $0.fixed != nil }) { now = try await connection.send(GetKeyStatus()).value }
        let isFaulty = file.contains { $0.severity == .problem && $0.fixed == nil }
        return file + KeyChecks.findings(now, isFileFaulty: isFaulty)
    }

    private func files(_ connection: any LibraryConnection) async throws -> [Finding] {
        var findings: [Finding] = []
        let receipt: RescanReceipt? = try await job(
            RescanLibrary(digests: !isQuick), connection, "files", &findings)
        guard let receipt else { return findings }
        findings += LibraryChecks.findings(receipt)
        guard repairs, let index = findings.firstIndex(where: { $0.repair == .thumbnails }) else { return findings }
        let made: ThumbnailReceipt? = try await job(RebuildThumbnails(), connection, "thumbnails-made", &findings)
        if let made {
            // What cannot be made stays to be done.
            let sentence = "\(Figures.count(made.made, "thumbnail was", "thumbnails were")) made."
            if made.problems == 0 { findings[index].fixed = sentence }
        }
        return findings
    }

    /// What does not answer is a finding of its own, and the other checks go on.
    private func ask<M: Message>(
        _ message: M, _ connection: any LibraryConnection, _ id: String, _ area: Finding.Area,
        _ findings: inout [Finding]
    ) async throws -> M.Reply? {
        do {
            return try await connection.send(message).value
        } catch let failure as CommandFailure where Self.isAnswer(failure) {
            findings.append(Self.untold(id, area, failure))
            return nil
        }
    }

    private func job<M: Message, Receipt: JobReceipt>(
        _ message: M, _ connection: any LibraryConnection, _ id: String, _ findings: inout [Finding]
    ) async throws -> Receipt? where M.Reply == JobStarted {
        let follower = JobFollower(session: session, library: connection, cancelsOnInterrupt: true)
        do {
            let end = try await follower.run { try await connection.send(message).value.job }
            guard let job = end?.value, job.state != .cancelled else { throw CancellationError() }
            if let receipt = job.receipt, job.state == .finished {
                return try JSONDecoder().decode(Receipt.self, from: JSONText.encode(receipt))
            }
            throw CommandFailure.local((job.error ?? job.obstacle)?.message ?? "It did not come to its end.")
        } catch let failure as CommandFailure where Self.isAnswer(failure) {
            findings.append(Self.untold(id, .files, failure))
            return nil
        }
    }

    /// Whether the daemon is still there after it.
    private static func isAnswer(_ failure: CommandFailure) -> Bool {
        switch failure {
        case .refused(let error): error.status != .cancelled
        case .local: true
        case .usage, .notRunning, .connectionLost, .notAnswering: false
        }
    }

    private static func untold(_ id: String, _ area: Finding.Area, _ failure: CommandFailure) -> Finding {
        Finding(
            id, area, .problem, "This could not be looked at: \(failure.message)", remedy: "Try it again after that.")
    }

    // MARK: Putting right

    private func repaired(_ findings: [Finding]) -> [Finding] {
        guard repairs else { return findings }
        return findings.map { finding in
            guard case .mode(let path, let mode) = finding.repair, FileFacts.setMode(mode, of: path) else {
                return finding
            }
            var finding = finding
            finding.fixed =
                "Its mode is \(String(mode, radix: 8)) now."
                + (finding.id == "key-file-mode"
                    ? " Where somebody may have read it, 'smilepile keys rotate' makes a new key." : "")
            return finding
        }
    }
}

extension Finding {
    /// The same for a daemon that is not at the usual socket.
    fileprivate func at(_ socket: String?) -> Finding {
        guard let socket, let command else { return self }
        let steps = command.components(separatedBy: " && ").map {
            $0.hasPrefix("smilepile ") ? $0 + " --socket " + ShellWord.of(socket) : $0
        }
        var changed = Finding(
            id, area, severity, what, remedy: remedy, command: steps.joined(separator: " && "),
            repair: repair)
        changed.fixed = fixed
        return changed
    }
}
