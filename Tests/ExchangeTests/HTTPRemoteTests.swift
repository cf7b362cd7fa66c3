import Exchange
import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import TestSupport
import Testing

/// What other machines' answers over real HTTP are taken for: a refusal that is final, something that passes, or nobody we know.
@Suite(.timeLimit(.minutes(2))) struct HTTPRemoteTests {
    /// - Returns: what was thrown, and whether it is about that one thing alone.
    private func outcome(_ body: () async throws -> Void) async -> (status: MeshStatus, isDeclined: Bool)? {
        do {
            try await body()
            return nil
        } catch {
            return (MeshError(describing: error).status, error is HubDeclined)
        }
    }

    private static let questions: [ScriptedHub.Question] = [
        .groups, .photos, .send, .leave, .picture, .reviews, .takeReviews,
    ]

    /// What is expected of every question; of a picture, and of what is about a part of the hub, where that is something else.
    struct Case: Sendable, CustomTestStringConvertible {
        let answer: ScriptedHub.Answer
        let status: MeshStatus
        var picture: MeshStatus?
        var isDeclined = false
        var isDeclinedForPicture = false

        var testDescription: String { "\(answer)" }
    }

    static let cases: [Case] = [
        Case(answer: .page("200 OK"), status: .failedPrecondition, isDeclinedForPicture: true),
        Case(answer: .page("404 Not Found"), status: .failedPrecondition),
        Case(answer: .page("413 Content Too Large"), status: .failedPrecondition),
        Case(answer: .page("400 Bad Request"), status: .failedPrecondition),
        Case(
            answer: .page("401 Unauthorized"), status: .permissionDenied, picture: .failedPrecondition,
            isDeclinedForPicture: true),
        Case(answer: .page("500 Internal Server Error"), status: .unavailable, isDeclinedForPicture: true),
        Case(answer: .page("429 Too Many Requests"), status: .unavailable, isDeclinedForPicture: true),
        Case(answer: .page("503 Service Unavailable"), status: .unavailable, isDeclinedForPicture: true),
        Case(answer: .redirect("https://other.example/"), status: .failedPrecondition),
        Case(answer: .redirect("file:///etc/passwd"), status: .failedPrecondition),
        Case(answer: .silence, status: .deadlineExceeded),
        Case(answer: .reset, status: .unavailable),
        Case(answer: .refusal("401 Unauthorized", .unauthenticated), status: .unauthenticated),
        Case(answer: .refusal("404 Not Found", .notFound), status: .notFound),
        Case(answer: .refusal("409 Conflict", .alreadyExists), status: .alreadyExists),
        Case(answer: .refusal("400 Bad Request", .invalidArgument), status: .invalidArgument),
        Case(answer: .refusal("413 Content Too Large", .resourceExhausted), status: .invalidArgument),
        Case(
            answer: .refusal("429 Too Many Requests", .resourceExhausted, headers: ["Retry-After: 3600"]),
            status: .unavailable, isDeclined: true, isDeclinedForPicture: true),
        Case(
            answer: .refusal("501 Not Implemented", .unimplemented), status: .unavailable, isDeclined: true,
            isDeclinedForPicture: true),
        Case(
            answer: .refusal("503 Service Unavailable", .unavailable), status: .unavailable, isDeclined: true,
            isDeclinedForPicture: true),
        Case(
            answer: .refusal("507 Insufficient Storage", .resourceExhausted), status: .unavailable, isDeclined: true,
            isDeclinedForPicture: true),
    ]

    @Test(arguments: cases) func whatAnAnswerIsTakenFor(_ row: Case) async throws {
        let folder = try TemporaryFolder("remote")
        let hub = try ScriptedHub(picture: Data("no picture".utf8), at: Timestamp(milliseconds: 1_800_000_000_000))
        for question in Self.questions { hub.answer(question, row.answer) }
        let address = try HubAddress(hub.address)
        let token = String(repeating: "t", count: 43)
        let time = Duration.milliseconds(row.answer.isSilent ? 200 : 20_000)
        let remote = try HTTPGroupRemote(address, token: token, questionTime: time, pictureTime: time)
        let reviews = try HTTPReviewRemote(address, token: token, questionTime: time)
        let photo = hub.photo()
        let file = OwnedFile(owning: open(folder.file("picture"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        let outgoing = OutgoingPhoto(id: photo.id, groupId: hub.group, ageMs: 0, utcOffset: nil, size: 0)
        let changes = ReviewChanges(sessions: [], decisions: [], undone: [], next: "", more: false)
        for question in Self.questions {
            let found = await outcome {
                switch question {
                case .groups: _ = try await remote.groups(utcOffset: 0)
                case .photos: _ = try await remote.photos(of: hub.group, utcOffset: 0)
                case .send: _ = try await remote.send(outgoing, file)
                case .leave: try await remote.leave(hub.group)
                case .picture: try await remote.fetch(photo, into: file)
                case .reviews: _ = try await reviews.changes(after: "")
                case .takeReviews: try await reviews.take(changes)
                }
            }
            let isPart = [.photos, .send, .leave].contains(question)
            let isPicture = question == .picture
            #expect(found?.status == (isPicture ? row.picture : nil) ?? row.status, "\(question)")
            #expect(
                found?.isDeclined == (isPicture ? row.isDeclinedForPicture : isPart && row.isDeclined), "\(question)")
        }
        await remote.close()
        await reviews.close()
    }

    @Test(arguments: ["{}", "7", #"{"photos": {}, "groups": 7, "sessions": "x"}"#, #"[{"id": 1}]"#, "null", ""])
    func whatIsNoAnswerOfAHub(_ text: String) async throws {
        let hub = try ScriptedHub(picture: Data(), at: Timestamp(milliseconds: 1_800_000_000_000))
        for question in [ScriptedHub.Question.groups, .photos, .reviews, .takeReviews] {
            hub.answer(question, .json(text))
        }
        let address = try HubAddress(hub.address)
        let token = String(repeating: "t", count: 43)
        let (remote, reviews) = (
            try HTTPGroupRemote(address, token: token), try HTTPReviewRemote(address, token: token)
        )
        let changes = ReviewChanges(sessions: [], decisions: [], undone: [], next: "", more: false)
        #expect(await status { _ = try await remote.groups(utcOffset: 0) } == .failedPrecondition)
        #expect(await status { _ = try await remote.photos(of: hub.group, utcOffset: 0) } == .failedPrecondition)
        #expect(await status { _ = try await reviews.changes(after: "") } == .failedPrecondition)
        #expect(await status { try await reviews.take(changes) } == .failedPrecondition)
        await remote.close()
        await reviews.close()
    }
}
