import LibraryModel

/// What an import's receipt says besides how many photos were imported, a line for each kind of thing.
enum ImportReport {
    static func sums(_ receipt: ImportReceipt) -> [String] {
        let would = receipt.isDryRun
        var lines: [String] = []
        if receipt.reduced > 0 {
            lines.append(
                "\(Figures.count(receipt.reduced, "photo")) \(would ? "would be" : receipt.reduced == 1 ? "is" : "are") shown "
                    + "smaller than \(receipt.reduced == 1 ? "it" : "they") came.")
        }
        if receipt.elsewhere > 0 {
            let (categories, them) = receipt.elsewhere == 1 ? ("category", "its") : ("categories", "their")
            lines.append(
                "\(Figures.count(receipt.elsewhere, "photo")) of these went into the \(categories) of \(them) sidecars."
            )
        }
        if receipt.joined > 0 {
            lines.append(
                receipt.joined == 1
                    ? "1 photo moves: its film came as a file of its own."
                    : "\(Figures.count(receipt.joined, "photo")) move: their films came as files of their own.")
        }
        let completed = receipt.completed - receipt.joined
        if completed > 0 {
            lines.append(
                "\(Figures.count(completed, "photo")) that the library had \(would ? "would get" : "got") "
                    + "what was missing: originals, raw files, sidecars, a picture to show, or a date and words of a second copy."
            )
        }
        if receipt.known > 0 {
            lines.append(
                "\(Figures.count(receipt.known, "file")) imported before and not written to since, so not opened; "
                    + "to read \(receipt.known == 1 ? "it" : "them"): --verify-known")
        }
        // In the order of the declaration, which is what people look for first.
        let left = PassedOver.allCases.compactMap { kind -> String? in
            guard let words = words(kind), let count = receipt.passedOver[kind.rawValue] else { return nil }
            return Figures.count(count, words.one, words.many)
        }
        if !left.isEmpty { lines.append(left.joined(separator: ", ") + " left where they are.") }
        if let count = receipt.passedOver[PassedOver.system.rawValue] {
            lines.append(
                "\(Figures.count(count, "hidden or system file or folder", "hidden or system files and folders")) not "
                    + "looked at; with them: --include-hidden")
        }
        if let count = receipt.passedOver[PassedOver.excluded.rawValue] {
            lines.append("\(Figures.count(count, "file or folder", "files and folders")) excluded.")
        }
        if let count = receipt.passedOver[PassedOver.unsettled.rawValue] {
            lines.append("\(Figures.count(count, "file")) still being written.")
        }
        return lines
    }

    private static func words(_ kind: PassedOver) -> (one: String, many: String)? {
        switch kind {
        case .video: ("video", "videos")
        case .audio: ("recording", "recordings")
        case .document: ("document", "documents")
        case .archive: ("archive", "archives")
        case .sidecar: ("sidecar without its picture", "sidecars without their pictures")
        case .other: ("other file", "other files")
        case .system, .excluded, .unsettled: nil
        }
    }
}
