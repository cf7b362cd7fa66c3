/// What is refused before anything is decoded, and how far outputs are reduced.
///
/// | Limit | Value | Why |
/// |---|---|---|
/// | source file | 512 MiB | it is held in memory, and hashed once |
/// | pixels | 256 million | no camera has more; where the memory suffices, see below |
/// | side | 65,535 | more than any camera; keeps the arithmetic small |
/// | scans of a progressive JPEG | 100 | each one walks the whole picture |
/// | embedded colour profile | 4 MiB | the largest printer profiles are about 2 MiB |
/// | EXIF block | 1 MiB read, 65,527 bytes written | one JPEG segment |
/// | XMP packet, each of two | 16 MiB; 4 MiB in UTF-16 | the longest hold a second picture, 5 to 10 MiB |
/// | IPTC records | 1 MiB | programs write some kilobytes |
/// | caption | 2,000 Unicode scalars | what a person may give a photo |
/// | camera | 128 Unicode scalars | more than any make and model have |
/// | memory of a worker by itself | 96 MiB | most pictures need 20 to 60 |
/// | memory that all workers share for big photos | 1.5 GiB, half of the machine's at most | see below |
/// | processor time for one photo | 120 s | a PNG of 192 million pixels took 20 s; a busy machine takes none of it |
/// | clock for one photo | 15 minutes | a worker that does a little now and then is ended |
/// | clock with no processor time | 20 s | a worker that does nothing is ended |
/// | processor time of a worker | 300 s | the kernel ends it where its parent does not |
/// | open descriptors of a worker | 12 | it uses eight |
/// | photo that a worker makes | 64 MiB | 2048 x 2048 pixels come to 8 MiB, and carry 16 MiB of XMP at most |
/// | thumbnail that it makes | 1 MiB | 300 x 300 pixels come to 200 KiB |
/// | preview that it makes | 4 MiB | 1024 x 1024 pixels of noise come to 1 MiB |
///
/// All workers together never have more than what they start with (26 MB each, 85 MB of address space), 96 MiB each, and what
/// is shared: with two workers under 2 GB. The kernel keeps them to it, by address space.
///
/// What needs more than 64 MiB asks for it before it is decoded, by what its header says, and waits its turn. What needs
/// more than there is, or has more pixels than are decoded, is ``ImagingError/needsMemory(_:_:)``. Beside its file:
///
/// | Type | Bytes that decoding asks for | Largest, with 1.5 GiB |
/// |---|---|---|
/// | JPEG | none: scaled, line by line | 256 million pixels |
/// | JPEG, progressive or of several scans | all coefficients: 3 a pixel in 4:2:0, 6 in 4:4:4 | 256 million |
/// | PNG | none: line by line | 256 million |
/// | PNG, interlaced | all of it: 3 a pixel, 4 with opacity, 1 in grey | 256 million |
/// | TIFF | a strip or a row of tiles in RGBA, and stored; of a strip over 8 MiB a line | 256 million |
/// | TIFF of one strip with planes apart, or with chroma for several lines | all of it: about 10 a pixel | 150 million |
/// | HEIC, AVIF in tiles, as phones write them | a row of tiles, 3 a pixel, and 12 a pixel of one tile | 256 million |
/// | HEIC, AVIF in one piece | 8 a pixel, 10 with opacity, 16 over 8 bits | 200, 160, 100 million |
/// | BMP | none; run-length coded 5 a pixel | 256 million |
/// | GIF | 5 a pixel | 256 million |
/// | WebP | 10 a pixel | 160 million |
/// | JPEG XL | 24 a pixel, and 18 for each channel beside the colours; 6 of a JPEG that was packed | 65, 256 million |
/// | raw | as the JPEG of its preview; developed 8 for each pixel of the sensor, 24 where each has all colours | 190 million |
/// | JPEG 2000 | 5 for each sample at the scale that is decoded, 400 for each code block, and its file again | 256 million |
///
/// Peaks, in MB of resident memory (VmHWM of a worker), its file included: JPEG of 12 and of 24 million pixels 41, of 108
/// million 46, progressive of 100 million 343; HEIC in tiles of 48 million 51, of 200 and 256 million 67; HEIC in one piece
/// of 48 million 253; PNG of 100 million 143 with a file of 103, interlaced 446 with 108; TIFF of 200 million 142 with 90,
/// in one strip 130 with 90.
public enum ImageLimits {
    /// Bytes of a source file.
    public static let sourceBytes = 512 << 20
    /// Pixels of a picture of any type, where the memory suffices.
    public static let pixels = 256_000_000
    /// Pixels of one side.
    public static let side = 65_535
    /// Scans of a progressive JPEG.
    public static let scans = 100
    /// Bytes of an embedded colour profile.
    public static let profileBytes = 4 << 20
    /// Bytes of an EXIF block that are read.
    public static let exifBytes = 1 << 20
    /// Bytes of an EXIF block that fit one JPEG segment beside its name.
    public static let exifSegmentBytes = 65_533 - 6
    /// Bytes of an XMP packet, and of its second part.
    public static let xmpBytes = 16 << 20
    /// Bytes of an XMP packet in UTF-16, which is held three times while it becomes UTF-8.
    public static let wideXMPBytes = 4 << 20
    /// Bytes of IPTC's records.
    public static let iptcBytes = 1 << 20
    /// Unicode scalars of a camera's make and model.
    public static let cameraLength = 128
    /// Bytes of what says that a picture and a film are a pair. Apple's are UUIDs, of 36.
    public static let contentIdentifierLength = 64
    /// Unicode scalars of what is missing of a picture.
    public static let shortfallLength = 200
    /// Unicode scalars of a caption.
    public static let captionLength = 2000
    /// Bytes of address space that a worker may take beyond what it starts with.
    public static let workerMemory: UInt64 = 96 << 20
    /// Bytes of address space that the daemon lends to workers for big photos, all of them together.
    public static let sharedMemory: UInt64 = 1536 << 20
    /// As much of it as a machine with so many bytes of memory can spare: half of them at most.
    public static func sharedMemory(ofMachine bytes: UInt64) -> UInt64 { min(sharedMemory, bytes / 2) }
    /// Bytes that a worker needs for a photo without asking for them. What is left of its own is for the rest: the
    /// outputs, tables, and what lies between blocks.
    package static let freeAllowance = 64 << 20
    /// Bytes of a source that are read without asking.
    package static let freeSourceAllowance = 32 << 20
    /// Seconds on a processor that a worker has for one photo; less than half of ``processorSeconds``, so that the kernel does
    /// not end it first.
    public static let photoProcessorSeconds = 120
    /// Seconds of the clock that it has for one photo. It runs at niceness 10, and a busy machine may leave it a tenth of one
    /// processor.
    public static let photoClockSeconds = 900
    /// Seconds of the clock in which it may use no processor at all. A disk that wakes up takes ten.
    public static let photoIdleSeconds = 20
    /// Seconds on a processor that a worker has in its life.
    public static let processorSeconds: UInt64 = 300
    /// Descriptors that a worker may have open.
    public static let descriptors: UInt64 = 12

