import ImageWorkerProtocol

/// A picture that another module has decoded, a frame of a film: rows of RGB, three bytes a pixel, in sRGB's full range.
package struct DecodedPicture {
    /// Pixels, as its rows have them.
    package let width: Int
    package let height: Int
    /// How wide a pixel is for its height.
    package let pixelShape: Double
    /// As EXIF says it: 1 to 8.
    package let orientation: Int
    /// The row of that number, `width * 3` bytes. Valid while the picture is being written.
    package let row: (Int) -> UnsafePointer<UInt8>

    package init(
        width: Int, height: Int, pixelShape: Double, orientation: Int, row: @escaping (Int) -> UnsafePointer<UInt8>
    ) {
        self.width = width
        self.height = height
        self.pixelShape = pixelShape
        self.orientation = orientation
        self.row = row
    }

    fileprivate var size: PixelSize { PixelSize(width: width, height: height) }

    /// With square pixels: the side that has too many of them stays, so that no more are made than there were.
    fileprivate var shownSize: PixelSize {
        func scaled(_ length: Int, by factor: Double) -> Int { max(1, Int((Double(length) * factor).rounded())) }
        return pixelShape >= 1
            ? PixelSize(width: width, height: scaled(height, by: 1 / pixelShape))
            : PixelSize(width: scaled(width, by: pixelShape), height: height)
    }
}

/// Pixels of what was made of it, upright.
package struct WrittenPictures {
    package let width: Int
    package let height: Int
    package let thumbnailWidth: Int
    package let thumbnailHeight: Int
}

extension PhotoConverter {
    /// Makes its photo, thumbnail and preview, as ``convert(source:photo:thumbnail:preview:)`` does of a picture.
    package func makePictures(
        of decoded: DecodedPicture, photo: Int32, thumbnail: Int32, preview: Int32
    ) throws(ImagingError) -> WrittenPictures {
        try ImageLimits.check(width: decoded.width, height: decoded.height)
        let width = decoded.width
        let lines = RowLines(size: decoded.size, format: .rgb) { line, row in
            row.update(from: decoded.row(line), count: width * 3)
        }
        let reduced = try reduce(lines, fitting: decoded.shownSize.fitting(ImageLimits.photoSide))
        let picture = try reduced.upright(Orientation(exif: decoded.orientation))
        let small = try writeReductions(of: picture, thumbnail: thumbnail, preview: preview)
        try EncodedJPEG(picture, quality: ImageLimits.photoQuality).withBytes(Output(photo).write)
        return WrittenPictures(
            width: picture.size.width, height: picture.size.height, thumbnailWidth: small.width,
            thumbnailHeight: small.height)
    }
}
