import CommandLineInterface
import LibraryModel
import ServiceMesh

/// What the daemon says of its library, and of itself.
enum LibraryChecks {
    static func findings(_ status: LibraryStatus) -> [Finding] {
        [catalogue(status), unreadable(status), workers(status), log(status)].compactMap { $0 }
    }

    private static func catalogue(_ status: LibraryStatus) -> Finding {
        guard let problems = status.catalogueProblems, let first = problems.first else {
            return .fine("catalogue", .library, "The catalogue is sound, as far as it was looked through.")
        }
        let more = problems.count > 1 ? " And \(problems.count - 1) more." : ""
        return Finding(
            "catalogue", .library, .problem, "The catalogue is damaged: \(first)\(more)",
            remedy: "Make a backup of what can be read, then restore it or an earlier one into a new library.",
            command: "smilepile backup create FOLDER")
    }

    private static func unreadable(_ status: LibraryStatus) -> Finding? {
        guard let unreadable = status.unreadable, let first = unreadable.first else { return nil }
        let names = unreadable.prefix(3).map(\.name).joined(separator: ", ")
        return Finding(
            "catalogue-rows", .library, .problem,
            "Parts of the catalogue cannot be read: \(names)"
                + (unreadable.count > 3 ? " and \(unreadable.count - 3) more." : "."),
            remedy: unreadable.count == 1 ? first.advice : "Have all of it looked at; each line says what to do.",
            command: unreadable.count == 1 ? nil : "smilepile storage check")
    }

    /// Nothing where none was started yet: then nobody knows.
    private static func workers(_ status: LibraryStatus) -> Finding? {
        guard let cell = status.imageWorkers.cell else { return nil }
        guard !cell.missing.isEmpty else {
            return .fine("worker-cell", .machine, "Programs that open photos are shut in by all that the kernel has.")
        }
        // Landlock is missing from kernels of its time; without the other two a hostile photo has this user's rights.
        return Finding(
            "worker-cell", .machine, cell.seccomp && cell.noNewPrivileges ? .advice : .warning,
            "Programs that open photos are not shut in by: \(cell.missing.joined(separator: "; ")).",
            remedy: "Use Linux 5.13 or later, and allow it where a container or a service's unit forbids it.")
    }

    private static func log(_ status: LibraryStatus) -> Finding? {
        status.lostLogLines.map { lost in
            Finding(
                "log", .installation, .warning,
                "The daemon could not write \(Figures.count(lost, "line")) of its log.",
                remedy: "Make room on the log's disk, or see that it can be written.", command: "df -h")
        }
    }

    /// The folders that are imported from by themselves; nothing where there are none.
    static func watched(_ folders: [WatchedFolder]) -> [Finding] {
        guard !folders.isEmpty else { return [] }
        let faulty = folders.filter { $0.state == .missing || $0.problem != nil }
        guard !faulty.isEmpty else {
            return [.fine("watched-folder", .library, "\(Figures.count(folders.count, "folder")) watched, all there.")]
        }
        return faulty.map { folder in
            // A disk that is plugged in now and then is waited for.
            Finding(
                "watched-folder", .library, folder.problem == nil ? .advice : .warning,
                "Nothing is imported from the watched folder \(folder.path): \(folder.problem ?? "it is not there.")",
                remedy: "Put that right or mount its disk; or have it watched no more.",
                command: "smilepile watch-folder remove \(ShellWord.of(folder.path))")
        }
    }

    /// What a check of all files has found.
    static func findings(_ receipt: RescanReceipt) -> [Finding] {
        func count(_ findings: StorageFinding...) -> Int {
            findings.reduce(0) { $0 + (receipt.findings[$1.rawValue] ?? 0) }
        }
        var findings: [Finding] = []
        let (missing, damaged) = (count(.missing), count(.damaged, .unreadable))
        if missing + damaged > 0 {
            let parts = [(missing, "missing"), (damaged, "damaged")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            findings.append(
                Finding(
                    "files", .files, .problem,
                    "Files of photos are not what was stored: \(parts.joined(separator: ", ")), of "
                        + "\(Figures.count(receipt.photos, "photo")).",
                    remedy: "'smilepile storage check' names them; bring them back from a backup.",
                    command: "smilepile backup restore FILE"))
        } else {
            let how = receipt.bytes > 0 ? "to the last byte (\(Figures.size(receipt.bytes)))" : "by name and size"
            findings.append(.fine("files", .files, "\(Figures.count(receipt.photos, "photo")) are whole, \(how)."))
        }
        if case let without = count(.withoutFile), without > 0 {
            findings.append(
                Finding(
                    "photos-without-file", .files, .advice,
                    "\(Figures.count(without, "photo was", "photos were")) taken over without a file.",
                    remedy: "Import the files where you find them: the photos have them then.",
                    command: "smilepile import FOLDER"))
        }
        if case let thumbnails = count(.noThumbnail), thumbnails > 0 {
            findings.append(
                Finding(
                    "thumbnails", .files, .advice,
                    "\(Figures.count(thumbnails, "photo has", "photos have")) no thumbnail; one is made when "
                        + "somebody looks at it.",
                    remedy: "Have them made now.", command: "smilepile storage thumbnails", repair: .thumbnails))
        } else {
            findings.append(.fine("thumbnails", .files, "Every photo has its thumbnail."))
        }
        if case let unknown = count(.unknown), unknown > 0 {
            findings.append(
                Finding(
                    "unknown-files", .files, .advice,
                    "\(Figures.count(unknown, "file lies", "files lie")) in the library that the catalogue does not know.",
                    remedy: "See which, and move out what is wanted.", command: "smilepile storage clean --dry-run"))
        }
        return findings
    }
}
