import Foundation
import ServiceMesh

/// `GET /photos/{uuid}/{thumbnail|preview|photo|original|film|raw}`, and `/trash/…` likewise: what the daemon hands over, sent as it is.
extension Router {
    func photo(
        _ head: RequestHead, uuid: String, kind: String, _ visitor: Visitor, isTrashed: Bool = false
    ) throws -> Intake {
        guard ["thumbnail", "preview", "photo", "original", "film", "raw"].contains(kind), UUID(uuidString: uuid) != nil
        else {
            throw Refusal.notFound
        }
        let (pictures, disk) = (pictures, disk)
        return .ask(bodyBytes: 0) { _ in
            await Response.of {
                let key = isTrashed ? nil : KeptPictures.Key(head, token: visitor.token)
                // Before the daemon is asked: a picture that changes meanwhile is not kept.
                let session = try await visitor.session()
                let age = key == nil ? nil : pictures.age(session)
                let connection = try await session.connection()
                let params: JSONValue = ["uuid": .string(uuid.lowercased()), "file": .string(kind)]
                let (reply, file) = try await connection.open(
                    method: isTrashed ? "trash.open" : "photo.open", params: try JSONEncoder().encode(params))
                let facts = try JSONDecoder().decode(PictureFacts.self, from: reply)
                let response = PictureResponse.make(
                    facts, file, kind: kind, named: "\(uuid.lowercased())-\(kind)", for: head)
                guard let key, let age, key.version == facts.version,
                    let made = try? await disk.run({ Self.whole(response) })
                else { return response }
                pictures.keep(made, as: key, asOf: age, now: MonotonicClock.now())
                return Response(200, body: .made(made))
            }
        }
    }

    /// A small picture's response with its bytes in memory; nil for another. Blocks.
    private static func whole(_ response: Response) -> MadeResponse? {
        guard response.status == 200, case .file(let file, let from, let count) = response.body,
            from == 0, count <= UInt64(KeptPictures.largest)
        else { return nil }
        var bytes = Data(count: Int(count))
        let read = bytes.withUnsafeMutableBytes { room in
            file.withDescriptor { pread($0, room.baseAddress, room.count, 0) }
        }
        // One that is shorter than it was is for the way that everything else goes.
        return read == bytes.count ? MadeResponse(headers: Safety.headers + response.headers, bytes) : nil
    }
}

extension KeptPictures.Key {
    /// Nil where a request asks for more than a whole thumbnail by its version.
    init?(_ head: RequestHead, token: String) {
        guard head.method == .get, head.path.hasSuffix("/thumbnail"), head.query.count == 1,
            let version = head.argument("v"),
            ["range", "if-none-match", "if-range"].allSatisfy({ head.header($0) == nil })
        else { return nil }
        self.init(token: token, path: head.path, version: version)
    }
}

/// What the daemon says about a file that it hands over.
struct PictureFacts: Decodable {
    let mediaType: String
    /// Bytes.
    let size: UInt64
    /// Where in the file they begin; nil for its beginning.
    var offset: UInt64? = nil
    /// Of the photo: it changes whenever one of its files does.
    let contentDigest: String
    /// The photo's file name where it came from.
    let name: String?
    /// Degrees by which the photo is shown turned; nil where it is not.
    var rotation: Int? = nil

    /// What changes whenever what is shown does.
    var version: String { contentDigest + (rotation.map { "r\($0)" } ?? "") }
}

/// Whether a browser may show a picture again that it was given.
enum PictureCaching {
    /// For as long as its address names what it shows.
    case byDigest
    /// Only after it has asked whether it still may.
    case whileAsked
    case never
}

/// A picture, or a part of one.
enum PictureResponse {
    /// What browsers show as a picture or a film and as nothing else, with the usual end of a name. Anything else is only to be
    /// downloaded, whatever the daemon calls it: SVG and HTML could run here as one of our pages.
    private static let shown = [
        "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp", "image/avif": "avif",
        "image/heic": "heic", "image/heif": "heif", "image/bmp": "bmp", "image/tiff": "tiff", "image/jxl": "jxl",
        "image/jp2": "jp2",
        "video/mp4": "mp4", "video/quicktime": "mov", "video/3gpp": "3gp", "video/webm": "webm",
        "video/x-matroska": "mkv", "video/x-msvideo": "avi", "video/mp2t": "mts", "video/mpeg": "mpg",
    ]
    /// What is a download and nothing else, and called what it is.
    private static let kept = [
        "image/x-adobe-dng": "dng", "image/x-canon-cr2": "cr2", "image/x-canon-cr3": "cr3", "image/x-nikon-nef": "nef",
        "image/x-sony-arw": "arw", "image/x-fuji-raf": "raf", "image/x-olympus-orf": "orf",
        "image/x-panasonic-rw2": "rw2", "image/x-pentax-pef": "pef", "image/x-samsung-srw": "srw",
    ]
    private static let anything = "application/octet-stream"

