import Foundation
import HTTPClient
import ServiceMesh
import Synchronization
import TestSupport
import Testing

/// What a script has seen, for a test that waits for it.
final class Sightings<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func tell(_ value: Value) { continuation.yield(value) }

    /// One at a time. For one task.
    func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}

extension Sightings where Value == Void {
    func tell() { tell(()) }
}

extension ScriptedServer {
    func url(_ path: String = "/") throws -> HTTPURL { try HTTPURL("http://127.0.0.1:\(port)\(path)") }
}

extension HTTPClient {
    /// A GET with a body in memory.
    func get(
        _ url: HTTPURL, headers: [HTTPHeader] = [], atMost: Int = 1 << 20, within: Duration = .seconds(30)
    ) async throws(HTTPClientError) -> HTTPResponse {
        try await send(.get(url, headers: headers), receiving: .memory(atMost: atMost), within: within)
    }
}

/// A file that is received into.
struct Target {
    let folder: TemporaryFolder
    let path: String
    let file: OwnedFile

    init(_ contents: [UInt8] = [], flags: Int32 = O_RDWR) throws {
        folder = try TemporaryFolder("http")
        path = folder.file("target")
        try Data(contents).write(to: URL(fileURLWithPath: path))
        file = OwnedFile(owning: open(path, flags | O_CLOEXEC))
    }

    var contents: [UInt8] { get throws { Array(try Data(contentsOf: URL(fileURLWithPath: path))) } }
}

/// Bytes that are all over the place, and the same each time.
func sampleBytes(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
    }
}

/// The error of a request that has to fail.
func failure(
    _ work: () async throws -> HTTPResponse, sourceLocation: SourceLocation = #_sourceLocation
) async -> HTTPClientError? {
    do {
        let answer = try await work()
        Issue.record("answered with \(answer.status)", sourceLocation: sourceLocation)
    } catch {
        return error as? HTTPClientError
    }
    return nil
}
