import LibraryModel

extension PreparedPhoto {
    /// What of the source is not shown, or not kept, as a part of the photo's line in a receipt; nil where all of it is.
    ///
    /// Whoever reads a receipt may delete the source afterwards, so it says which pixels the library has.
    var reduction: String? {
        guard contentDigest != sourceDigest else { return nil }
        let source = "\(sourceWidth) x \(sourceHeight)"
        let shown = "\(width) x \(height)"
        return switch (source == shown, stagedOriginal == nil) {
        case (false, false): "\(source) kept, shown at \(shown)"
        case (false, true): "\(source) reduced to \(shown), and only that is kept"
        case (true, false): nil
        case (true, true): "made a JPEG of it, and only that is kept"
        }
    }
}
