import CGD
import Dispatch
import Foundation
import Randomness
import Synchronization

/// A photo album out of nothing, for a first look, for tests and for measurements: JPEGs as cameras write them, with
/// EXIF orientation 1 to 8, dates with offsets, and GPS. The same seed makes the same pictures.
///
/// Each picture shows four differently coloured quadrants with a texture over them, so that whoever knows the seed
/// can say which colour belongs where once it is upright.
public struct SampleAlbum: Sendable {
    /// Pixels of the upright picture.
    public var width: Int
    public var height: Int
    public var seed: UInt64
    /// Strength of the noise that makes files as large as real ones: 0 for plain, 60 for about 4 MB at 12 MP.
    public var texture: Int
    /// Of the camera, in ASCII; nil for one that does not say its model.
    public var model: String?

    public init(
        width: Int = 1600, height: Int = 1200, seed: UInt64 = 1, texture: Int = 24, model: String? = nil
    ) {
        self.width = width
        self.height = height
        self.seed = seed
        self.texture = texture
        self.model = model
    }

    /// What photo number `index` is: everything that an import should find out about it.
    public struct Expected: Sendable, Equatable {
        public let fileName: String
        /// 1…8, in turn.
        public let orientation: Int
        /// Upright: top left, top right, bottom left, bottom right, each 0xRRGGBB.
        public let quadrants: [Int]
        /// Milliseconds since 1970-01-01 00:00 on the camera's clock, which was two hours ahead of UTC; nil for every tenth
        /// photo, which has no date.
        public let takenAt: Int64?
        public let hasPosition: Bool
    }

    public func expected(_ index: Int) -> Expected {
        var random = SplitMix64(seed: seed &+ UInt64(index) &* 0x9E37_79B9)
        let quadrants = (0..<4).map { _ in
            (0..<3).reduce(0) { color, _ in color << 8 | Int(40 + random.next() % 176) }
        }
        // 2024-06-01 12:00:00 and then an hour and a bit for each.
        let takenAt = 1_717_243_200_000 + Int64(index) * 3_661_000 + 250
        return Expected(
            fileName: "sample-" + String(repeating: "0", count: max(0, 4 - String(index).count)) + "\(index).jpg",
            orientation: index % 8 + 1, quadrants: quadrants, takenAt: index % 10 == 9 ? nil : takenAt,
            hasPosition: index % 3 == 0)
    }

    /// Writes photos 0..<`count` into `folder`, which is made where it is not there, on all cores. Blocks, and takes
    /// 4 bytes a pixel and core. After a failure the folder has some of them.
    public func write(count: Int, to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: count) { index in
            guard failure.withLock({ $0 == nil }) else { return }
            do {
                try photo(index).write(to: URL(fileURLWithPath: folder + "/" + expected(index).fileName))
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Photo number `index` as a JPEG file.
    /// - Throws: ``Unencodable`` where there is no memory for it.
    public func photo(_ index: Int) throws -> Data {
        let expected = expected(index)
        let jpeg = try stored(expected, noise: SplitMix64(seed: seed ^ UInt64(index)))
        let exif = ExifSegment(
            orientation: expected.orientation, takenAt: expected.takenAt, hasPosition: expected.hasPosition,
            model: model)
        // SOI, then EXIF, then what the encoder wrote after its own SOI.
        return jpeg.prefix(2) + exif.bytes + jpeg.dropFirst(2)
    }

    public struct Unencodable: Error {}

    /// The pixels as a camera held that way stores them.
    private func stored(_ expected: Expected, noise: SplitMix64) throws -> Data {
        let isTurned = expected.orientation >= 5
        let (width, height) = isTurned ? (self.height, self.width) : (self.width, self.height)
        guard let image = gdImageCreateTrueColor(Int32(width), Int32(height)) else { throw Unencodable() }
        defer { gdImageDestroy(image) }
        let quadrants = Self.storedQuadrants(expected.quadrants, orientation: expected.orientation)
        var noise = noise
        for y in 0..<height {
            guard let row = image.pointee.tpixels[y] else { continue }
            let colors = quadrants[(y * 2 / height) * 2..<(y * 2 / height) * 2 + 2]
            for (color, columns) in zip(colors, [0..<width / 2, width / 2..<width]) {
                fill(row, columns, with: color, &noise)
            }
        }
        var size: Int32 = 0
        // From 90 on gd stores colours at full resolution; cameras do not.
        guard let bytes = gdImageJpegPtr(image, &size, 89) else { throw Unencodable() }
        defer { gdFree(bytes) }
        return Data(bytes: bytes, count: Int(size))
    }

    /// Part of a row in one colour, with the same noise on every channel: its mean is zero, so the colour stays.
    private func fill(
        _ row: UnsafeMutablePointer<Int32>, _ columns: Range<Int>, with color: Int, _ noise: inout SplitMix64
    ) {
        guard texture > 0 else {
            for x in columns { row[x] = Int32(color) }
            return
        }
        let strength = texture
        let (red, green, blue) = (color >> 16 & 255, color >> 8 & 255, color & 255)
        var bits: UInt64 = 0
        for x in columns {
            // One random number serves eight pixels, a byte each: making it is half of the work.
            bits = (x - columns.lowerBound) & 7 == 0 ? noise.next() : bits >> 8
            let change = ((Int(bits & 255) * (strength * 2 + 1)) >> 8) - strength
            func channel(_ value: Int) -> Int { min(255, max(0, value + change)) }
            row[x] = Int32(channel(red) << 16 | channel(green) << 8 | channel(blue))
        }
    }

    /// Upright quadrants to stored ones: what a viewer undoes, by EXIF's definition of each orientation.
    private static func storedQuadrants(_ upright: [Int], orientation: Int) -> [Int] {
        let order =
            switch orientation {
            case 2: [1, 0, 3, 2]
            case 3: [3, 2, 1, 0]
            case 4: [2, 3, 0, 1]
            case 5: [0, 2, 1, 3]
            case 6: [1, 3, 0, 2]
            case 7: [3, 1, 2, 0]
            case 8: [2, 0, 3, 1]
            default: [0, 1, 2, 3]
            }
        return order.map { upright[$0] }
    }
}
