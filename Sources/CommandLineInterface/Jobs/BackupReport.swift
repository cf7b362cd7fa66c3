import LibraryModel
import ServiceMesh

/// What jobs that write, read and restore backups did, for a person.
extension JobReport {
    package func describe(_ receipt: BackupReceipt) -> [String] {
        guard receipt.ending != .cancelled else { return ["Cancelled. No backup was left behind."] }
        var lines = [
            "Backed up \(Figures.count(receipt.photos, "photo")) in "
                + "\(Figures.count(receipt.categories, "category", "categories")), read back and verified "
                + "(\(Figures.size(receipt.bytes))\(receipt.isPartial ? ", a part of the library" : "")):",
            PlainText.neutralized(receipt.path),
        ]
        if let added = receipt.added {
            let bytes = receipt.addedBytes.map { $0 > 0 ? " (\(Figures.size($0)))" : "" } ?? ""
            lines.append(
                added == 0
                    ? "Its files were in the folder already."
                    : "Copied for it: \(Figures.count(added, "file"))\(bytes).")
        }
        if let mended = receipt.mended {
            lines.append(
                console.style.yellow(
                    "\(Figures.count(mended, "file")) of earlier backups \(mended == 1 ? "was" : "were") gone or damaged there, and "
                        + "\(mended == 1 ? "is" : "are") copied anew. Look after that disk."))
        }
        if receipt.isForPhone == true {
            lines.append("It is for the phone apps, and no backup of the library: that is made without --for-phone.")
        }
        if receipt.damaged > 0 {
            lines.append(
                console.style.yellow(
                    "\(Figures.count(receipt.damaged, "file")) of the library could not be backed up whole."))
        }
        if receipt.sealedValues == 0 {
            lines.append("Nothing is sealed in it but the PIN and the mode, under the passphrase.")
        } else if let values = receipt.sealedValues {
            let sealed = Figures.count(values, "sealed value")
            lines.append(
                receipt.sealedWith == BackupSummary.sealedWithPassphrase
                    ? "\(sealed) in it, under the passphrase: readable on any machine."
                    : "\(sealed) in it, readable with this library's keys only: 'smilepile keys export', or --passphrase."
            )
        }
        if let trashed = receipt.trashed, trashed > 0 {
            lines.append("\(Figures.count(trashed, "photo")) in the trash \(trashed == 1 ? "is" : "are") not in it.")
        }
        if let groups = receipt.hubGroups, groups > 0 {
            lines.append(
                "\(Figures.count(groups, "group")) that other machines keep \(groups == 1 ? "is" : "are") not in it.")
        }
        if receipt.isOnLibraryDisk == true {
            lines.append("It lies on the library's own disk, and would be lost with it. Keep one on another disk too.")
        }
        if receipt.originalsLeftOut > 0 {
            lines.append(
                console.style.yellow(
                    "The originals and sidecars of \(Figures.count(receipt.originalsLeftOut, "photo")) are not in it."
                ))
        }
        return lines
    }

    package func describe(_ receipt: VerificationReceipt) -> [String] {
        let backup = receipt.backup
        return [
            ending(receipt.ending)
                + (receipt.ending == .cancelled ? "Not all was checked: " : "Every byte is as it should be: ")
                + "\(Figures.count(receipt.entries, "entry", "entries")), \(Figures.size(receipt.bytes)), "
                + (receipt.together.map { "\($0.backups) backups." }
                    ?? "\(Figures.count(backup.photoCount, "photo")) of \(LocalDate.text(backup.timestamp)).")
        ]
            + (receipt.together.map { together in
                [
                    together.missing == 0
                        ? "All \(Figures.count(together.photos, "photo")) of the library are in one of them."
                        : console.style.yellow(
                            "\(Figures.count(together.missing, "photo")) of the library "
                                + "\(together.missing == 1 ? "is" : "are") in none of them; \(together.photos) are.")
                ]
            } ?? [])
            + (backup.sealedValues.map { values in
                let opened = receipt.sealedOpened.map { "\($0) of them opened." } ?? "No key for them is here."
                return ["\(Figures.count(values, "sealed value")). \(opened)"]
            } ?? [])
    }

    package func describe(_ receipt: RestoreReceipt, of job: JobSnapshot) -> [String] {
        let outcomes = job.outcomes
        let isPreview = receipt.isDryRun
        var sheet = FactSheet()
        sheet.add("Categories added", String(receipt.categoriesAdded))
        sheet.add("Photos added", String(receipt.photosAdded))
        sheet.add("Photos kept", String(receipt.photosKept))
        if receipt.mode == .replace { sheet.add("Photos removed", String(receipt.photosRemoved)) }
        sheet.add("Reviews added", String(receipt.swipeSessionsAdded))
        sheet.add("Groups added", receipt.groupsAdded.map(String.init))
        sheet.add("Sealed values added", receipt.sealedValuesAdded.map(String.init))
        let differences = outcomes["conflict"] ?? 0
        let verb = receipt.mode == .merge ? "merge" : "replace the library by"
        let done = receipt.mode == .merge ? "Merged" : "Replaced the library by"
        return [
            ending(receipt.ending)
                + (isPreview ? "Would \(verb)" : receipt.ending == .cancelled ? "Did not \(verb)" : done)
                + " the backup of \(LocalDate.text(receipt.backup.timestamp))."
                + (isPreview ? " Nothing was changed." : "")
                + (receipt.becameBackup == true
                    ? " The library had not been used, so it \(isPreview ? "would become" : "became") the backup." : "")
        ] + sheet.lines(style: console.style)
            + (differences > 0 ? [Self.stay(differences, takeable: receipt.takeableDifferences ?? 0)] : [])
            + ((outcomes["updated"] ?? 0) > 0 && !isPreview
                ? ["To put back what was there: smilepile backup restore --undo \(job.id)"] : [])
    }

    package func describe(_ receipt: UndoneRestore) -> [String] {
        let count = Figures.count(receipt.restored, "thing")
        return [
            ending(receipt.ending) + "\(count) \(receipt.restored == 1 ? "is" : "are") as before the restore."
                + (receipt.ending == .completeWithProblems ? " What was changed since stays as it is." : "")
        ]
    }

    private static func stay(_ differences: Int, takeable: Int) -> String {
        let (verb, object) = differences == 1 ? ("stays", "it") : ("stay", "them")
        let stay = "\(Figures.count(differences, "difference")) to the backup \(verb) as the library has \(object)."
        guard takeable > 0 else { return stay }
        return stay + " To take the backup's\(takeable < differences ? " in \(takeable) of them" : ""): --prefer-backup"
    }
}
