import LibraryModel
import ServiceMesh

extension PreparedPhoto {
    /// What of the source is not shown, or not kept, as a part of the photo's line in a receipt; nil where all of it is.
    ///
    /// Whoever reads a receipt may delete the source afterwards, so it says which pixels the library has.
    var reduction: String? {
        // Of a film nothing is lost: what is smaller is its poster.
        guard contentDigest != sourceDigest, film == nil else { return nil }
        let source = "\(sourceWidth) x \(sourceHeight)"
        let shown = "\(width) x \(height)"
        return switch (source == shown, stagedOriginal == nil) {
        case (false, false): "\(source) kept, \(Reduction.shown)\(shown)"
        case (false, true): "\(source) \(Reduction.reduced)\(shown), and only that is kept"
        case (true, false): nil
        case (true, true): "made a JPEG of it, and only that is kept"
        }
    }
}

/// How the lines of a receipt tell that a photo is shown smaller than it came.
enum Reduction {
    fileprivate static let shown = "shown at "
    fileprivate static let reduced = "reduced to "

    /// Counted by what the lines say, because they are all that is left of a run that was broken off.
    static func isTold(in line: ReceiptLine) -> Bool {
        line.outcome == ImportOutcome.imported.rawValue
            && [shown, reduced].contains { line.detail?.contains($0) == true }
    }
}