    static func make(
        _ facts: PictureFacts, _ file: OwnedFile, kind: String, named name: String,
        caching: PictureCaching = .byDigest, for head: RequestHead
    ) -> Response {
        let type = facts.mediaType.lowercased()
        let isShown = shown[type] != nil
        // Only what a header can have; the daemon's digest is hexadecimal.
        let version = facts.version.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        let tag = "\"\(version)-\(kind)\""
        // An address with the version means these bytes for ever; they are one family's all the same.
        let isFixed = !version.isEmpty && head.argument("v") == version
        let cacheControl =
            switch caching {
            case .byDigest: isFixed ? "private, max-age=31536000, immutable" : "private, no-cache"
            case .whileAsked: "private, no-cache"
            case .never: "no-store"
            }
        var headers = [
            Header("ETag", tag), Header("Accept-Ranges", "bytes"),
            Header("Cache-Control", cacheControl),
            // Should a browser take it for a page after all, it is one that can do nothing.
            Header("Content-Security-Policy", "default-src 'none'; sandbox"),
        ]
        if EntityTag.matches(tag, head.header("if-none-match")) { return Response(304, headers: headers) }
        headers.append(Header("Content-Type", isShown || kept[type] != nil ? type : anything))
        if !isShown || head.argument("download") == "1" {
            let fallback = name + "." + (shown[type] ?? kept[type] ?? "bin")
            headers.append(Header("Content-Disposition", FileName.attachment(facts.name ?? fallback, fallback)))
        }
        let start = facts.offset ?? 0
        switch ByteRange(head, size: facts.size, tag: tag) {
        case .whole:
            return Response(200, headers: headers, body: .file(file, from: start, count: facts.size))
        case .part(let range):
            headers.append(
                Header("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(facts.size)"))
            return Response(
                206, headers: headers,
                body: .file(file, from: start + range.lowerBound, count: range.upperBound - range.lowerBound))
        case .unsatisfiable:
            return Response(
                Refusal(
                    416, .invalidArgument,
                    "The picture has \(facts.size) bytes, and none of those that were asked for.",
                    headers: [Header("Content-Range", "bytes */\(facts.size)")]))
        }
    }
}

/// Which bytes of a file a request wants.
enum ByteRange: Equatable {
    case whole
    case part(Range<UInt64>)
    case unsatisfiable

    /// One range is taken; several, other units and what cannot be read are as if nothing had been said (RFC 9110, 14.2).
    init(_ head: RequestHead, size: UInt64, tag: String) {
        self = .whole
        guard let text = head.header("range"), head.method == .get else { return }
        // A part belongs to what the browser has already, or it has to start again.
        if let condition = head.header("if-range"), condition != tag { return }
        self = Self.parse(text, size: size)
    }

    static func parse(_ text: String, size: UInt64) -> ByteRange {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return .whole }
        let ends = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return .whole
        }
        switch (UInt64(ends[0]), UInt64(ends[1])) {
        case (let first?, let last?):
            guard first <= last else { return .whole }
            return first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        case (let first?, nil):
            guard ends[1].isEmpty else { return .whole }
            return first < size ? .part(first..<size) : .unsatisfiable
        case (nil, let count?):
            guard ends[0].isEmpty else { return .whole }
            return count > 0 && size > 0 ? .part(size - min(count, size)..<size) : .unsatisfiable
        case (nil, nil): return .whole
        }
    }
}

/// Names of files that other people have chosen, in a header.
enum FileName {
    /// - Parameter fallback: for programs that know only ASCII, and where nothing of the name is left.
    static func attachment(_ name: String, _ fallback: String) -> String {
        let safe = safe(name)
        let plain = safe.isEmpty ? fallback : safe
        let ascii = plain.unicodeScalars.map { $0.isASCII && $0 != "\"" && $0 != "\\" && $0 != "%" ? $0 : "_" }
        let short = String(String.UnicodeScalarView(ascii))
        return "attachment; filename=\"\(short)\"; filename*=UTF-8''\(PercentEncoding.encode(plain))"
    }

    /// Without folders, control characters, and marks that turn text around so that `gpj.exe` reads as another name.
    static func safe(_ name: String) -> String {
        let scalars = name.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .lineSeparator, .paragraphSeparator: false
            default: scalar != "/" && scalar != "\\"
            }
        }
        let text = String(String.UnicodeScalarView(scalars)).drop { $0 == "." || $0 == " " }
        return String(text.prefix(120))
    }
}
