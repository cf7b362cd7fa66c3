import Glibc
import ImageWorkerProtocol

/// How the planes of a picture are to be read.
enum PixelKind: Hashable {
    case grey
    /// Full-range BT.601, as in JPEG; chroma smaller than luma by these powers of two, sited at the centre.
    case ycc(subsampleWidth: Int, subsampleHeight: Int)
    case rgb
    /// RGB in two bytes a sample, of which so many bits are used (9…16); never encoded.
    case deepRGB(bits: Int)

    var planes: Int { self == .grey ? 1 : 3 }

    var bytesPerSample: Int {
        if case .deepRGB = self { return 2 }
        return 1
    }

    func subsampling(ofPlane plane: Int) -> (width: Int, height: Int) {
        guard plane > 0, case .ycc(let width, let height) = self else { return (0, 0) }
        return (width, height)
    }
}

struct PixelSize: Hashable {
    var width: Int
    var height: Int

    var pixels: Int { width * height }
    var longSide: Int { max(width, height) }
    var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// Of the chroma planes of a picture of this size.
    func subsampled(_ kind: PixelKind) -> PixelSize {
        let subsampling = kind.subsampling(ofPlane: 1)
        return PixelSize(
            width: (width + (1 << subsampling.width) - 1) >> subsampling.width,
            height: (height + (1 << subsampling.height) - 1) >> subsampling.height)
    }

    /// This size with its long side at most `side`: never enlarged, never under one pixel.
    func fitting(_ side: Int) -> PixelSize {
        guard longSide > side else { return self }
        func scaled(_ length: Int) -> Int { max(1, (length * side * 2 + longSide) / (longSide * 2)) }
        return PixelSize(width: scaled(width), height: scaled(height))
    }
}

/// Planes of bytes in aligned memory of their own: 64 bytes for the widest SIMD, lines a multiple of that.
///
/// With `lines` smaller than the height, a plane is a ring: line i stands at `i & mask`.
final class PlanarPicture {
    let size: PixelSize
    let kind: PixelKind
    private(set) var planes: [Plane]

    struct Plane {
        var base: UnsafeMutablePointer<UInt8>
        var stride: Int
        /// Line i stands at `base + (i & mask) * stride`; all ones for a whole plane.
        var mask: Int
        var width: Int
        var height: Int

        func line(_ index: Int) -> UnsafeMutablePointer<UInt8> { base + (index & mask) * stride }
    }

    /// A picture with whole planes, or rings of `ringLines` (a power of two) lines of plane 0.
    /// - Parameters:
    ///   - padding: columns more than its width that each line can take.
    ///   - extraLines: lines more than its height that a whole plane can take.
    init(size: PixelSize, kind: PixelKind, ringLines: Int? = nil, padding: Int = 0, extraLines: Int = 0)
        throws(ImagingError)
    {
        self.size = size
        self.kind = kind
        planes = []
        for index in 0..<kind.planes {
            let subsampling = kind.subsampling(ofPlane: index)
            let width = (size.width + (1 << subsampling.width) - 1) >> subsampling.width
            let height = (size.height + (1 << subsampling.height) - 1) >> subsampling.height
            // One line and a column more than the picture, for zimg's even sizes; whole blocks of 32 for libjpeg.
            let stride = ((width + max(padding, 31)) * kind.bytesPerSample + 63) / 64 * 64
            let lines = ringLines.map { max(1, $0 >> subsampling.height) } ?? height + 1 + extraLines
            planes.append(
                Plane(
                    base: try Self.allocate(stride * lines), stride: stride,
                    mask: ringLines == nil ? -1 : lines - 1, width: width, height: height))
        }
    }

    deinit { for plane in planes { free(plane.base) } }

    /// Swift's own allocation traps when memory is refused; here that is an answer.
    private static func allocate(_ count: Int) throws(ImagingError) -> UnsafeMutablePointer<UInt8> {
        var address: UnsafeMutableRawPointer?
        guard posix_memalign(&address, 64, count) == 0, let address else {
            throw .lackOfMemory
        }
        return address.assumingMemoryBound(to: UInt8.self)
    }
}
