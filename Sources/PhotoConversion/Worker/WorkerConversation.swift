import CLinux
import Glibc
import ImageWorkerProtocol

/// The worker's side of the socket.
package struct WorkerConversation {
    let socket: Int32

    init(socket: Int32) { self.socket = socket }

    struct Received {
        /// Nil where the line is no request that this build knows.
        var request: WorkerRequest?
        var descriptors: [Int32]
    }

    /// The next request; nil when the parent has closed its end.
    func receive() -> Received? {
        var line = [UInt8](repeating: 0, count: WorkerProtocol.longestLine)
        var descriptors = [Int32](repeating: -1, count: 8)
        var count: Int32 = 0
        let length = clinux_receive_with_descriptors(
            socket, &line, line.count, &descriptors, Int32(descriptors.count), &count)
        guard length > 0 else { return nil }
        let request: WorkerRequest? = WorkerProtocol.read(line[..<length])
        return Received(request: request, descriptors: Array(descriptors[..<Int(count)]))
    }

    /// Returns false when the parent is gone.
    func send(_ reply: WorkerReply) -> Bool {
        guard let line = WorkerProtocol.line(reply) else { return false }
        return line.withUnsafeBytes {
            clinux_send_with_descriptors(socket, $0.baseAddress, $0.count, nil, 0) == $0.count
        }
    }

    /// Asks for memory beyond the worker's own, and waits until it is there.
    /// - Returns: bytes that are there: less than was asked for, where there is no more.
    package func ask(_ bytes: Int) throws(ImagingError) -> Int {
        guard send(WorkerReply(outcome: .needs(bytes: bytes))), let received = receive(),
            case .proceed(let granted) = received.request
        else {
            throw .io("the one who asked has gone")
        }
        for descriptor in received.descriptors { close(descriptor) }
        return granted
    }
}
