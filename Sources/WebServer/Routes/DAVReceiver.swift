import Executors
import Foundation
import ServiceMesh
import Synchronization

/// The body of a PUT: a file on its way into the daemon's keeping, whose answer comes when it is a photo of the library.
final class DAVReceiver: BodyReceiver {
    private struct State {
        var upload: String?
        var file: OwnedFile?
    }

    private let program: DAVProgram
    private let params: [String: JSONValue]
    private let bytes: UInt64
    private let keepsTime: Bool
    private let disk: BlockingPool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - params: of `dav.begin`.
    ///   - bytes: that are to come.
    ///   - keepsTime: whether the client said when the file was last written to.
    init(program: DAVProgram, params: [String: JSONValue], bytes: UInt64, keepsTime: Bool, disk: BlockingPool) {
        self.program = program
        self.params = params
        self.bytes = bytes
        self.keepsTime = keepsTime
        self.disk = disk
    }

    func open() async -> Response? {
        do {
            let (reply, file) = try await program.open("dav.begin", params)
            guard let upload = reply["upload"]?.stringValue, Uploads.isID(upload),
                let room = reply["room"]?.integerValue
            else { throw MeshError(.internal, "The daemon gave the file no id. Please report it.") }
            state.withLock { $0 = State(upload: upload, file: file) }
            guard bytes <= UInt64(max(0, room)) else {
                await discard()
                throw Refusal(
                    507, .resourceExhausted, "There is not enough room on the library's disk. Free some space first.")
            }
            return nil
        } catch {
            return Response(Refusal(error))
        }
    }

    func take(_ piece: Data) async -> Response? {
        guard let file = state.withLock({ $0.file }) else { return Response(Self.ended) }
        do {
            try await disk.run { try PieceWriter.write(piece, to: file) }
            return nil
        } catch PieceWriter.Failure.ended {
            await discard()
            return Response(Self.ended)
        } catch {
            await discard()
            return Response(Refusal(error))
        }
    }

    func finish() async -> Response {
        let upload = state.withLock { state in
            // Closed before the question: the daemon takes what is in the pipe, and finds nobody writing.
            state.file = nil
            defer { state.upload = nil }
            return state.upload
        }
        guard let upload else { return Response(Self.ended) }
        do {
            let reply = try await program.call("dav.finish", ["upload": .string(upload)])
            let sent = try JSONDecoder().decode(Finished.self, from: JSONEncoder().encode(reply))
            var headers = [Header("ETag", sent.file.tag), Header("Last-Modified", sent.file.modified)]
            if keepsTime { headers.append(Header("X-OC-MTime", "accepted")) }
            return Response(sent.isNew ? 201 : 204, headers: headers)
        } catch {
            return Response(Refusal(error))
        }
    }

    private struct Finished: Decodable {
        let file: DAVFile
        let isNew: Bool
    }

    func abandon() {
        // After an answer there is nothing left to give up.
        guard state.withLock({ $0.upload }) != nil else { return }
        Task { await discard() }
    }

    /// What cannot be given up now is given up by the daemon, a day later.
    private func discard() async {
        let upload = state.withLock { state in
            state.file = nil
            defer { state.upload = nil }
            return state.upload
        }
        if let upload { _ = try? await program.call("dav.discard", ["upload": .string(upload)]) }
    }

    private static let ended = Refusal(
        503, .unavailable, "The library takes no more of this file. Send it once more.",
        headers: [Header("Retry-After", "1")])
}
