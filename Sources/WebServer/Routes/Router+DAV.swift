import Foundation
import ServiceMesh

/// `/dav/` and what lies below it: WebDAV for programs that upload by themselves (<doc:UploadPrograms>). The daemon says each time what
/// the program's device has sent; here its answers get WebDAV's form (RFC 4918, class 1).
extension Router {
    private static let davMethods = "OPTIONS, PROPFIND, GET, HEAD, PUT, MKCOL, MOVE"
    /// Bytes of a question, which is not read: XML that grows, or refers to elsewhere, does nothing here.
    private static let questionBytes = 64 << 10

    func dav(_ head: RequestHead, _ place: [String]) throws -> Intake {
        // Programs send neither header. A browser that was told the password must not be led here by another page.
        if head.header("origin") != nil || head.header("sec-fetch-site") != nil { try safety.checkOrigin(head) }
        if head.method == .options {
            return .respond(Response(200, headers: [Header("DAV", "1"), Header("Allow", Self.davMethods)]))
        }
        let program = try DAVProgram(head, self)
        switch head.method {
        case .propfind: return try properties(head, place, program)
        case .head, .get: return try sentFile(head, place, program)
        case .put: return try receiving(head, place, program)
        case .mkcol:
            guard head.bodyBytes == 0 else {
                throw Refusal(415, .invalidArgument, "A folder is made by its name alone: send no body.")
            }
            try program.admit()
            return .ask(bodyBytes: 0) { _ in
                await Response.of {
                    do {
                        _ = try await program.call("dav.makeFolder", ["path": .array(place.map(JSONValue.string))])
                    } catch let refusal as Refusal where refusal.error.status == .alreadyExists {
                        throw Refusal(405, refusal.error, headers: [Header("Allow", Self.davMethods)])
                    }
                    return Response(201)
                }
            }
        case .move: return try moving(head, place, program)
        case .delete, .copy, .proppatch:
            throw Refusal(
                403, .permissionDenied,
                "What was sent is not changed or deleted from here. Do that on the page, or on the device alone.")
        default: throw Self.wrongMethod(Self.davMethods)
        }
    }

    // MARK: Looking

    private func properties(_ head: RequestHead, _ place: [String], _ program: DAVProgram) throws -> Intake {
        // Without the header everything below is meant, as with `infinity`.
        guard let depth = head.header("depth"), ["0", "1"].contains(depth) else {
            return .respond(DAVAnswer.finiteDepth)
        }
        try program.admit()
        return .ask(bodyBytes: Self.questionBytes) { _ in
            await Response.of {
                let first = try await program.page(at: place, withContents: depth == "1")
                let shown = DAVAnswer.start + DAVAnswer.entry(first.file, at: place)
                let pages = DAVPages(program, place, first: first)
                return Response(
                    207,
                    headers: [
                        Header("Content-Type", "application/xml; charset=utf-8"), Header("Cache-Control", "no-store"),
                    ], body: .pages(PagedBody(first: Array(shown.utf8)) { try await pages.next() }))
            }
        }
    }

    private func sentFile(_ head: RequestHead, _ place: [String], _ program: DAVProgram) throws -> Intake {
        try program.admit()
        return .ask(bodyBytes: 0) { _ in
            await Response.of {
                let file = try await program.page(at: place, withContents: false).file
                let headers = [Header("Cache-Control", "no-store"), Header("Last-Modified", file.modified)]
                guard !file.isFolder else {
                    let text = Data("This address is for programs that upload by themselves (WebDAV).\n".utf8)
                    return Response(
                        200, headers: headers + [Header("Content-Type", "text/plain; charset=utf-8")],
                        body: .bytes(text))
                }
                // What is gone from the library is told as there, and cannot be had.
                guard head.method == .get else {
                    return Response(200, headers: headers + [Header("ETag", file.tag)], body: .size(file.size ?? 0))
                }
                let (reply, content) = try await program.open(
                    "dav.open", ["path": .array(place.map(JSONValue.string))])
                let facts = PictureFacts(
                    mediaType: reply["mediaType"]?.stringValue ?? "", size: file.size ?? 0,
                    offset: reply["offset"]?.integerValue.flatMap(UInt64.init(exactly:)),
                    contentDigest: file.version, name: file.name)
                var response = PictureResponse.make(
                    facts, content, kind: "sent", named: file.name, caching: .never, for: head)
                response.headers.append(Header("Last-Modified", file.modified))
                return response
            }
        }
    }

    // MARK: Sending

    private func receiving(_ head: RequestHead, _ place: [String], _ program: DAVProgram) throws -> Intake {
        guard head.header("content-range") == nil else {
            throw Refusal(400, .invalidArgument, "A file is sent whole. Send it from its beginning.")
        }
        guard head.header("content-length") != nil else {
            throw Refusal(411, .invalidArgument, "Say with Content-Length how many bytes the file has.")
        }
        guard let size = Int64(exactly: head.bodyBytes) else {
            throw Refusal(413, .invalidArgument, "No file is that large.")
        }
        guard !head.path.hasSuffix("/") else {
            throw Refusal(405, .invalidArgument, "This is a folder's address. Send a file under a name in it.")
        }
        try program.admit()
        var params: [String: JSONValue] = ["path": .array(place.map(JSONValue.string)), "size": .integer(size)]
        let modified = head.header("x-oc-mtime").flatMap(Self.moment)
        if let modified { params["modifiedAt"] = .string(modified.description) }
        if head.header("if-none-match") == "*" { params["onlyNew"] = true }
        return .stream(
            DAVReceiver(program: program, params: params, bytes: head.bodyBytes, keepsTime: modified != nil, disk: disk)
        )
    }

    /// Seconds since 1970, perhaps with a fraction, as Nextcloud's programs and rclone tell them.
    static func moment(_ text: String) -> Timestamp? {
        guard let seconds = Double(text), seconds.isFinite, (0...253_402_300_799).contains(seconds) else { return nil }
        return Timestamp(milliseconds: Int64((seconds * 1_000).rounded()))
    }

    private func moving(_ head: RequestHead, _ place: [String], _ program: DAVProgram) throws -> Intake {
        guard let text = head.header("destination") else {
            throw Refusal(400, .invalidArgument, "The header Destination says what the file is to be called.")
        }
        let to = try DAVPath.destination(text, host: head.header("host"))
        let replaces = head.header("overwrite")?.uppercased() != "F"
        try program.admit()
        return .ask(bodyBytes: 0) { _ in
            await Response.of {
                let reply = try await program.call(
                    "dav.move",
                    [
                        "from": .array(place.map(JSONValue.string)), "to": .array(to.map(JSONValue.string)),
                        "replaces": .bool(replaces),
                    ])
                return Response(reply["isNew"] == true ? 201 : 204)
            }
        }
    }
}

/// The entries of a folder, page by page.
private actor DAVPages {
    private let program: DAVProgram
    private let place: [String]
    private var waiting: DAVPage?
    private var hasEnded = false

    init(_ program: DAVProgram, _ place: [String], first: DAVPage) {
        self.program = program
        self.place = place
        waiting = first
    }

    /// - Returns: nil at the end.
    func next() async throws -> [UInt8]? {
        guard !hasEnded else { return nil }
        guard let page = waiting else {
            hasEnded = true
            return Array(DAVAnswer.end.utf8)
        }
        var text = ""
        for file in page.contents { text += DAVAnswer.entry(file, at: place + [file.name]) }
        waiting = nil
        if let after = page.next { waiting = try await program.page(at: place, after: after, withContents: true) }
        if text.isEmpty { return try await next() }
        return Array(text.utf8)
    }
}
