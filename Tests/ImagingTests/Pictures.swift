import CGD
import CLinux
import Foundation
import Glibc
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Pictures made and looked at here by gd, which is not what makes the JPEGs under test.
enum Pictures {
    /// Four quadrants of plain colour, so that which way is up can be seen from any size:
    /// top left, top right, bottom left, bottom right.
    static let quadrants: [[Int]] = [[200, 40, 40], [40, 180, 60], [50, 70, 200], [220, 210, 60]]

    enum Format: String, CaseIterable {
        case jpeg, png, gif, bmp, webp, tiff, avif

        var mediaType: String { "image/" + rawValue }
    }

    /// The quadrants in a file of `format`.
    static func file(_ format: Format, _ size: PixelSize, isInterlaced: Bool = false) throws -> Data {
        let image = try #require(gdImageCreateTrueColor(Int32(size.width), Int32(size.height)))
        defer { gdImageDestroy(image) }
        gdImageInterlace(image, isInterlaced ? 1 : 0)
        for (index, colour) in quadrants.enumerated() {
            let (left, top) = (index % 2 * (size.width / 2), index / 2 * (size.height / 2))
            // Each to the bottom right corner: the later ones cover what the earlier ones painted too much.
            gdImageFilledRectangle(
                image, Int32(left), Int32(top), Int32(size.width - 1), Int32(size.height - 1),
                Int32(colour[0] << 16 | colour[1] << 8 | colour[2]))
        }
        return try encoded(image, format)
    }

    /// One colour.
    static func plain(_ format: Format, _ size: PixelSize, _ colour: [Int]) throws -> Data {
        let image = try #require(gdImageCreateTrueColor(Int32(size.width), Int32(size.height)))
        defer { gdImageDestroy(image) }
        gdImageFilledRectangle(
            image, 0, 0, Int32(size.width - 1), Int32(size.height - 1),
            Int32(colour[0] << 16 | colour[1] << 8 | colour[2]))
        return try encoded(image, format)
    }

    /// Grey noise in a JPEG, whose bytes are spread over its lines.
    static func noise(_ size: PixelSize, seed: UInt64 = 7) throws -> Data {
        var generator = Seeded(state: seed)
        let picture = try PlanarPicture(size: size, kind: .grey)
        for y in 0..<size.height {
            for x in 0..<size.width { picture.planes[0].line(y)[x] = UInt8.random(in: 0...255, using: &generator) }
        }
        return try EncodedJPEG(picture, quality: 80).withBytes { Data($0) }
    }

    /// One colour with an opacity of 0…1, as PNG.
    static func transparentPNG(_ size: PixelSize, _ colour: [Int], opacity: Double) throws -> Data {
        let image = try #require(gdImageCreateTrueColor(Int32(size.width), Int32(size.height)))
        defer { gdImageDestroy(image) }
        gdImageAlphaBlending(image, 0)
        gdImageSaveAlpha(image, 1)
        let transparency = Int((1 - opacity) * 127)
        gdImageFilledRectangle(
            image, 0, 0, Int32(size.width - 1), Int32(size.height - 1),
            Int32(transparency << 24 | colour[0] << 16 | colour[1] << 8 | colour[2]))
        return try encoded(image, .png)
    }

    private static func encoded(_ image: gdImagePtr, _ format: Format) throws -> Data {
        var count: Int32 = 0
        let bytes: UnsafeMutableRawPointer? =
            switch format {
            case .jpeg: gdImageJpegPtr(image, &count, 92)
            case .png: gdImagePngPtr(image, &count)
            case .gif: gdImageGifPtr(image, &count)
            case .bmp: gdImageBmpPtr(image, &count, 0)
            case .webp: gdImageWebpPtrEx(image, &count, 90)
            case .tiff: gdImageTiffPtr(image, &count)
            case .avif: gdImageAvifPtrEx(image, &count, 90, 10)
            }
        let address = try #require(bytes, "gd cannot write \(format)")
        defer { gdFree(address) }
        return Data(bytes: address, count: Int(count))
    }

    /// A JPEG with an EXIF block put before everything else, as cameras do.
    static func jpeg(_ size: PixelSize, exif: [UInt8]) throws -> Data {
        let plain = try file(.jpeg, size)
        let segment = Array("Exif\0\0".utf8) + exif
        let length = segment.count + 2
        return plain.prefix(2) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + segment + plain.dropFirst(2)
    }

