import CLinux
import Foundation
import Glibc
import Testing
import TestSupport

import ImageWorkerProtocol

@testable import Imaging
@testable import PhotoConversion

/// Pictures made here: four quadrants of plain colour, so that which way is up can be seen from any size.
enum Pictures {
    static let topLeft: [UInt8] = [200, 40, 40]
    static let topRight: [UInt8] = [40, 180, 60]
    static let bottomLeft: [UInt8] = [50, 70, 200]
    static let bottomRight: [UInt8] = [220, 210, 60]

    /// Interleaved RGB of the quadrants.
    static func quadrants(_ size: PixelSize) throws -> PlanarPicture {
        let picture = try PlanarPicture(size: size, kind: .rgb)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let colour =
                    y * 2 < size.height
                    ? (x * 2 < size.width ? topLeft : topRight) : (x * 2 < size.width ? bottomLeft : bottomRight)
                for plane in 0..<3 { picture.planes[plane].line(y)[x] = colour[plane] }
            }
        }
        return picture
    }

    static func jpeg(_ size: PixelSize, exif: [UInt8]? = nil) throws -> Data {
        try EncodedJPEG(quadrants(size), quality: 92, exif: exif).withBytes { Data($0) }
    }
}

extension TemporaryFolder {
    /// Writes a picture of four quadrants and gives its path.
    func photo(_ size: PixelSize, exif: [UInt8]? = nil, name: String = "source.jpg") throws -> String {
        try Pictures.jpeg(size, exif: exif).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }
}

/// Three open files of one conversion, closed with the value.
final class Files {
    let source: Int32
    let photo: Int32
    let thumbnail: Int32

    init(_ path: String, _ folder: TemporaryFolder) throws {
        source = clinux_open(path, O_RDONLY, 0)
        photo = clinux_open(folder.file("photo"), O_RDWR | O_CREAT | O_TRUNC, 0o600)
        thumbnail = clinux_open(folder.file("thumbnail"), O_RDWR | O_CREAT | O_TRUNC, 0o600)
        try #require(source >= 0 && photo >= 0 && thumbnail >= 0)
    }

    deinit { for descriptor in [source, photo, thumbnail] { close(descriptor) } }
}

func makePool(workers: Int = 1, timeout: Duration = .seconds(60)) throws -> ImageWorkerPool {
    let executable = try #require(ImageWorkerPool.defaultExecutable(), "build smilepile-image-worker first")
    return ImageWorkerPool(executable: executable, workers: workers, timeout: timeout)
}

/// Converts the file at `path` into `photo` and `thumbnail` of the folder.
func convert(_ pool: ImageWorkerPool, _ path: String, _ folder: TemporaryFolder, keepOriginal: Bool = false)
    async throws -> ConvertedPhoto
{
    let files = try Files(path, folder)
    defer { withExtendedLifetime(files) {} }
    return try await pool.convert(
        source: files.source, photo: files.photo, thumbnail: files.thumbnail, keepOriginal: keepOriginal)
}
