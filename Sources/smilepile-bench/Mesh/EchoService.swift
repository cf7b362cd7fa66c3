import ServiceMesh

/// A service that does next to nothing, so that what is measured is the way there and back.
actor EchoService: MeshService {
    static let serviceName = "EchoService"
    static var messages: MessageList<EchoService> { Echo.self }

    private var total = 0

    func echo(_ number: Int) -> Int {
        total &+= number
        return total
    }
}

/// Asks for the sum of all numbers so far.
struct Echo: HandledMessage {
    typealias Reply = Int
    static let method = "echo.add"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let summary = "Answers with the sum of the numbers so far."
    let number: Int

    func perform(on service: EchoService) async throws -> Int { await service.echo(number) }
}
