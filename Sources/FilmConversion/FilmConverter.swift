import CCell
import CFilm
import Glibc
import ImageWorkerProtocol
import PhotoConversion

// FilmConversion opens films: all of libavformat and libavcodec that hostile bytes meet. It is linked by `smilepile-film-worker`
// alone, a program of its own, so that pictures are not opened beside forty libraries that they do not need. What the frame of a
// film becomes is PhotoConversion's part.

/// One film into its facts and its pictures: a poster in a photo's place, a thumbnail, a preview. Runs in the worker process, on one
/// thread. The film itself stays where it is, and nothing of it is held in memory but what is being decoded.
struct FilmConverter {
    let converter: PhotoConverter

    /// Writes the poster, the thumbnail and, where a photo of its size has one, the preview. A film of which no frame can be decoded
    /// for want of a decoder is kept with none of them: ``MadeFilm/isUnseen``.
    func convert(
        source descriptor: Int32, poster: Int32, thumbnail: Int32, preview: Int32
    ) throws(ImagingError) -> MadeFilm {
        let film = try open(descriptor)
        var made = MadeFilm(
            film: film.facts, facts: PictureFacts(film), width: 0, height: 0, thumbnailWidth: 0, thumbnailHeight: 0,
            isUnseen: false)
        do throws(ImagingError) {
            let frame = try posterFrame(of: film)
            let converted = UnsafeMutablePointer<UInt8>.allocate(capacity: frame.width * 3)
            defer { converted.deallocate() }
            let pictures = try converter.makePictures(
                of: picture(of: frame, in: film, converted), photo: poster, thumbnail: thumbnail, preview: preview)
            (made.width, made.height) = (pictures.width, pictures.height)
            (made.thumbnailWidth, made.thumbnailHeight) = (pictures.thumbnailWidth, pictures.thumbnailHeight)
        } catch .unsupported(let words) {
            // It plays elsewhere, or will here one day: a film that exists once is taken.
            guard let size = film.shownSize, size.width <= ImageLimits.side, size.height <= ImageLimits.side else {
                // Not as unsupported, which of a film says that it is sound alone.
                throw .damaged(words)
            }
            (made.width, made.height) = size
            made.isUnseen = true
        }
        return made
    }

    /// What a film of the library's own says of itself.
    func readFacts(source descriptor: Int32) throws(ImagingError) -> PictureFacts {
        PictureFacts(try open(descriptor))
    }

    private func open(_ descriptor: Int32) throws(ImagingError) -> Film {
        var status = stat()
        guard ccell_status(descriptor, &status) == 0 else { throw .io("the film: " + String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unsupported("it is not a regular file") }
        guard status.st_size > 0 else { throw .damaged("it is empty") }
        return try Film(descriptor: descriptor, size: Int64(status.st_size))
    }

    // MARK: The poster

    /// Frames that a decoder holds at once at most: those that others refer to, and the one under way.
    private static let framesHeld: Int64 = 18
    /// Below, a frame is black, or one colour. Video's black is 16, and a film's first frames often are.
    private static let darkest: Int32 = 28
    private static let flattest: Int32 = 8

    /// The first frame that shows something: at a tenth of the film or after a second, whichever is sooner, then further on. Where
    /// none does, the one with the most in it.
    private func posterFrame(of film: Film) throws(ImagingError) -> DecodedFrame {
        try askForMemory(film)
        try film.begin()
        let duration = film.duration ?? 0
        let times = [min(1_000, duration / 10)] + [25, 50, 75, 5].map { duration * $0 / 100 }
        var best: Int32 = -1
        var failure: ImagingError?
        for time in duration > 0 ? times : [0] {
            do throws(ImagingError) {
                let look = try film.decode(at: time)
                if look.contrast > best {
                    best = look.contrast
                    film.keep()
                }
                if look.light >= Self.darkest, look.contrast >= Self.flattest { break }
            } catch .damaged(let words) {
                // A film that is cut has frames in its beginning.
                failure = .damaged(words)
            }
        }
        guard best >= 0 else { throw failure ?? .damaged("it has no frame") }
        return try film.keptPicture()
    }

    /// For frames, and for one as RGB. What is over is refused by the kernel, and tried again with all that there is.
    private func askForMemory(_ film: Film) throws(ImagingError) {
        let pixels = Int64(film.header.width) * Int64(film.header.height)
        let (frames, overflow) = film.header.frame_bytes.multipliedReportingOverflow(by: Self.framesHeld)
        let needed = overflow ? Int64.max / 2 : frames + pixels * 3
        guard needed > ImageLimits.freeAllowance else { return }
        let granted = try converter.ask(Int(needed))
        guard granted < needed, let size = film.shownSize else { return }
        throw .needsMemory(
            "\(size.width) x \(size.height) pixels: \(needed >> 20) MiB of \(granted >> 20)",
            UnseenPicture(
                mediaType: film.header.container.mediaType, width: size.width, height: size.height,
                facts: PictureFacts(film)))
    }

    /// - Parameter converted: room for a row.
    private func picture(
        of frame: DecodedFrame, in film: Film, _ converted: UnsafeMutablePointer<UInt8>
    ) -> DecodedPicture {
        let range = StandardRange(frame.light)
        return DecodedPicture(
            width: frame.width, height: frame.height, pixelShape: film.pixelShape,
            orientation: Int(film.header.orientation)
        ) { line in
            let row = frame.row(line)
            guard let range else { return row }
            range.convert(row, into: converted, pixels: frame.width)
            return UnsafePointer(converted)
        }
    }
}
