import Glibc
import ImageWorkerProtocol

// PhotoConversion decodes, reduces, turns, recolours and encodes pictures: all that touches a hostile file. It is
// linked by `smilepile-image-worker` alone. Decoders/ hold one file per type, each behind `PictureDecoder`; Pixels/ is
// what happens to decoded lines; Metadata/ reads and corrects EXIF, XMP, IPTC and PNG's texts; Worker/ is the process around it. What
// it promises is in the documentation of Imaging, which is the daemon's side of it.

/// One source file into a stored photo, its thumbnail and its preview. Runs in the worker process, on one thread.
///
/// It opens nothing: it is given descriptors, writes its outputs from their beginning, and leaves making them
/// durable to the parent, which knows when that must happen.
package final class PhotoConverter {
    /// Gets memory beyond the worker's own, and returns when it is there: bytes asked for, and bytes that there are.
    package typealias AskForMemory = (Int) throws(ImagingError) -> Int

    private let reductions: ReductionCache
    package let ask: AskForMemory

    /// - Parameters:
    ///   - reductions: those that are prepared.
    ///   - memory: nobody is asked unless told, and there is as much as all workers share.
    init(reductions: ReductionCache = ReductionCache(), memory ask: @escaping AskForMemory = PhotoConverter.unshared) {
        self.reductions = reductions
        self.ask = ask
    }

    /// For a process that is alone.
    static let unshared: @Sendable (Int) throws(ImagingError) -> Int = { bytes throws(ImagingError) in
        min(bytes, Int(ImageLimits.sharedMemory))
    }

    /// What a kept JPEG's thumbnail is made from: twice its side, so that the DCT's coarse reduction does not show.
    private static let thumbnailSourceSide = ImageLimits.thumbnailSide * 2

    /// The photo is the source byte for byte where that is a JPEG within 2048 pixels: then the parent copies it, and `photo` stays
    /// as it is. What is the only copy of a picture is not to pass through a process that has decoded a stranger's file. `preview`
    /// stays as it is where the photo has none.
    func convert(
        source descriptor: Int32, photo: Int32, thumbnail: Int32, preview: Int32
    ) throws(ImagingError) -> MadePhoto {
        var unseen: UnseenPicture?
        do {
            return try convert(
                source: descriptor, photo: photo, thumbnail: thumbnail, preview: preview, unseen: &unseen)
        } catch {
            throw error.adding(unseen)
        }
    }

    /// - Parameter unseen: what is known of it once its header is read.
    private func convert(
        source descriptor: Int32, photo: Int32, thumbnail: Int32, preview: Int32, unseen: inout UnseenPicture?
    ) throws(ImagingError) -> MadePhoto {
        let source = try SourceFile(descriptor: descriptor, memory: ask)
        // What decoders read is its memory, and nothing of it may outlive this.
        defer { withExtendedLifetime(source) {} }
        let type = try PictureType(content: source.bytes)
        let decoder = try decoder(type, source)
        var facts = PictureFacts(decoder.metadata)
        facts.film = PictureFilm(in: source.bytes)
        let orientation = Self.orientation(decoder)
        unseen = Self.unseen(decoder, type, facts)
        let keeps = type == .jpeg && decoder.size.longSide <= ImageLimits.photoSide

        let colours = ColourStep(decoder)
        let upright = decoder.size.upright(orientation)
        let whole = decoder.uprightSourceSize ?? upright
        let shown: PixelSize
        let small: EncodedThumbnail
        if keeps {
            shown = upright
            if let size = upright.preview {
                let picture = try picture(decoder, colours, orientation, of: size)
                small = try makeThumbnail(of: picture)
                try write(makePreview(of: picture, size: size), to: preview)
            } else {
                small = try makeThumbnail(decoder, colours, orientation)
            }
        } else {
            let reduced = try reduce(decoder, colours, to: ImageLimits.photoSide)
            let picture = try colours.apply(to: reduced).upright(orientation)
            small = try makeThumbnail(of: picture)
            if let size = picture.size.preview { try write(makePreview(of: picture, size: size), to: preview) }
            let carried = CarriedMetadata(decoder.metadata, upright: picture.size)
            let encoded = try EncodedJPEG(
                picture, quality: ImageLimits.photoQuality, segments: carried.segments)
            try encoded.withBytes(Output(photo).write)
            shown = picture.size
        }
        try small.jpeg.withBytes(Output(thumbnail).write)
        return MadePhoto(
            width: shown.width, height: shown.height, sourceMediaType: type.mediaType, sourceWidth: whole.width,
            sourceHeight: whole.height, keepsSource: keeps,
            freshDigest: source.isFresh ? Digest.sha256(source.bytes.buffer) : nil, facts: facts,
            shortfall: decoder.shortfall, thumbnailWidth: small.size.width, thumbnailHeight: small.size.height)
    }

    /// The thumbnail alone, of a photo that is stored already.
    /// - Parameter turned: degrees by which it is shown turned, clockwise; so too in what follows.
    func makeThumbnail(
        source descriptor: Int32, thumbnail: Int32, turned: Int = 0
    ) throws(ImagingError) -> ConvertedThumbnail {
        let source = try SourceFile(descriptor: descriptor, memory: ask, isOurs: true)
        defer { withExtendedLifetime(source) {} }
        let decoder = try decoder(PictureType(content: source.bytes), source)
        let orientation = try Self.orientation(decoder).turned(by: turned)
        let small = try makeThumbnail(decoder, ColourStep(decoder), orientation, turned: turned)
        try small.jpeg.withBytes(Output(thumbnail).write)
        return ConvertedThumbnail(
            width: small.size.width, height: small.size.height, fileSize: Int64(small.jpeg.count))
    }

    /// The preview alone, of a photo that is stored already, where it has one.
    func makePreview(
        source descriptor: Int32, preview: Int32, turned: Int = 0
    ) throws(ImagingError) -> ConvertedPreview {
        let source = try SourceFile(descriptor: descriptor, memory: ask, isOurs: true)
        defer { withExtendedLifetime(source) {} }
        let decoder = try decoder(PictureType(content: source.bytes), source)
        let orientation = try Self.orientation(decoder).turned(by: turned)
        let upright = decoder.size.upright(orientation)
        guard let size = upright.preview else {
            return ConvertedPreview(photoWidth: upright.width, photoHeight: upright.height, fileSize: nil)
        }
        let picture = try picture(decoder, ColourStep(decoder), orientation, of: size)
        let made = try makePreview(of: picture, size: size, turned: turned)
        try write(made, to: preview)
        return ConvertedPreview(
            photoWidth: upright.width, photoHeight: upright.height, fileSize: Int64(made.bytes.count))
    }

    /// The library's own picture made anew, without anything that it carries beside its pixels. Also where it could stay as it
    /// is: what a file holds in places that nobody looks at is left behind by decoding alone.
    func makeBare(source: Int32, picture: Int32, turned: Int = 0) throws(ImagingError) -> BarePicture {
        try makePicture(source: source, picture: picture, turned: turned) { _, _ in [] }
    }

    /// The library's own picture turned, with what its file says of itself: as a photo that is not stored as it came.
    func makeWhole(source: Int32, picture: Int32, turned: Int) throws(ImagingError) -> BarePicture {
        try makePicture(source: source, picture: picture, turned: turned) { metadata, size in
            CarriedMetadata(metadata, upright: size).segments
        }
    }

    private func makePicture(
        source descriptor: Int32, picture target: Int32, turned: Int,
        _ carried: (EmbeddedMetadata, PixelSize) -> [JPEGSegment]
    ) throws(ImagingError) -> BarePicture {
        let source = try SourceFile(descriptor: descriptor, memory: ask, isOurs: true)
        defer { withExtendedLifetime(source) {} }
        let decoder = try decoder(PictureType(content: source.bytes), source)
        let colours = ColourStep(decoder)
        let reduced = try reduce(decoder, colours, to: ImageLimits.photoSide)
        let orientation = try Self.orientation(decoder).turned(by: turned)
        let picture = try colours.apply(to: reduced).upright(orientation)
        let encoded = try EncodedJPEG(
            picture, quality: ImageLimits.photoQuality, segments: carried(decoder.metadata, picture.size))
        try encoded.withBytes(Output(target).write)
        return BarePicture(
            width: picture.size.width, height: picture.size.height, fileSize: Int64(encoded.count))
    }

    /// The decoder, of which no more than the header is read.
    func reader(_ type: PictureType, _ source: SourceFile) throws(ImagingError) -> any PictureDecoder {
        do {
            return try pictureDecoder(type, source)
        } catch {
            throw error.adding(type)
        }
    }

    /// The decoder, with the memory that its header asks for.
    func decoder(_ type: PictureType, _ source: SourceFile) throws(ImagingError) -> any PictureDecoder {
        let decoder = try reader(type, source)
        let needed = source.count + decoder.memory + decoder.metadata.memory + ColourStep.memory(decoder)
        if source.count > ImageLimits.freeSourceAllowance || needed > ImageLimits.freeAllowance {
            let granted = try ask(needed)
            guard granted >= needed else {
                // What it says of itself may be too much to be read as well.
                let isReadable = needed - decoder.memory <= max(granted, ImageLimits.freeAllowance)
                throw .needsMemory(
                    "\(decoder.size.width) x \(decoder.size.height) pixels: \(needed >> 20) MiB of \(granted >> 20)",
                    Self.unseen(decoder, type, isReadable ? PictureFacts(decoder.metadata) : PictureFacts()))
            }
        }
        return decoder
    }

    static func orientation(_ decoder: any PictureDecoder) -> Orientation {
        let block = decoder.metadata.exif.flatMap(ExifBlock.init)
        return decoder.metadata.isUpright ? decoder.orientation : block?.orientation ?? .upright
    }

    private static func unseen(
        _ decoder: any PictureDecoder, _ type: PictureType, _ facts: PictureFacts
    ) -> UnseenPicture {
        let size = decoder.uprightSourceSize ?? decoder.size.upright(orientation(decoder))
        return UnseenPicture(mediaType: type.mediaType, width: size.width, height: size.height, facts: facts)
    }

    private struct EncodedThumbnail {
        var jpeg: EncodedJPEG
        var size: PixelSize
    }

    private func makeThumbnail(
        _ decoder: any PictureDecoder, _ colours: ColourStep, _ orientation: Orientation, turned: Int = 0
    ) throws(ImagingError) -> EncodedThumbnail {
        let lines = try decoder.lines(atLeast: Self.thumbnailSourceSide, inks: colours.rowConverter)
        let reduced = try reduce(lines, colours, fitting: decoder.size.fitting(ImageLimits.thumbnailSide))
        return try encodedThumbnail(colours.apply(to: reduced).upright(orientation), turned: turned)
    }

    private func makeThumbnail(of picture: PlanarPicture) throws(ImagingError) -> EncodedThumbnail {
        let target = picture.size.fitting(ImageLimits.thumbnailSide)
        let shape = Reduction.Shape(
            source: picture.size, sourceKind: picture.kind, target: target, targetKind: Self.full(picture.kind))
        return try encodedThumbnail(reductions.reduction(shape).run(picture))
    }

    /// A photo's picture in its preview's size, upright.
    private func picture(
        _ decoder: any PictureDecoder, _ colours: ColourStep, _ orientation: Orientation, of size: PixelSize
    ) throws(ImagingError) -> PlanarPicture {
        // Twice its side, as of a thumbnail.
        let lines = try decoder.lines(atLeast: size.longSide * 2, inks: colours.rowConverter)
        return try colours.apply(to: reduce(lines, colours, fitting: size.upright(orientation))).upright(orientation)
    }

    /// - Parameter picture: of that size, or larger.
    private func makePreview(
        of picture: PlanarPicture, size: PixelSize, turned: Int = 0
    ) throws(ImagingError) -> EncodedWebP {
        let shape = Reduction.Shape(
            source: picture.size, sourceKind: picture.kind, target: size, targetKind: Self.halved(picture.kind))
        return try EncodedWebP(
            reductions.reduction(shape).run(picture), quality: ImageLimits.previewQuality, turned: turned)
    }

    private func write(_ made: EncodedWebP, to descriptor: Int32) throws(ImagingError) {
        try Output(descriptor).write(made.bytes)
    }

    /// The thumbnail of a photo, and its preview where it has one.
    /// - Returns: the thumbnail's size.
    func writeReductions(of picture: PlanarPicture, thumbnail: Int32, preview: Int32) throws(ImagingError) -> PixelSize
    {
        let small = try makeThumbnail(of: picture)
        if let size = picture.size.preview { try write(makePreview(of: picture, size: size), to: preview) }
        try small.jpeg.withBytes(Output(thumbnail).write)
        return small.size
    }

    private func encodedThumbnail(
        _ picture: PlanarPicture, turned: Int = 0
    ) throws(ImagingError) -> EncodedThumbnail {
        let maker = JPEGSegment(marker: JPEGSegment.comment, bytes: ThumbnailMaker.comment(turned: turned))
        return EncodedThumbnail(
            jpeg: try EncodedJPEG(picture, quality: ImageLimits.thumbnailQuality, segments: [maker]),
            size: picture.size)
    }

    private func reduce(_ decoder: any PictureDecoder, _ colours: ColourStep, to side: Int)
        throws(ImagingError) -> PlanarPicture
    {
        let lines = try decoder.lines(atLeast: side, inks: colours.rowConverter)
        return try reduce(lines, colours, fitting: decoder.size.fitting(side))
    }

    /// - Parameter colours: of a picture that is to be converted, which may want more than 8 bits for that.
    func reduce(
        _ lines: any LineSource, _ colours: ColourStep? = nil, fitting target: PixelSize
    ) throws(ImagingError) -> PlanarPicture {
        let lines = try BoxLines.covering(target, of: lines)
        let shape = Reduction.Shape(
            source: lines.size, sourceKind: lines.kind, target: target,
            targetKind: colours?.deepKind(of: lines.kind) ?? Self.full(lines.kind))
        return try reductions.reduction(shape).run(lines)
    }

    /// Chroma at full size: reduced from what the camera kept, so nothing of its colour is lost a second time.
    private static func full(_ kind: PixelKind) -> PixelKind {
        switch kind {
        case .ycc: .ycc(subsampleWidth: 0, subsampleHeight: 0)
        case .rgb, .deepRGB: .rgb
        case .grey: .grey
        }
    }

    /// Chroma at half size, which is all that a lossy WebP has.
    private static func halved(_ kind: PixelKind) -> PixelKind {
        switch kind {
        case .ycc: .ycc(subsampleWidth: 1, subsampleHeight: 1)
        case .rgb, .deepRGB: .rgb
        case .grey: .grey
        }
    }
}

extension PixelSize {
    /// Of the preview of a photo of this size; nil where it has none.
    fileprivate var preview: PixelSize? {
        ImageLimits.previewSize(ofPhoto: width, height).map { PixelSize(width: $0.width, height: $0.height) }
    }
}

extension ImagingError {
    /// With what is known of the picture, where memory was short and its type is not said yet.
    fileprivate func adding(_ known: UnseenPicture?) -> ImagingError {
        guard case .needsMemory(let words, let picture) = self, picture?.mediaType.isEmpty ?? true else { return self }
        return .needsMemory(words, known)
    }

    /// With the type of a picture that its decoder has refused.
    fileprivate func adding(_ type: PictureType) -> ImagingError {
        guard case .needsMemory(let words, var picture?) = self else { return self }
        picture.mediaType = type.mediaType
        return .needsMemory(words, picture)
    }
}
