import ImageWorkerProtocol

/// EXIF orientation: what to do to a stored picture to see it upright.
enum Orientation: Int {
    case upright = 1, mirrored, turned180, flipped, transposed, turnedRight, transversed, turnedLeft

    /// 0 and above 8 count as upright.
    init(exif value: Int) { self = Orientation(rawValue: value) ?? .upright }

    var swapsSides: Bool { rawValue >= 5 }

    /// What to do to see the picture as a person has turned it besides.
    /// - Parameter degrees: clockwise.
    /// - Throws: ``/ImageWorkerProtocol/ImagingError/io(_:)`` for what is no quarter turn, of which no parent of ours asks.
    func turned(by degrees: Int) throws(ImagingError) -> Orientation {
        guard [0, 90, 180, 270].contains(degrees) else { throw .io("a turn that no photo has") }
        return (0..<degrees / 90).reduce(self) { orientation, _ in orientation.turnedByAQuarter }
    }

    private var turnedByAQuarter: Orientation {
        switch self {
        case .upright: .turnedRight
        case .turnedRight: .turned180
        case .turned180: .turnedLeft
        case .turnedLeft: .upright
        case .mirrored: .transversed
        case .transversed: .flipped
        case .flipped: .transposed
        case .transposed: .mirrored
        }
    }
}

extension PixelSize {
    func upright(_ orientation: Orientation) -> PixelSize { orientation.swapsSides ? transposed : self }
}

extension PlanarPicture {
    /// This picture turned upright, plane by plane; itself if it is upright.
    func upright(_ orientation: Orientation) throws(ImagingError) -> PlanarPicture {
        guard orientation != .upright else { return self }
        var kind = kind
        if orientation.swapsSides, case .ycc(let width, let height) = kind {
            kind = .ycc(subsampleWidth: height, subsampleHeight: width)
        }
        let turned = try PlanarPicture(size: size.upright(orientation), kind: kind)
        for (source, target) in zip(planes, turned.planes) { source.turn(orientation, into: target) }
        return turned
    }
}

extension PlanarPicture.Plane {
    fileprivate func turn(_ orientation: Orientation, into target: PlanarPicture.Plane) {
        // Where the target's first pixel lies in this plane, and how far one step right and one step down go.
        let lastColumn = width - 1
        let lastLine = (height - 1) * stride
        let (start, right, down): (Int, Int, Int) =
            switch orientation {
            case .upright: (0, 1, stride)
            case .mirrored: (lastColumn, -1, stride)
            case .turned180: (lastLine + lastColumn, -1, -stride)
            case .flipped: (lastLine, 1, -stride)
            case .transposed: (0, stride, 1)
            case .turnedRight: (lastLine, -stride, 1)
            case .transversed: (lastLine + lastColumn, -stride, -1)
            case .turnedLeft: (lastColumn, stride, -1)
            }
        // Blocks, so that the column walks of a transposition stay in the cache.
        let block = 64
        for top in Swift.stride(from: 0, to: target.height, by: block) {
            for left in Swift.stride(from: 0, to: target.width, by: block) {
                for y in top..<min(top + block, target.height) {
                    let line = target.base + y * target.stride
                    var from = base + start + y * down + left * right
                    for x in left..<min(left + block, target.width) {
                        line[x] = from.pointee
                        from += right
                    }
                }
            }
        }
    }
}
