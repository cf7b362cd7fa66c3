/// What is refused before anything is decoded, and how far outputs are reduced (PRODUCT.md, section 2).
///
/// | Limit | Value | Why |
/// |---|---|---|
/// | source file | 512 MiB | it is mapped, and hashed once |
/// | JPEG pixels | 250 million | decoded scaled, so memory follows the output |
/// | pixels of every other type | 64 million | decoded whole, up to 9 bytes a pixel at once |
/// | side | 65,535 | more than any camera; keeps the arithmetic small |
/// | coefficients of a progressive JPEG | 384 MiB | held whole even when decoded scaled |
/// | scans of a progressive JPEG | 100 | each one walks the whole picture |
/// | embedded colour profile | 4 MiB | the largest printer profiles are about 2 MiB |
/// | EXIF block | 1 MiB read, 65,527 bytes written | one JPEG segment |
/// | address space of a worker | 1.5 GiB | 64 million pixels of PNG need 0.6 GiB |
public enum ImageLimits {
    /// Bytes of a source file.
    public static let sourceBytes = 512 << 20
    /// Pixels of a JPEG.
    public static let jpegPixels = 250_000_000
    /// Pixels of every other type.
    public static let wholePixels = 64_000_000
    /// Pixels of one side.
    public static let side = 65_535
    /// Bytes of coefficients that a progressive JPEG may ask for.
    public static let coefficientBytes: UInt64 = 384 << 20
    /// Scans of a progressive JPEG.
    public static let scans = 100
    /// Bytes of an embedded colour profile.
    public static let profileBytes = 4 << 20
    /// Bytes of an EXIF block that are read.
    public static let exifBytes = 1 << 20
    /// Bytes of an EXIF block that fit one JPEG segment beside its name.
    public static let exifSegmentBytes = 65_533 - 6
    /// Bytes of address space of a worker.
    public static let workerAddressSpace: UInt64 = 1536 << 20

    /// Longest side of a stored photo, in pixels, and its JPEG quality.
    public static let photoSide = 2048
    public static let photoQuality = 90
    /// Longest side of a thumbnail, in pixels, and its JPEG quality.
    public static let thumbnailSide = 300
    public static let thumbnailQuality = 85

    /// Refuses dimensions that a header should not have, before memory is asked for.
    package static func check(width: Int, height: Int, pixels: Int) throws(ImagingError) {
        guard width > 0, height > 0 else { throw .damaged("its header says \(width) x \(height) pixels") }
        guard width <= side, height <= side else {
            throw .tooLarge("\(width) x \(height) pixels; a side may have \(side)")
        }
        guard width * height <= pixels else {
            throw .tooLarge("\(width) x \(height) pixels; the limit is \(pixels / 1_000_000) million")
        }
    }
}
