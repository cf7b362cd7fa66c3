import ServiceMesh
import Synchronization

/// How many pictures are in memory at once, on their way in: one of each token, so that nobody keeps the others out.
final class UploadSlots: Sendable {
    private let count: Int
    private let taken = Mutex(Set<String>())

    init(_ count: Int) { self.count = count }

    func take(for token: String) throws(Refusal) {
        try taken.withLock { (taken) throws(Refusal) in
            guard !taken.contains(token) else { throw Self.sameToken }
            guard taken.count < count else { throw Self.full }
            taken.insert(token)
        }
    }

    func give(for token: String) { taken.withLock { _ = $0.remove(token) } }

    private static let sameToken = Refusal(
        429, .resourceExhausted, "Another picture of yours is on its way in. Try again when it is there.",
        headers: [Header("Retry-After", "1")])
    private static let full = Refusal(
        503, .resourceExhausted, "Others are sending pictures just now. Try again in a moment.",
        headers: [Header("Retry-After", "1")])
}
