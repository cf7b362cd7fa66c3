import Executors
import Foundation
import ServiceMesh
import Synchronization

/// `POST /upload`, and `PATCH`, `HEAD` and `DELETE /upload/{id}`: files on their way into the daemon's keeping.
extension Router {
    func newUpload(_ head: RequestHead, _ visitor: Visitor) throws -> Intake {
        let params = try head.announcedUpload()
        return .ask(bodyBytes: 0) { _ in
            await Response.of {
                let connection = try await visitor.session().connection()
                let (reply, _) = try await connection.open(
                    method: "upload.begin", params: try JSONEncoder().encode(params))
                let begun = try JSONDecoder().decode(JSONValue.self, from: reply)
                guard let upload = begun["upload"]?.stringValue, Uploads.isID(upload) else {
                    throw MeshError(.internal, "The daemon gave the upload no id. Please report it.")
                }
                // Of a session: one that was begun before goes on where it was.
                let offset = begun["offset"]?.integerValue ?? 0
                return .json(
                    201, .object(["upload": .string(upload), "offset": .integer(offset)]),
                    headers: [Header("Location", "/upload/" + upload), Header("Upload-Offset", "\(offset)")])
            }
        }
    }

    func upload(_ head: RequestHead, _ id: String, _ visitor: Visitor) throws -> Intake {
        guard Uploads.isID(id) else { throw Refusal.notFound }
        switch head.method {
        case .patch:
            let offset = try head.number("upload-offset")
            return .stream(
                UploadReceiver(
                    id: id, offset: UInt64(offset), bytes: head.bodyBytes, visitor: visitor, uploads: uploads))
        case .delete:
            return .ask(bodyBytes: 0) { [uploads] _ in
                await Response.of {
                    let connection = try await visitor.session().connection()
                    uploads.release(id)
                    _ = try await connection.call("upload.discard", ["upload": .string(id)])
                    return Response(204)
                }
            }
        default:
            return .ask(bodyBytes: 0) { _ in
                await Response.of {
                    let connection = try await visitor.session().connection()
                    // Not by resuming it, which would end the connection that is writing.
                    guard let received = try await Uploads.received(id, on: connection) else { throw Refusal.notFound }
                    return Response(
                        200, headers: [Header("Upload-Offset", "\(received)"), Header("Cache-Control", "no-store")])
                }
            }
        }
    }
}

extension RequestHead {
    /// What `upload.begin` is to be told: a file by its name and size, or by its number in a session that has announced it.
    fileprivate func announcedUpload() throws(Refusal) -> JSONValue {
        if let session = header("upload-session") {
            guard Uploads.isID(session) else {
                throw Refusal(400, .invalidArgument, "The header Upload-Session is the UUID of a session.")
            }
            return ["name": "", "session": .string(session), "file": .integer(try number("upload-file"))]
        }
        guard let sent = header("upload-name"), let name = PercentEncoding.decode(sent), !name.isEmpty else {
            throw Refusal(400, .invalidArgument, "The header Upload-Name is the file's name, percent-encoded.")
        }
        var params: [String: JSONValue] = ["name": .string(name), "size": .integer(try number("upload-length"))]
        if let sent = header("upload-folder") {
            guard let folder = PercentEncoding.decode(sent) else {
                throw Refusal(400, .invalidArgument, "The header Upload-Folder is a folder's path, percent-encoded.")
            }
            params["folder"] = .string(folder)
        }
        if let modified = header("upload-modified") {
            guard Timestamp(rfc3339: modified) != nil else {
                throw Refusal(
                    400, .invalidArgument, "The header Upload-Modified is a time as in 2025-06-15T10:00:00Z.")
            }
            params["modifiedAt"] = .string(modified)
        }
        return .object(params)
    }

    /// A header that is a number, of bytes or of a file.
    func number(_ name: String) throws(Refusal) -> Int64 {
        guard let text = header(name), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text)
        else { throw Refusal(400, .invalidArgument, "The header \(name) is a number of bytes.") }
        return number
    }
}

/// Uploads into which something is being written.
final class Uploads: Sendable {
    let disk: BlockingPool
    /// Who writes; the last who came.
    private let writers = Mutex([String: ObjectIdentifier]())

    init(disk: BlockingPool) { self.disk = disk }

    /// From now on `writer` writes. Who did before is answered that another has come: a phone that lost its connection
    /// comes again before anybody here notices that the first has gone.
    func claim(_ id: String, _ writer: AnyObject) { writers.withLock { $0[id] = ObjectIdentifier(writer) } }

    func isClaimed(_ id: String, by writer: AnyObject) -> Bool {
        writers.withLock { $0[id] == ObjectIdentifier(writer) }
    }

    func release(_ id: String, by writer: AnyObject) {
        writers.withLock { writers in
            if writers[id] == ObjectIdentifier(writer) { writers[id] = nil }
        }
    }

    func release(_ id: String) { writers.withLock { _ = $0.removeValue(forKey: id) } }

    /// An upload that can be gone on with.
    struct Resumed {
        /// Bytes that are there.
        let offset: UInt64
        /// Bytes that may still come, and those that the disk has room for.
        let rest, room: UInt64
        let file: OwnedFile
    }

