import ImageWorkerProtocol

/// A picture of equal tiles, as phones write them: what its container says of it.
struct HEIFGrid {
    let columns: Int
    let rows: Int
    /// Of all tiles together, where those at the right and at the bottom may reach beyond it; before it is cropped.
    let size: PixelSize
    /// Items, line by line.
    let tiles: [HEIFContainer.ItemID]
    /// What is shown of it, before it is turned.
    let window: Window
    /// How to see it upright.
    let orientation: Orientation
    /// Where the flags of the tiles stand in the file, in ascending order.
    let flags: [UInt64]

    /// Nil where the primary picture is no grid, or one that is described in a way that only libheif knows.
    /// - Throws: ``ImagingError/damaged(_:)`` for a grid that contradicts itself.
    init?(_ container: HEIFContainer) throws(ImagingError) {
        guard container.items[container.primary]?.type == "grid",
            let content = container.content(of: container.primary)
        else { return nil }
        let isWide = content[1] & 1 != 0
        guard content.count >= (isWide ? 12 : 8) else { throw .damaged("the description of its tiles is cut off") }
        rows = Int(content[2]) + 1
        columns = Int(content[3]) + 1
        size =
            isWide
            ? PixelSize(width: Int(content.bigEndian32(at: 4)), height: Int(content.bigEndian32(at: 8)))
            : PixelSize(width: Int(content.bigEndian16(at: 4)), height: Int(content.bigEndian16(at: 6)))
        try ImageLimits.check(width: size.width, height: size.height)
        tiles = container.parts[container.primary] ?? []
        guard tiles.count == rows * columns else {
            throw .damaged("it has \(tiles.count) tiles of \(rows * columns)")
        }
        var places: Set<Int> = []
        for tile in tiles {
            // A tile that is made from others could be made from this one.
            guard let item = container.items[tile], item.type == "hvc1" || item.type == "av01" else {
                throw .damaged("a tile of it is no coded picture")
            }
            places.insert(item.flags)
        }
        flags = places.sorted().map { UInt64($0) }
        guard let (window, orientation) = Self.shown(container.propertiesOfPrimary, size) else { return nil }
        self.window = window
        self.orientation = orientation
    }

    struct Window: Equatable {
        var left: Int
        var top: Int
        var size: PixelSize
    }

    /// What is left of the picture, and which way up it is. Nil for an order of them that cameras do not write.
    private static func shown(_ properties: [(type: String, body: ByteView)], _ size: PixelSize) -> (
        Window, Orientation
    )? {
        var window = Window(left: 0, top: 0, size: size)
        var orientation = Orientation.upright
        for (type, body) in properties {
            switch type {
            case "clap":
                guard orientation == .upright, window.size == size, let cropped = cropped(size, body) else {
                    return nil
                }
                window = cropped
            case "irot":
                let quarters: [Orientation] = [.upright, .turnedLeft, .turned180, .turnedRight]
                orientation = orientation.followed(by: quarters[Int(body[0] & 3)])
            case "imir": orientation = orientation.followed(by: body[0] & 1 != 0 ? .mirrored : .flipped)
            default: break
            }
        }
        return (window, orientation)
    }

    /// The clean aperture, rounded as libheif rounds it. Nil for fractions that no camera writes.
    private static func cropped(_ size: PixelSize, _ body: ByteView) -> Window? {
        func fraction(_ offset: Int) -> (over: Int, under: Int)? {
            let over = Int(Int32(bitPattern: body.bigEndian32(at: offset)))
            let under = Int(body.bigEndian32(at: offset + 4))
            return (1...0xFFFF).contains(under) ? (over, under) : nil
        }
        guard let width = fraction(0), let height = fraction(8), let right = fraction(16), let down = fraction(24),
            width.over > 0, height.over > 0
        else { return nil }
        /// First and last, from the picture's middle.
        func range(_ whole: Int, _ length: (over: Int, under: Int), _ shift: (over: Int, under: Int), half: Int)
            -> ClosedRange<Int>?
        {
            let under = 2 * shift.under * length.under
            let over = 2 * shift.over * length.under + shift.under * (whole * length.under - length.over)
            let first = (over + under / 2 * half) / under
            let last = (length.over + (first - 1) * length.under + length.under / 2) / length.under
            let (from, through) = (max(0, first), min(whole - 1, last))
            return from <= through ? from...through : nil
        }
        guard let columns = range(size.width, width, right, half: 0),
            let lines = range(size.height, height, down, half: 1)
        else { return nil }
        return Window(
            left: columns.lowerBound, top: lines.lowerBound,
            size: PixelSize(width: columns.count, height: lines.count))
    }
}

extension Orientation {
    /// What comes of this and then `next`.
    func followed(by next: Orientation) -> Orientation {
        let (first, second) = (parts, next.parts)
        let mirrors = first.swaps ? (second.down, second.across) : (second.across, second.down)
        return Orientation(
            swaps: first.swaps != second.swaps, across: first.across != mirrors.0, down: first.down != mirrors.1)
    }

    /// Whether lines become columns, and whether the stored picture's columns and its lines are taken in reverse.
    private var parts: (swaps: Bool, across: Bool, down: Bool) {
        switch self {
        case .upright: (false, false, false)
        case .mirrored: (false, true, false)
        case .turned180: (false, true, true)
        case .flipped: (false, false, true)
        case .transposed: (true, false, false)
        case .turnedRight: (true, false, true)
        case .transversed: (true, true, true)
        case .turnedLeft: (true, true, false)
        }
    }

    private init(swaps: Bool, across: Bool, down: Bool) {
        self =
            switch (swaps, across, down) {
            case (false, false, false): .upright
            case (false, true, false): .mirrored
            case (false, true, true): .turned180
            case (false, false, true): .flipped
            case (true, false, false): .transposed
            case (true, false, true): .turnedRight
            case (true, true, true): .transversed
            case (true, true, false): .turnedLeft
            }
    }
}
