import Foundation
import HTTPClient
import TestSupport
import Testing

/// Transfers that end before they are done. Each server waits for the end of its connection, and tells.
@Suite(.timeLimit(.minutes(2))) struct EndingTests {
    private typealias Server = ScriptedServer

    /// How far a server gets before it says nothing more.
    enum Point: CaseIterable, Sendable {
        case accepted, asked, head, body
    }

    private func server(_ point: Point, began: Sightings<Void>, ended: Sightings<Void>) throws -> Server {
        try Server { peer in
            if point != .accepted { _ = try peer.readHead() }
            if point == .head || point == .body { try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n") }
            if point == .body { try peer.send("\r\nhello") }
            began.tell()
            peer.waitForEnd()
            ended.tell()
        }
    }

    @Test(arguments: Point.allCases) func theDeadline(point: Point) async throws {
        let (began, ended) = (Sightings<Void>(), Sightings<Void>())
        let server = try server(point, began: began, ended: ended)
        let client = try HTTPClient()
        let start = ContinuousClock.now
        let error = await failure { try await client.get(server.url(), within: .milliseconds(150)) }
        #expect(error == .timedOut && error?.isRetryable == true)
        #expect(ContinuousClock.now - start >= .milliseconds(150))
        await ended.next()
        await client.stop()
    }

    @Test func theDeadlineCoversWhatMoves() async throws {
        let server = try Server { peer in
            _ = try peer.readHead()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            repeat { try peer.send("a") } while !peer.hasEnded(after: 5)
        }
        let client = try HTTPClient()
        #expect(await failure { try await client.get(server.url(), within: .milliseconds(200)) } == .timedOut)
        await client.stop()
    }

    @Test func theDeadlineCoversWaitingForAConnection() async throws {
        let (began, ended) = (Sightings<Void>(), Sightings<Void>())
        let server = try server(.asked, began: began, ended: ended)
        var limits = HTTPClientLimits()
        limits.connectionsOfHost = 1
        let client = try HTTPClient(limits: limits)
        let first = Task { try await client.get(server.url()) }
        await began.next()
        #expect(await failure { try await client.get(server.url(), within: .milliseconds(100)) } == .timedOut)
        #expect(server.connections == 1)
        first.cancel()
        #expect(await failure { try await first.value } == .cancelled)
        await client.stop()
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func noTimeAtAll(time: Duration) async throws {
        let server = try Server { _ in Server.answer() }
        let client = try HTTPClient()
        #expect(await failure { try await client.get(server.url(), within: time) } == .timedOut)
        #expect(server.connections == 0)
        await client.stop()
    }

    @Test func tooSlow() async throws {
        let (began, ended) = (Sightings<Void>(), Sightings<Void>())
        let server = try server(.body, began: began, ended: ended)
        var limits = HTTPClientLimits()
        limits.slowSeconds = 1
        let client = try HTTPClient(limits: limits)
        #expect(await failure { try await client.get(server.url(), within: .seconds(600)) } == .timedOut)
        await ended.next()
        await client.stop()
    }

    @Test(arguments: Point.allCases) func cancellationEndsTheConnection(point: Point) async throws {
        let (began, ended) = (Sightings<Void>(), Sightings<Void>())
        let server = try server(point, began: began, ended: ended)
        let client = try HTTPClient()
        let task = Task { try await client.get(server.url(), within: .seconds(600)) }
        await began.next()
        task.cancel()
        let error = await failure { try await task.value }
        #expect(error == .cancelled && error?.isRetryable == false)
        await ended.next()
        await client.stop()
    }

    @Test func cancelledBeforeItBegan() async throws {
        let server = try Server { _ in Server.answer() }
        let client = try HTTPClient()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.get(server.url())
        }
        #expect(await failure { try await task.value } == .cancelled)
        #expect(server.connections == 0)
        await client.stop()
    }

    @Test func cancelledAnywhere() async throws {
        let server = try Server { _ in Server.answer("200 OK", "hello") }
        let client = try HTTPClient()
        // Wherever it hits, each ends once, by an answer or as cancelled, and the client works on.
        await withTaskGroup(of: Void.self) { group in
            for round in 0..<200 {
                group.addTask {
                    let task = Task { try await client.get(server.url()) }
                    for _ in 0..<(round % 20) { await Task.yield() }
                    task.cancel()
                    switch await task.result {
                    case .success(let answer): #expect(answer.data == Data("hello".utf8))
                    case .failure(let error): #expect(error as? HTTPClientError == .cancelled)
                    }
                }
            }
        }
        #expect(try await client.get(server.url()).status == 200)
        await client.stop()
    }

    @Test func stoppingEndsEverything() async throws {
        let (began, ended) = (Sightings<Void>(), Sightings<Void>())
        let server = try server(.body, began: began, ended: ended)
        var limits = HTTPClientLimits()
        limits.connectionsOfHost = 2
        let client = try HTTPClient(limits: limits)
        // One of them waits for a connection.
        let tasks = try (0..<3).map { _ in
            let url = try server.url()
            return Task { try await client.get(url, within: .seconds(600)) }
        }
        for _ in 0..<2 { await began.next() }
        await client.stop()
        for task in tasks { #expect(await failure { try await task.value } == .stopped) }
        for _ in 0..<2 { await ended.next() }
        #expect(await failure { try await client.get(server.url()) } == .stopped)
        await client.stop()
    }

    @Test func aForgottenClientClosesItsConnections() async throws {
        let ended = Sightings<Void>()
        let server = try Server { peer in
            _ = try peer.readRequest()
            try peer.send(Server.answer())
            peer.waitForEnd()
            ended.tell()
        }
        // The client goes with the last use of it, and not before its answer is there.
        #expect(try await HTTPClient().get(server.url()).status == 200)
        await ended.next()
    }

    @Test func oneMoreThanIsAllowed() async throws {
        let (began, ended) = (Sightings<Void>(), Sightings<Void>())
        let server = try server(.asked, began: began, ended: ended)
        var limits = HTTPClientLimits()
        limits.transfers = 1
        let client = try HTTPClient(limits: limits)
        for _ in 0..<2 {
            let first = Task { try await client.get(server.url()) }
            await began.next()
            let error = await failure { try await client.get(server.url()) }
            #expect(error == .busy && error?.isRetryable == true)
            first.cancel()
            _ = await first.result
        }
        await client.stop()
    }

    @Test func nobodyListens() async throws {
        let (socket, port) = try Server.bind()
        defer { close(socket) }
        let client = try HTTPClient()
        let error = await failure { try await client.get(HTTPURL("http://127.0.0.1:\(port)/")) }
        #expect(error == .cannotConnect && error?.isRetryable == true)
        await client.stop()
    }

    @Test func nobodyKnowsTheName() async throws {
        let client = try HTTPClient()
        let error = await failure { try await client.get(HTTPURL("http://host.invalid/")) }
        #expect(error == .cannotResolve && error?.isRetryable == true)
        await client.stop()
    }
}
