import CFilm
import ImageWorkerProtocol

/// A film that is open: its header, and one frame of it at a time. libavformat and libavcodec are behind `CFilm`.
final class Film {
    let header: cfilm_facts
    private let handle: OpaquePointer

    /// Reads the header.
    /// - Parameters:
    ///   - descriptor: the caller's, and open for as long as this is used.
    ///   - size: bytes of the file.
    init(descriptor: Int32, size: Int64) throws(ImagingError) {
        var opened: OpaquePointer?
        var header = cfilm_facts()
        let status = cfilm_open(descriptor, size, &opened, &header)
        guard status == cfilm_ok, let opened else { throw ImagingError(status) }
        handle = opened
        self.header = header
    }

    deinit { cfilm_close(handle) }

    /// What it says of itself under a name of libavformat's.
    func text(_ name: String) -> String? { cfilm_tag(handle, name).map { String(cString: $0) } }

    /// Milliseconds; nil where it does not say so.
    var duration: Int64? { header.duration >= 0 ? header.duration : nil }

    var facts: FilmFacts {
        let sound = Self.text(header.audio_codec)
        return FilmFacts(
            mediaType: header.container.mediaType, duration: duration, videoCodec: Self.text(header.video_codec),
            audioCodec: sound.isEmpty ? nil : sound)
    }

    /// Upright, with square pixels; nil where the header does not say it.
    var shownSize: (width: Int, height: Int)? {
        guard header.width > 0, header.height > 0 else { return nil }
        let shape = pixelShape
        let wide = shape >= 1 ? header.width : max(1, Int32((Double(header.width) * shape).rounded()))
        let high = shape >= 1 ? max(1, Int32((Double(header.height) / shape).rounded())) : header.height
        return header.orientation >= 5 ? (Int(high), Int(wide)) : (Int(wide), Int(high))
    }

    var pixelShape: Double { Double(header.pixel_width) / Double(header.pixel_height) }

    // MARK: Frames

    func begin() throws(ImagingError) { try Self.check(cfilm_begin(handle)) }

    /// Decodes the key frame at a time, in milliseconds, or before it.
    func decode(at time: Int64) throws(ImagingError) -> cfilm_look {
        var look = cfilm_look()
        try Self.check(cfilm_decode(handle, time, &look))
        return look
    }

    /// Keeps the frame that was decoded last.
    func keep() { cfilm_keep(handle) }

    /// The frame that was kept. Its rows are valid while the film is.
    func keptPicture() throws(ImagingError) -> DecodedFrame {
        var rows: UnsafePointer<UInt8>?
        var look = cfilm_look()
        var light = cfilm_ordinary
        try Self.check(cfilm_rows(handle, &rows, &look, &light))
        guard let rows else { throw .lackOfMemory }
        return DecodedFrame(rows: rows, width: Int(look.width), height: Int(look.height), light: light)
    }

    private static func check(_ status: cfilm_status) throws(ImagingError) {
        guard status == cfilm_ok else { throw ImagingError(status) }
    }

    /// C's array of characters, which Swift sees as a tuple.
    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// A frame as rows of RGB.
struct DecodedFrame {
    let rows: UnsafePointer<UInt8>
    let width: Int
    let height: Int
    let light: cfilm_light

    func row(_ number: Int) -> UnsafePointer<UInt8> { rows + number * width * 3 }
}

extension ImagingError {
    init(_ status: cfilm_status) {
        self =
            switch status {
            case cfilm_no_pictures: .unsupported(FilmFacts.soundAlone)
            case cfilm_no_decoder: .unsupported("a film in a code that is not known here, or encrypted")
            case cfilm_no_film: .damaged("what a film begins with is missing, or what it ends with")
            case cfilm_no_memory: .lackOfMemory
            case cfilm_not_readable: .io("reading the film")
            default: .damaged("its pictures cannot be read")
            }
    }
}

extension cfilm_container {
    var mediaType: String {
        switch self {
        case cfilm_quicktime: "video/quicktime"
        case cfilm_3gpp: "video/3gpp"
        case cfilm_matroska: "video/x-matroska"
        case cfilm_webm: "video/webm"
        case cfilm_avi: "video/x-msvideo"
        case cfilm_transport_stream: "video/mp2t"
        case cfilm_program_stream: "video/mpeg"
        case cfilm_asf: "video/x-ms-asf"
        default: "video/mp4"
        }
    }
}
