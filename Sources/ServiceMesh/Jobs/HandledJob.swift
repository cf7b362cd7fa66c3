import Foundation

/// A message that starts a long piece of work. Its reply is the job's id; the work goes on after the reply and
/// ends in exactly one receipt, whether it finished, failed or was cancelled.
public protocol HandledJob: HandledMessage where Reply == JobStarted {
    associatedtype Receipt: JobReceipt
    /// What becomes of it when the library is closed, or killed, under it. Default: ``JobResumption/none``.
    static var resumption: JobResumption { get }
    /// Whether a line with this outcome tells of something that a person should look at. Where not all lines of a receipt
    /// can be kept, these are kept first. Default: each does.
    static func needsAttention(_ outcome: String) -> Bool
    /// The message as the job is to have it and as it is written down: with what it only names, and what may be gone when
    /// the job goes on after a restart, put in its place. Default: as it is.
    func complete(on service: Service) async throws -> Self
    /// Whether this can start now; an error here is the reply, and no job is made. Default: always.
    func prepare(on service: Service) async throws
    /// Whether a job that was broken off can go on now. A ``JobObstacle`` lets it wait; any other error ends it. Default: as
    /// ``prepare(on:)``.
    func prepareAgain(on service: Service, job: Job) async throws
    /// The work. A ``JobObstacle`` that it throws lets it wait, as one at its resumption does. Between two items it asks ``Job/mayContinue()``. Where that throws, or its task is cancelled, it stops
    /// where nothing is left half done: for a job that is interrupted by throwing on, for one that is cancelled by
    /// returning a receipt whose ending is `cancelled`.
    func run(on service: Service, job: Job) async throws -> Receipt
    /// What there is to tell of a job that ends by an error, from its lines or otherwise. Default: nil, for one that has
    /// done nothing unless it comes to its end.
    func receipt(on service: Service, failing job: Job) async -> Receipt?
}

/// Why a job that was broken off cannot go on yet, though nothing is wrong with it: a stick that is not plugged in, or
/// another job that has to end first. It waits, and is tried again by itself.
public struct JobObstacle: MeshErrorConvertible {
    public let meshError: MeshError

    /// - Parameter message: what is not there, in a sentence for people.
    public init(_ message: String) { meshError = MeshError(.unavailable, message) }
}

/// What becomes of a job when the library is closed or killed under it.
public enum JobResumption: Sendable {
    /// It is cancelled, with its receipt; killed, it ends as failed. Its message is not written down: the only
    /// choice for one that carries a secret.
    case none
    /// It runs again, and the lines of its first run are dropped. A checkpoint may spare it part of the way.
    case again
    /// It goes on, and its lines stay: it leaves out the items that have one.
    case onward
}

extension HandledJob {
    public static var kind: MessageKind { .job }
    public static var resumption: JobResumption { .none }

    public static func needsAttention(_ outcome: String) -> Bool { true }

    public func complete(on service: Service) async throws -> Self { self }

    public func prepare(on service: Service) async throws {}

    public func prepareAgain(on service: Service, job: Job) async throws { try await prepare(on: service) }

    public func receipt(on service: Service, failing job: Job) async -> Receipt? { nil }

    public func perform(on service: Service) async throws -> JobStarted {
        guard let context = CallContext.current else {
            throw MeshError(.internal, "\(Self.method) was performed outside the mesh.")
        }
        try await context.mesh.jobs.requireRoom()
        let whole = try await complete(on: service)
        try await whole.prepare(on: service)
        let params = Self.resumption == .none ? nil : try JSON.encode(whole)
        return try await context.mesh.jobs.start(whole.body(on: service), params: params, context: context)
    }

    func body(on service: Service) -> JobBody {
        JobBody(
            method: Self.method, access: Self.access, resumption: Self.resumption,
            prepareAgain: { try await self.prepareAgain(on: service, job: $0) },
            run: { job in
                let receipt = try await self.run(on: service, job: job)
                return JobBody.Outcome(ending: receipt.ending, receipt: try JSON.value(of: receipt))
            },
            receipt: { job in await self.receipt(on: service, failing: job).flatMap { try? JSON.value(of: $0) } })
    }
}

/// A job's message with its service, without their types.
struct JobBody: Sendable {
    struct Outcome: Sendable {
        let ending: JobEnding
        let receipt: JSONValue
    }

    let method: String
    let access: Role
    let resumption: JobResumption
    let prepareAgain: @Sendable (Job) async throws -> Void
    let run: @Sendable (Job) async throws -> Outcome
    /// Of a job that ends by an error.
    let receipt: @Sendable (Job) async -> JSONValue?
}
