import Foundation

/// What is done with a request once its headers have been read.
enum Intake: Sendable {
    /// It is answered at once, on the server's own thread: nothing here may wait.
    case respond(Response)
    /// Its whole body, of so many bytes at most, is the question. The closure's task is cancelled when the client goes.
    case ask(bodyBytes: Int, @Sendable (Data) async -> Response)
    /// Its body goes where the receiver says, a piece at a time. With a number of seconds, the whole of it has to come within these;
    /// else it may take as long as the slowest client that is borne.
    case stream(any BodyReceiver, within: Int? = nil)
}

/// Takes a body that may be larger than memory. One piece is in its hands at a time; the client waits meanwhile.
protocol BodyReceiver: Sendable {
    /// Before the first byte. A response ends it here, and the body is not taken.
    func open() async -> Response?
    /// - Returns: a response where no more is wanted.
    func take(_ piece: Data) async -> Response?
    /// After the last byte.
    func finish() async -> Response
    /// The client has gone before the last byte, or the server stops. May come while a piece is in its hands, and is called
    /// on the server's own thread.
    func abandon()
}
