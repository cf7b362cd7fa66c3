/// That somebody looks at groups: GroupStore notes it, and SyncCoordinator asks the machines that keep them what is new.
///
/// No message, since the one calls the other already, and who looks waits for nothing.
package struct GroupLooks: Sendable {
    let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    /// Until the same machine is asked once more.
    let pause: Duration

    /// - Parameter pause: see ``pause``; a minute unless told.
    package init(pause: Duration = .seconds(60)) {
        // How often does not matter, only that it was since the last question.
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.pause = pause
    }

    func note() { continuation.yield() }

    func finish() { continuation.finish() }
}