    /// Mean colours of a JPEG's quadrants and its size.
    static func look(atJPEG path: String) throws -> (size: PixelSize, quadrants: [[Int]]) {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        let decoded = data.withUnsafeMutableBytes { gdImageCreateFromJpegPtr(Int32($0.count), $0.baseAddress) }
        return try look(at: try #require(decoded, "not a JPEG"))
    }

    /// Colours of pixels of a JPEG in the middle of as many equal columns.
    static func columns(ofJPEG path: String, _ count: Int) throws -> [[Int]] {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        let decoded = data.withUnsafeMutableBytes { gdImageCreateFromJpegPtr(Int32($0.count), $0.baseAddress) }
        let image = try #require(decoded, "not a JPEG")
        defer { gdImageDestroy(image) }
        return (0..<count).map { column in
            let x = (Int(image.pointee.sx) * (2 * column + 1)) / (2 * count)
            let pixel = Int(gdImageGetTrueColorPixel(image, Int32(x), image.pointee.sy / 2))
            return [pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255]
        }
    }

    /// The same of a WebP.
    static func look(atWebP path: String) throws -> (size: PixelSize, quadrants: [[Int]]) {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        let decoded = data.withUnsafeMutableBytes { gdImageCreateFromWebpPtr(Int32($0.count), $0.baseAddress) }
        return try look(at: try #require(decoded, "not a WebP"))
    }

    private static func look(at image: gdImagePtr) throws -> (size: PixelSize, quadrants: [[Int]]) {
        defer { gdImageDestroy(image) }
        let size = PixelSize(width: Int(image.pointee.sx), height: Int(image.pointee.sy))
        var means: [[Int]] = []
        for (top, bottom) in [(0, size.height / 2), (size.height / 2, size.height)] {
            for (left, right) in [(0, size.width / 2), (size.width / 2, size.width)] {
                var sums = [0, 0, 0]
                for y in top..<bottom {
                    for x in left..<right {
                        let pixel = Int(gdImageGetTrueColorPixel(image, Int32(x), Int32(y)))
                        sums[0] += pixel >> 16 & 255
                        sums[1] += pixel >> 8 & 255
                        sums[2] += pixel & 255
                    }
                }
                let count = max(1, (bottom - top) * (right - left))
                means.append(sums.map { ($0 + count / 2) / count })
            }
        }
        return (size, means)
    }

    /// The largest difference of any channel of any quadrant.
    static func difference(_ first: [[Int]], _ second: [[Int]]) -> Int {
        zip(first.joined(), second.joined()).map { abs($0 - $1) }.max() ?? 0
    }
}

/// The open files of one conversion, closed with the value.
final class Files {
    let source: Int32
    let photo: Int32
    let thumbnail: Int32
    let preview: Int32

    init(_ path: String, _ folder: TemporaryFolder) throws {
        source = clinux_open(path, O_RDONLY, 0)
        photo = clinux_open(folder.file("photo"), O_RDWR | O_CREAT | O_TRUNC, 0o600)
        thumbnail = clinux_open(folder.file("thumbnail"), O_RDWR | O_CREAT | O_TRUNC, 0o600)
        preview = clinux_open(folder.file("preview"), O_RDWR | O_CREAT | O_TRUNC, 0o600)
        try #require(source >= 0 && photo >= 0 && thumbnail >= 0 && preview >= 0)
    }

    deinit { for descriptor in [source, photo, thumbnail, preview] { close(descriptor) } }
}

extension TemporaryFolder {
    /// Writes `data` and gives its path.
    func write(_ data: some Sequence<UInt8>, _ name: String = "source") throws -> String {
        try Data(data).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file(name))) }
}

/// Converts in this process: for tests of what comes out, not of workers.
func convertHere(_ data: some Sequence<UInt8>, _ folder: TemporaryFolder) throws -> ConvertedPhoto {
    try convertHere(Files(folder.write(data), folder))
}

/// As a worker and its parent do it together.
func convertHere(_ files: Files) throws -> ConvertedPhoto {
    defer { withExtendedLifetime(files) {} }
    let source = try WorkerSource(files.source)
    let (shown, small, middle) = try (
        WorkerOutput(upTo: ImageLimits.photoBytes), WorkerOutput(upTo: ImageLimits.thumbnailBytes),
        WorkerOutput(upTo: ImageLimits.previewBytes)
    )
    let made = try PhotoConverter().convert(
        source: files.source, photo: shown.descriptor, thumbnail: small.descriptor, preview: middle.descriptor)
    return try #require(
        try ConvertedPhoto(
            made, of: source, shown: shown, small: small, middle: middle, photo: files.photo,
            thumbnail: files.thumbnail, preview: files.preview),
        "a worker's answer that is not believed: \(made)")
}

/// What converting `data` here is refused with; nil where it is not.
func refusal(_ data: some Sequence<UInt8>) throws -> ImagingError? {
    let folder = try TemporaryFolder("refusal")
    do {
        _ = try convertHere(data, folder)
        return nil
    } catch let error as ImagingError {
        return error
    }
}

/// The program that `swift build` puts beside the tests.
func workerExecutable() throws -> String {
    try #require(ImageWorkerPool.defaultExecutable(), "build smilepile-image-worker first")
}

/// Converts the file at `path` into `photo` and `thumbnail` of the folder.
func convert(_ pool: ImageWorkerPool, _ path: String, _ folder: TemporaryFolder)
    async throws(ImagingError) -> ConvertedPhoto
{
    let files: Files
    do { files = try Files(path, folder) } catch { throw .io("\(error)") }
    defer { withExtendedLifetime(files) {} }
    return try await pool.convert(
        source: files.source, photo: files.photo, thumbnail: files.thumbnail, preview: files.preview)
}