    static func resume(_ id: String, on connection: any DaemonConnection) async throws -> Resumed {
        let params: JSONValue = ["upload": .string(id)]
        let (reply, file) = try await connection.open(
            method: "upload.resume", params: try JSONEncoder().encode(params))
        let state = try JSONDecoder().decode(JSONValue.self, from: reply)
        func number(_ name: String) throws -> UInt64 {
            guard let number = state[name]?.integerValue.flatMap(UInt64.init(exactly:)) else {
                throw MeshError(.internal, "The daemon does not say how much of the upload is there. Please report it.")
            }
            return number
        }
        return Resumed(
            offset: try number("offset"), rest: try number("rest"), room: try number("room"), file: file)
    }

    /// Bytes that the daemon has; nil where the upload is not there any more.
    static func received(_ id: String, on connection: any DaemonConnection) async throws -> UInt64? {
        let reply = try await connection.call("upload.state", ["ids": [.string(id)]])
        return reply["uploads"]?.arrayValue?.first?["received"]?.integerValue.flatMap(UInt64.init(exactly:))
    }

    static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}

/// Writes the body of one `PATCH` into the file that the daemon opened for it.
private final class UploadReceiver: BodyReceiver {
    private let id: String
    private let offset: UInt64
    private let bytes: UInt64
    private let visitor: Visitor
    private let uploads: Uploads
    private let state: Mutex<(file: OwnedFile?, position: UInt64)>

    init(id: String, offset: UInt64, bytes: UInt64, visitor: Visitor, uploads: Uploads) {
        self.id = id
        self.offset = offset
        self.bytes = bytes
        self.visitor = visitor
        self.uploads = uploads
        state = Mutex((nil, offset))
    }

    func open() async -> Response? {
        do {
            let connection = try await visitor.session().connection()
            // Before the question: who wrote until now does not write on while it is answered.
            uploads.claim(id, self)
            let there = try await Uploads.resume(id, on: connection)
            guard there.offset == offset else {
                throw Refusal(
                    409, .failedPrecondition, "The upload has \(there.offset) bytes. Go on from there.",
                    headers: [Header("Upload-Offset", "\(there.offset)")])
            }
            // Before a byte of it is taken: of a body no more comes than its head says.
            guard bytes <= there.rest else {
                throw Refusal(
                    413, .invalidArgument, "\(there.rest) bytes of the upload are missing, and \(bytes) are to come.")
            }
            guard bytes <= there.room else {
                throw Refusal(
                    507, .resourceExhausted,
                    "There is not enough room on the library's disk. Free some space, then go on.")
            }
            state.withLock { $0.file = there.file }
            return nil
        } catch {
            uploads.release(id, by: self)
            return Response(Refusal(error))
        }
    }

    func take(_ piece: Data) async -> Response? {
        let file = state.withLock { $0.file }
        guard let file, uploads.isClaimed(id, by: self) else {
            return Response(Refusal(409, .failedPrecondition, "The upload goes on over another connection."))
        }
        do {
            try await uploads.disk.run { try PieceWriter.write(piece, to: file) }
            state.withLock { $0.position += UInt64(piece.count) }
            return nil
        } catch PieceWriter.Failure.ended {
            return Response(await ended())
        } catch let error as MeshError {
            return Response(Refusal(error))
        } catch {
            return Response(Refusal(MeshError(.resourceExhausted, "\(error)")))
        }
    }

    func finish() async -> Response {
        let position = state.withLock { state in
            // Closed before the answer: who asks for the import next finds nobody writing.
            state.file = nil
            return state.position
        }
        do {
            // The daemon says how many bytes were written: the last of them may be on their way through the pipe.
            guard try await received() == position else { return Response(await ended()) }
            uploads.release(id, by: self)
            return Response(
                204, headers: [Header("Upload-Offset", "\(position)"), Header("Cache-Control", "no-store")])
        } catch {
            uploads.release(id, by: self)
            return Response(Refusal(error))
        }
    }

    private func received() async throws -> UInt64? {
        try await Uploads.received(id, on: visitor.session().connection())
    }

    /// The refusal where the daemon takes no more of an upload: another connection goes on with it, its disk is full, or it was
    /// discarded.
    private func ended() async -> Refusal {
        uploads.release(id, by: self)
        do {
            guard let received = try await received() else { return .notFound }
            return Refusal(
                409, .failedPrecondition,
                "The daemon took \(received) bytes of the upload and no more here. Go on from there.",
                headers: [Header("Upload-Offset", "\(received)")])
        } catch {
            return Refusal(error)
        }
    }

    func abandon() {
        uploads.release(id, by: self)
        state.withLock { $0.file = nil }
    }
}

/// Writes bytes that came into what the daemon opened for them: a file, or a pipe. Blocks.
enum PieceWriter {
    enum Failure: Error {
        /// The daemon takes no more.
        case ended
    }

    static func write(_ piece: Data, to file: OwnedFile) throws {
        let failure = file.withDescriptor { descriptor -> Int32 in
            piece.withUnsafeBytes { bytes in
                var done = 0
                while done < bytes.count {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                    let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                    if count < 0 && errno == EINTR { continue }
                    guard count > 0 else { return count == 0 ? EIO : errno }
                    done += count
                }
                return 0
            }
        }
        switch failure {
        case 0: return
        case EPIPE: throw Failure.ended
        case ENOSPC, EDQUOT:
            throw MeshError(short: .space, "There is no room left for the upload. Free some space, then go on with it.")
        case EFBIG: throw MeshError(short: .size, "The file is larger than this machine can keep.")
        default:
            throw MeshError(
                .internal, "The upload could not be written: \(String(cString: strerror(failure))). Try again.")
        }
    }
}
