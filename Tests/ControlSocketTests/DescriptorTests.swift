import CLinux
import ControlSocket
import Foundation
import ServiceMesh
import Synchronization
import TestSupport
import Testing

/// Open files beside replies.
@Suite struct DescriptorTests {
    private func withFiles(
        limits: ControlLimits = ControlLimits(), _ body: (Harness, FileService) async throws -> Void
    ) async throws {
        let service = FileService()
        let harness = try await Harness(.init(limits: limits), services: [service])
        do {
            try await body(harness, service)
        } catch {
            await harness.stop()
            throw error
        }
        await harness.stop()
    }

    @Test func aFileComesBesideItsReply() async throws {
        try await withFiles { harness, _ in
            let client = try harness.client()
            let reply = try await client.call(HandOver(text: "first"))
            #expect(try reply.file.map(content) == "first" && reply.second == nil)
            // Of two, each at its own place.
            let two = try await client.call(HandOver(text: "a", second: "b"))
            #expect(try two.file.map(content) == "a" && two.second.map(content) == "b")
        }
    }

    @Test func eachOfManyRepliesHasItsOwnFile() async throws {
        try await withFiles { harness, _ in
            let client = try harness.client()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        // Large ones between them, so that lines wait and go out in pieces.
                        if number % 3 == 0 {
                            let other = try await client.call(Fill(bytes: 200_000 + number))
                            #expect(other.text.utf8.count == 200_000 + number)
                        } else {
                            let reply = try await client.call(HandOver(text: "number \(number)"))
                            #expect(try reply.file.map(content) == "number \(number)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func whoDoesNotAskGetsNoFile() async throws {
        try await withFiles { harness, service in
            let raw = try harness.connect()
            await raw.send(request("test.handOver", params: #"{"text":"x","watched":true}"#))
            let reply = try await raw.reply()
            #expect(reply.json["result"] == ["file": .null, "second": .null] && reply.json["descriptors"] == nil)
            await service.allClosed()
            for (value, isRight) in [("false", true), ("1", false), (#""yes""#, false), ("null", false)] {
                let line =
                    #"{"jsonrpc":"2.0","id":2,"method":"test.handOver","params":{"text":"x"},"descriptors":\#(value)}"#
                let reply = try await raw.ask(line)
                #expect((reply.code == nil) == isRight && (isRight || reply.code == -32600))
            }
        }
    }

    /// The other end of a pipe tells when nobody has the file any more: neither the daemon nor the kernel on its behalf.
    @Test func filesOfAClientThatGoesAwayAreClosed() async throws {
        try await withFiles { harness, service in
            var raw: RawClient? = try harness.connect()
            let line =
                #"{"jsonrpc":"2.0","id":1,"method":"test.handOver","params":{"text":"","watched":true},"descriptors":true}"#
            await raw?.send(line)
            // It has gone out, and is never taken.
            await service.handedOver(1)
            await raw?.send(request("test.fill", id: "2", params: #"{"bytes":1000000}"#))
            await raw?.send(line.replacing(#""id":1"#, with: #""id":3"#))
            await service.handedOver(2)
            // What the kernel holds for it goes with its socket.
            raw = nil
            await service.allClosed()
        }
    }

    @Test func filesThatNobodyTakesAreBounded() async throws {
        try await withFiles(limits: ControlLimits(connectionFiles: 3)) { harness, service in
            let came = try await given(ofFive: 0, harness, service)
            #expect(came == 3)
            await service.allClosed()
        }
    }

    /// What a client had that has gone is free for the others.
    @Test func filesOfAllConnectionsAreBounded() async throws {
        try await withFiles(limits: ControlLimits(totalFiles: 3)) { harness, service in
            for round in 0...1 {
                _ = try await given(ofFive: round, harness, service, isRead: false)
                await service.allClosed()
            }
            let came = try await given(ofFive: 2, harness, service)
            #expect(came == 3)
            await service.allClosed()
        }
    }

    /// Asks for five files behind more than the kernel keeps, so that all of them wait, and goes away.
    /// - Parameter round: from 0.
    /// - Returns: how many came; the others are refused.
    private func given(
        ofFive round: Int, _ harness: Harness, _ service: FileService, isRead: Bool = true
    ) async throws -> Int {
        let raw = try harness.connect()
        for id in 1...5 {
            await raw.send(
                #"{"jsonrpc":"2.0","id":\#(id),"method":"test.handOver","params":{"text":"","watched":true,"round":\#(round)},"#
                    + #""descriptors":true}"#)
        }
        await service.holds[round].arrived(5)
        await raw.send(request("test.fill", id: "6", params: #"{"bytes":4000000}"#))
        #expect(await raw.skip(1))
        service.holds[round].open()
        await service.handedOver(5 * (round + 1))
        guard isRead else { return 0 }
        _ = await raw.line()
        var (given, refused) = (0, 0)
        for _ in 1...5 {
            let reply = try await raw.reply()
            if reply.status == "resource_exhausted" { refused += 1 }
            if reply.json["descriptors"] == 1 { given += 1 }
        }
        #expect(given + refused == 5)
        return given
    }

    @Test func noMoreThanAReplyHasRoomForAreSent() async throws {
        let files = OwnedFiles((0..<OwnedFiles.maximumCount).map { _ in OwnedFile(owning: dup(1)) })
        #expect(files.all.count == 8)
        let encoded = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode([OwnedFile(owning: -1)]))
        #expect(encoded == .array([.null]))
        #expect(throws: DecodingError.self) { try files.decode([OwnedFile].self, from: Data("[8]".utf8)) }
        #expect(throws: DecodingError.self) { try files.decode([OwnedFile].self, from: Data("[-1]".utf8)) }
        #expect(try files.decode([OwnedFile].self, from: Data("[7]".utf8)) == [files.all[7]])
    }
}

/// All that is in a file.
private func content(_ file: OwnedFile) throws -> String {
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = file.withDescriptor { pread($0, &bytes, bytes.count, 0) }
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}

/// Hands out files in memory, or ends of pipes that show when they are closed.
private actor FileService: MeshService {
    static let serviceName = "FileService"
    static let admission = AdmissionLimit(concurrent: 1000, queued: 0)
    static var messages: MessageList<FileService> {
        HandOver.self
        Fill.self
    }

    nonisolated let holds = [Gate(), Gate(), Gate()]
    private nonisolated let handed = Gate()
    private nonisolated let readers = Mutex<[Int32]>([])

    nonisolated func handedOver(_ count: Int) async { await handed.arrived(count) }

    func file(_ text: String, isWatched: Bool) throws -> OwnedFile {
        defer { handed.note() }
        if isWatched {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw MeshError(.internal, "no pipe") }
            readers.withLock { $0.append(ends[0]) }
            return OwnedFile(owning: ends[1])
        }
        let memory = clinux_memory_file("test")
        _ = Array(text.utf8).withUnsafeBytes { pwrite(memory, $0.baseAddress, $0.count, 0) }
        return OwnedFile(owning: memory)
    }

    /// Returns when nobody holds any of the watched files.
    nonisolated func allClosed() async {
        let readers = readers.withLock { $0 }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread {
                var byte: UInt8 = 0
                // Nothing is ever written, so this waits for the end.
                for reader in readers { _ = read(reader, &byte, 1) }
                continuation.resume()
            }.start()
        }
    }
}

private struct HandOver: HandledMessage {
    struct Reply: Codable, Sendable {
        let file: OwnedFile?
        let second: OwnedFile?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(file, forKey: .file)
            try container.encode(second, forKey: .second)
        }
    }

    static let method = "test.handOver"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let replySize = ReplySize.single
    static let carriesFiles = true
    static let summary = "An open file, or two."
    var text: String
    var second: String?
    var watched: Bool?
    /// Waits until that one is let go.
    var round: Int?

    func perform(on service: FileService) async throws -> Reply {
        if let round { try await service.holds[round].pass() }
        let first = try await service.file(text, isWatched: watched == true)
        guard let second else { return Reply(file: first, second: nil) }
        return Reply(file: first, second: try await service.file(second, isWatched: false))
    }
}

private struct Fill: HandledMessage {
    typealias Reply = Text
    static let method = "test.fill"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let summary = "So many bytes."
    let bytes: Int

    func perform(on service: FileService) async throws -> Text {
        Text(text: String(repeating: "x", count: bytes))
    }
}