    /// Longest side of a stored photo, in pixels, and its JPEG quality.
    public static let photoSide = 2048
    public static let photoQuality = 90
    /// Longest side of a thumbnail, in pixels, and its JPEG quality.
    public static let thumbnailSide = 300
    public static let thumbnailQuality = 85
    /// Longest side of a preview, in pixels, and its WebP quality. Of what is more than twice as long as wide, half of this is the
    /// short side: see ``previewSize(ofPhoto:_:)``.
    public static let previewSide = 1024
    public static let previewQuality = 82

    /// Bytes of a photo that a worker makes, with what it carries.
    package static let photoBytes = 64 << 20
    /// Bytes of a thumbnail that a worker makes.
    package static let thumbnailBytes = 1 << 20
    /// Bytes of a preview that a worker makes.
    package static let previewBytes = 4 << 20

    /// The size of the preview of a photo, in pixels; nil where it has none, because the photo itself is hardly larger.
    ///
    /// The long side has 1024 pixels. A panorama stands in a row as high as the photos beside it, so its short side counts: 512
    /// pixels, as long as all of it has no more than a square preview, which four times as long as wide is. A photo that is not a
    /// quarter longer than that serves as it is: a file of its own would save little, and nothing is ever enlarged.
    /// - Parameters:
    ///   - width: of the photo as it is stored, 1 or more, as `height`.
    public static func previewSize(ofPhoto width: Int, _ height: Int) -> (width: Int, height: Int)? {
        let (long, short) = (max(width, height), min(width, height))
        guard short > 0, long <= self.side else { return nil }
        let side = min(max(previewSide, previewSide / 2 * long / short), previewSide * 2)
        guard side * 5 <= long * 4 else { return nil }
        func scaled(_ length: Int) -> Int { max(1, (length * side * 2 + long) / (long * 2)) }
        return (scaled(width), scaled(height))
    }

    /// Refuses dimensions that a header should not have, before memory is asked for.
    package static func check(width: Int, height: Int) throws(ImagingError) {
        guard width > 0, height > 0 else { throw .damaged("its header says \(width) x \(height) pixels") }
        guard width <= side, height <= side else {
            throw .tooLarge("\(width) x \(height) pixels; a side may have \(side)")
        }
        guard width * height <= pixels else {
            // Of which type it is, whoever chose the decoder adds.
            throw .needsMemory(
                "\(width) x \(height) pixels; at most \(pixels / 1_000_000) million are decoded",
                UnseenPicture(mediaType: "", width: width, height: height))
        }
    }
}
