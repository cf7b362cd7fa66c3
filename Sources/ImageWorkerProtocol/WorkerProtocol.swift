import FoundationEssentials

// ImageWorkerProtocol is what the daemon and its image workers say to each other, and the values in it. It links
// nothing but the small half of Foundation, because every worker would pay for more.

/// What the parent asks of a worker; one line of JSON in one packet, with the descriptors beside it.
package enum WorkerRequest: Codable, Equatable {
    /// Asked of a nursery: another worker, which has the socket that comes as the one descriptor, and reductions of these shapes
    /// prepared.
    case fork(prepared: [ReductionShape])
    /// Descriptors: source, photo, thumbnail, preview.
    case convert
    /// Of a film. Descriptors: source, poster, thumbnail, preview.
    case film
    /// Descriptors: source, thumbnail. Here and in the next ones, `turned` is by how many degrees the photo is shown turned,
    /// clockwise: 0, 90, 180, 270.
    case thumbnail(turned: Int = 0)
    /// Descriptors: source, preview.
    case preview(turned: Int = 0)
    /// The library's own picture as a JPEG that holds nothing but pixels. Descriptors: source, picture.
    case bare(turned: Int = 0)
    /// The same with what the picture says of itself. Descriptors: source, picture.
    case whole(turned: Int)
    /// Descriptors: source.
    case readFacts
    /// Pixels as a screen shows them, within so many columns and rows. Descriptors: source, pixels.
    case pixels(width: Int, height: Int, turned: Int = 0)
    /// A page of a contact sheet, over pixels that are there. Descriptors: page, its ``SheetPage``, the file that it becomes, and
    /// so many fonts.
    case sheet(fonts: Int)
    /// So many bytes of memory beyond its own are there, which are fewer than the worker asked for where all of it is
    /// less. Only while it waits for that.
    case proceed(bytes: Int)

    package var descriptorCount: Int {
        switch self {
        case .convert, .film: 4
        case .thumbnail, .preview, .bare, .whole, .pixels: 2
        case .readFacts, .fork: 1
        case .sheet(let fonts): 3 + (0...SheetPage.mostFonts ~= fonts ? fonts : 0)
        case .proceed: 0
        }
    }
}

/// What a worker answers: one line of JSON in one packet.
package struct WorkerReply: Codable, Equatable {
    package enum Outcome: Codable, Equatable {
        /// Sent once, before any request, by a process that answers ``WorkerRequest/fork`` alone, when it has set itself up.
        case nursery
        /// To ``WorkerRequest/fork``: the number of the new worker's process.
        case forked(pid: Int32)
        /// Sent once, before any request, when the worker has set itself up. It answers one request and ends.
        case ready
        /// It needs so many bytes of memory beyond its own for the request that it has, and waits for
        /// ``WorkerRequest/proceed``. Twice for one request at most; the second time for less.
        case needs(bytes: Int)
        case converted(MadePhoto)
        case film(MadeFilm)
        case thumbnail(ConvertedThumbnail)
        case preview(ConvertedPreview)
        /// Also to ``WorkerRequest/whole(turned:)``.
        case bare(BarePicture)
        case facts(PictureFacts)
        case pixels(RawPixels)
        /// Of a sheet's page, that has so many bytes.
        case sheet(bytes: Int)
        case failed(ImagingError)
    }

    package var outcome: Outcome
    /// Whether the worker asked for memory in vain before it failed: with more, the answer may be another.
    package var lackedMemory: Bool?
    /// With ``Outcome/ready`` alone.
    package var cell: WorkerCell?
    /// Shapes of reductions that this worker has had to prepare for its request, ``ReductionShape/most`` at most.
    package var prepared: [ReductionShape]?

    package init(
        outcome: Outcome, lackedMemory: Bool? = nil, cell: WorkerCell? = nil, prepared: [ReductionShape]? = nil
    ) {
        self.outcome = outcome
        self.lackedMemory = lackedMemory
        self.cell = cell
        self.prepared = prepared
    }
}

package enum WorkerProtocol {
    /// Bytes of the longest line, either way.
    package static let longestLine = 16 << 10
    /// The descriptor at which a worker finds its end of the socket pair.
    package static let descriptor: Int32 = 0

    /// Of what a worker takes; any other is no answer of a worker's.
    package static let mediaTypes = Set([
        "image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/tiff", "image/heic", "image/avif",
        "image/jxl", "image/jp2",
    ]).union(rawTypes)

    /// Cameras' raw files.
    package static let rawTypes: Set<String> = [
        "image/x-adobe-dng", "image/x-canon-cr2", "image/x-canon-cr3", "image/x-nikon-nef", "image/x-sony-arw",
        "image/x-fuji-raf", "image/x-olympus-orf", "image/x-panasonic-rw2", "image/x-pentax-pef", "image/x-samsung-srw",
        "image/x-dcraw",
    ]

    /// The same of films.
    package static let filmTypes: Set<String> = [
        "video/mp4", "video/quicktime", "video/3gpp", "video/x-matroska", "video/webm", "video/x-msvideo", "video/mp2t",
        "video/mpeg", "video/x-ms-asf",
    ]

    /// A message as one line. Nil only for what JSON cannot say (a location that is not a number).
    package static func line(_ message: some Encodable) -> [UInt8]? {
        (try? JSONEncoder().encode(message)).map { Array($0) + [0x0A] }
    }

    /// A message from one line; nil where it is none of this type.
    package static func read<Message: Decodable>(_ line: some Collection<UInt8>) -> Message? {
        try? JSONDecoder().decode(Message.self, from: Data(line))
    }
}
