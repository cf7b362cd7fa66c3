/// From which size and kind of picture to which: numbers, by which a worker knows a reduction that was prepared for it.
///
/// Preparing one costs as much as running it, and the photos of one camera share their sizes. A worker tells which ones it had
/// to prepare, and the next worker finds them done, although it has nothing else of the one before.
package struct ReductionShape: Codable, Hashable, Sendable {
    package enum Kind: Codable, Hashable, Sendable {
        case grey
        case rgb
        /// RGB in two bytes a sample, of which 9 to 16 bits are used.
        case deepRGB(bits: Int)
        /// Full-range BT.601; chroma smaller by these powers of two, 0 to 2.
        case ycc(subsampleWidth: Int, subsampleHeight: Int)
    }

    /// Pixels of the source.
    package var sourceWidth: Int
    package var sourceHeight: Int
    package var sourceKind: Kind
    /// Pixels of what it becomes.
    package var width: Int
    package var height: Int
    package var kind: Kind

    package init(
        sourceWidth: Int, sourceHeight: Int, sourceKind: Kind, width: Int, height: Int, kind: Kind
    ) {
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        self.sourceKind = sourceKind
        self.width = width
        self.height = height
        self.kind = kind
    }

    /// How many are prepared at once: the latest.
    package static let most = 6

    /// Whether a worker could have needed it.
    package var isPossible: Bool {
        let sides = 1...ImageLimits.side
        return sides.contains(sourceWidth) && sides.contains(sourceHeight) && sourceKind.isPossible && kind.isPossible
            && (1...ImageLimits.photoSide).contains(width) && (1...ImageLimits.photoSide).contains(height)
            && width <= sourceWidth && height <= sourceHeight
    }
}

extension ReductionShape.Kind {
    fileprivate var isPossible: Bool {
        switch self {
        case .grey, .rgb: true
        case .deepRGB(let bits): (9...16).contains(bits)
        case .ycc(let width, let height): (0...2).contains(width) && (0...2).contains(height)
        }
    }
}
