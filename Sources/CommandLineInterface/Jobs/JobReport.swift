import Foundation
import LibraryModel
import ServiceMesh

/// What a job did, for a person or a program, once it has ended.
package struct JobReport {
    /// Lines that say only that a file was not reached; more of them would bury the others.
    private static let shownNotDone = 10
    /// The most that one page may have.
    private static let page = 1000

    package let session: Session
    package let library: any LibraryConnection
    package let isVerbose: Bool

    package init(session: Session, library: any LibraryConnection, isVerbose: Bool) {
        self.session = session
        self.library = library
        self.isVerbose = isVerbose
    }

    package var console: Console { session.console }

    /// Prints the report and says how the job counts.
    package func show(_ job: Answer<JobSnapshot>) async throws -> ExitCode {
        if session.wantsJSON {
            try await showJSON(job)
        } else {
            try await showReceipt(job.value)
        }
        return ExitCode(job.value)
    }

    /// What a trial has found out, before a person is asked whether to do it.
    package func preview(_ job: JobSnapshot) async throws {
        // A program's output is one document, which the deed itself is.
        if !session.wantsJSON { try await showReceipt(job) }
    }

    // MARK: For programs

    private func showJSON(_ job: Answer<JobSnapshot>) async throws {
        var lines: [JSONValue] = []
        try await eachPage(of: job.value) { page in lines += page.map(Self.json) }
        // From what came and not from the snapshot, which knows only the members of this version.
        guard case .object(var members) = try Reply.decode(JSONValue.self, from: job.json, of: job.value.method) else {
            return
        }
        members["lines"] = .array(lines)
        try session.show(json: .object(members))
    }

    private static func json(_ line: ReceiptLine) -> JSONValue {
        var members: [String: JSONValue] = ["item": .string(line.item), "outcome": .string(line.outcome)]
        if let detail = line.detail { members["detail"] = .string(detail) }
        return .object(members)
    }

    // MARK: For people

    private func showReceipt(_ job: JobSnapshot) async throws {
        for line in try await headline(job) { console.result(line) }
        if job.outcomes.values.reduce(0, +) > 0 {
            // A migration tells of categories and values too.
            let counted =
                switch job.method {
                case MigrateLibrary.method: "LINES"
                case RedatePhotos.method, RotateKeys.method, SyncGroups.method: "PHOTOS"
                case SyncReviews.method: "MACHINES"
                case RestoreBackup.method, UndoRestore.method: "LINES"
                default: "FILES"
                }
            var counts = Table(.init(heading: "OUTCOME"), .init(heading: counted, isNumeric: true))
            for (outcome, count) in job.outcomes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                counts.add([outcome, String(count)])
            }
            console.show(counts)
            if let unlisted = job.unlistedLines {
                console.result(
                    "\(unlisted) of these are only counted, and not listed one by one. What needs attention is listed before the rest."
                )
            }
            do {
                try await showLines(job)
            } catch let error where Self.isGone(error) {
                console.message(
                    "The daemon stopped before it could name the files. Start it with 'smilepile up'; then see them with "
                        + "'smilepile jobs show \(job.id)'.")
            }
        }
        if let error = job.error {
            console.message(console.messageStyle.red("smilepile: ") + PlainText.neutralized(error.message))
        }
    }

    /// One line for each file. Not a table: cutting a path or a reason to the terminal's width would take away what
    /// the line is for, and the longest path would push every reason far to the right.
    private func showLines(_ job: JobSnapshot) async throws {
        let width = job.outcomes.keys.map(TextWidth.of).max() ?? 0
        var lines: [String] = []
        var notDone = 0
        try await eachPage(of: job) { page in
            for line in page {
                let outcome = ImportOutcome(rawValue: line.outcome)
                if outcome == .cancelled { notDone += 1 }
                let isShown =
                    isVerbose || (outcome?.needsAttention ?? true) || outcome == .keptUnseen
                    || (outcome == .cancelled && notDone <= Self.shownNotDone)
                guard isShown else { continue }
                let what = TextWidth.padded(PlainText.neutralized(line.outcome), to: width)
                let why = line.detail.map { ": " + PlainText.neutralized($0) } ?? ""
                lines.append(what + "  " + PlainText.neutralized(line.item) + why)
            }
        }
        if !lines.isEmpty { console.result([""] + lines) }
        if !isVerbose, notDone > Self.shownNotDone {
            console.result(
                "… and \(notDone - Self.shownNotDone) more not done; all of them: smilepile jobs show \(job.id) --verbose"
            )
        }
    }

    private func headline(_ job: JobSnapshot) async throws -> [String] {
        guard let json = try job.receipt.map({ try JSONText.encode($0) }) else {
            let why = job.obstacle.map { " " + PlainText.neutralized($0.message) } ?? ""
            switch job.state {
            case .running: return ["Job \(job.id) is running: \(PlainText.neutralized(job.progress.phase))."]
            case .waiting:
                return [
                    "Job \(job.id) is waiting:\(why) It goes on by itself when that is over; "
                        + "give it up with: smilepile jobs cancel \(job.id)"
                ]
            case .paused:
                return [
                    "Job \(job.id) is paused while \(PlainText.neutralized(job.progress.phase))\(reached(job)).\(why) "
                        + "Let it go on with: smilepile jobs resume \(job.id)"
                ]
            case .interrupted:
                return [
                    "The daemon stopped while job \(job.id) was \(PlainText.neutralized(job.progress.phase))"
                        + "\(reached(job)). It goes on by itself when the daemon runs again: smilepile up"
                ]
            case .failed: return []
            case .cancelled:
                return ["Cancelled while \(PlainText.neutralized(job.progress.phase))\(reached(job)). \(kept(job))"]
            case .finished: return ["Job \(job.id) has finished."]
            }
        }
        let decoder = JSONDecoder()
        switch job.method {
        case ImportPhotos.method, ImportUploads.method:
            return try await describe(decoder.decode(ImportReceipt.self, from: json))
        case CreateBackup.method: return describe(try decoder.decode(BackupReceipt.self, from: json))
        case VerifyBackup.method: return describe(try decoder.decode(VerificationReceipt.self, from: json))
        case RestoreBackup.method: return describe(try decoder.decode(RestoreReceipt.self, from: json), of: job)
        case UndoRestore.method: return describe(try decoder.decode(UndoneRestore.self, from: json))
        case RescanLibrary.method: return describe(try decoder.decode(RescanReceipt.self, from: json))
        case RebuildThumbnails.method: return describe(try decoder.decode(ThumbnailReceipt.self, from: json))
        case SyncGroups.method: return describe(try decoder.decode(SyncReceipt.self, from: json))
        case SyncReviews.method: return describe(try decoder.decode(ReviewSyncReceipt.self, from: json))
        case RedatePhotos.method: return describe(try decoder.decode(RedateReceipt.self, from: json))
        case ErasePhotoDetails.method: return describe(try decoder.decode(ErasureReceipt.self, from: json))
        case RotateKeys.method: return describe(try decoder.decode(RotationReceipt.self, from: json))
        case MigrateLibrary.method:
            return MigrationReport.lines(try decoder.decode(MigrationReceipt.self, from: json), style: console.style)
        default: return [PlainText.neutralized(String(decoding: json, as: UTF8.self))]
        }
    }

    private func describe(_ receipt: ImportReceipt) async throws -> [String] {
        let count = "\(receipt.imported) of \(Figures.count(receipt.files, "photo"))"
        var place = "category #\(receipt.categoryId)"
        var folder: String?
        do {
            folder = try await library.send(GetLibraryStatus()).value.path
            let categories = try await library.send(ListCategories()).value.categories
            place = categories.first { $0.id == receipt.categoryId }?.displayName ?? place
        } catch let error where Self.isGone(error) {
            // The names are an ornament; what was imported is what matters.
        }
        place = PlainText.neutralized(place)
        return [
            ending(receipt.ending)
                + (receipt.isDryRun
                    ? "Would import \(count) into \(place). Nothing was stored."
                    : "Imported \(count) into \(place)\(folder.map { ", in " + PlainText.neutralized($0) } ?? "").")
        ] + ImportReport.sums(receipt)
    }

    /// Whether the daemon has stopped meanwhile: it lets a job write its receipt, and may be gone before all is read.
    private static func isGone(_ error: any Error) -> Bool {
        switch error {
        case CommandFailure.connectionLost, CommandFailure.notRunning: true
        case CommandFailure.refused(let refused): refused.status == .unavailable
        default: false
        }
    }

    private func describe(_ receipt: RescanReceipt) -> [String] {
        let findings = receipt.findings.values.reduce(0, +)
        let read = receipt.bytes > 0 ? ", every byte (\(Figures.size(receipt.bytes)))" : ", names and sizes"
        let checked = [
            ending(receipt.ending) + "Checked \(Figures.count(receipt.photos, "photo"))\(read): "
                + (findings == 0 ? "all is as it should be." : "\(Figures.count(findings, "finding")).")
        ]
        guard let without = receipt.withoutPreview, without > 0 else { return checked }
        return checked + [
            "\(Figures.count(without, "photo")) without a preview: each gets it when it is shown; all at once: smilepile storage thumbnails"
        ]
    }

    private func describe(_ receipt: ThumbnailReceipt) -> [String] {
        let problems =
            receipt.problems == 0 ? "" : " \(Figures.count(receipt.problems, "picture")) could not be made."
        return [
            ending(receipt.ending)
                + "Looked at \(Figures.count(receipt.photos, "photo")), made \(Figures.count(receipt.made, "thumbnail or preview", "thumbnails and previews"))."
                + problems
        ]
    }

    private func describe(_ receipt: RedateReceipt) -> [String] {
        let count = Figures.count(receipt.photos, "photo")
        let (would, found) = (receipt.isDryRun, receipt.camerasFound ?? 0)
        let dates =
            receipt.redated == 0
            ? "Looked at \(count): no date \(would ? "would change" : "has changed")."
            : "\(would ? "Would change" : "Changed") the dates of \(receipt.redated) of \(count)."
        let cameras =
            found == 0
            ? "" : " \(would ? "Would note" : "Noted") the camera of \(Figures.count(found, "other", "others"))."
        let nothing = would && receipt.redated + found > 0 ? " Nothing was changed." : ""
        return [ending(receipt.ending) + dates + cameras + nothing]
    }

    private func describe(_ receipt: ErasureReceipt) -> [String] {
        var lines = [
            ending(receipt.ending)
                + "Erased \(Figures.count(receipt.values, "sealed value")) of \(Figures.count(receipt.photos, "photo"))."
        ]
        if receipt.photosWithFiles > 0 {
            lines.append("The originals or sidecars of \(Figures.count(receipt.photosWithFiles, "photo")) are gone.")
        }
        if receipt.blanked > 0 {
            lines.append(
                "The name was blanked in \(Figures.count(receipt.blanked, "line")) of receipts and names of source files."
            )
        }
        if receipt.mentions > 0 {
            lines.append(
                console.style.yellow(
                    "The name stands in the name, caption or category of \(Figures.count(receipt.mentions, "photo")) still: smilepile photos search NAME"
                ))
        }
        if receipt.unreadable > 0 {
            lines.append(
                console.style.yellow(
                    "\(Figures.count(receipt.unreadable, "value")) did not open, so nobody knows whether they are of this child: smilepile keys status"
                ))
        }
        if !receipt.isLogEmpty {
            lines.append("The catalogue's log could not be emptied now, because something reads it. Repeat it later.")
        }
        return lines
    }

    private func describe(_ receipt: RotationReceipt) -> [String] {
        let older =
            receipt.ending == .cancelled
            ? " Values of before keep the old key until you ask again."
            : receipt.removedKeys > 0
                ? " The old key is gone."
                : receipt.unreadable > 0
                    ? " The old key is still needed."
                    : " The old key stays, as long as a backup is known that may need it."
        return [
            ending(receipt.ending) + "Sealed \(Figures.count(receipt.resealed, "value")) with the new key.\(older)",
            "Save it elsewhere: smilepile keys export FILE",
        ]
    }

    /// How far a job came that ended without a receipt of its own.
    private func reached(_ job: JobSnapshot) -> String {
        let progress = job.progress
        if let total = progress.bytesTotal {
            return ", after \(Figures.size(progress.bytesDone)) of \(Figures.size(total))"
        }
        return progress.itemsTotal.map { ", after \(progress.itemsDone) of \($0)" } ?? ""
    }

    /// What is left of such a job.
    private func kept(_ job: JobSnapshot) -> String {
        switch job.method {
        case CreateBackup.method: "No backup was left behind; the library is as it was."
        case RestoreBackup.method: "Nothing was restored; the library is as it was."
        case UndoRestore.method: "Nothing was put back; the library is as it was."
        case RescanLibrary.method: "What was checked until then is told below; nothing is ever changed."
        case MigrateLibrary.method: "Nothing was taken over; the library is as it was."
        case VerifyBackup.method: "What was read until then is as it should be; the rest was not checked."
        default: "What it had done by then stays done."
        }
    }

    package func ending(_ ending: JobEnding) -> String {
        switch ending {
        case .complete, .completeWithProblems: ""
        case .cancelled: "Cancelled. "
        case .failed: "Failed. "
        }
    }

    private func eachPage(of job: JobSnapshot, _ body: ([ReceiptLine]) -> Void) async throws {
        var after: Int? = 0
        while let from = after {
            let page = try await library.send(GetJobReceipt(job: job.id, after: from, limit: Self.page)).value
            body(page.lines)
            // A page that does not go on would be asked for for ever.
            after = page.next.flatMap { $0 > from ? $0 : nil }
        }
    }
}
