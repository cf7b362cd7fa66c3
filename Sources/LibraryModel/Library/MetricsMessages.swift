import ServiceMesh

/// Makes the token with which a monitor reads the figures (``ReadMetrics``). It opens nothing else. It is told here and never
/// again: its digest is kept, in a file beside the daemon's other state. The one that was made before ends.
/// Errors: `failed_precondition` where the program that has the library open keeps none.
public struct MakeMetricsToken: Message {
    public typealias Reply = MetricsToken
    public static let method = "metrics.makeToken"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Makes the token with which a monitor reads the figures, and ends the one before."
    public init() {}
}

public struct MetricsToken: Codable, Sendable, Equatable {
    /// 256 bits at random, in base64url: 43 characters.
    public let token: String
    public init(token: String) { self.token = token }
}

/// Ends the token of ``MakeMetricsToken``: nobody reads the figures by one any more. Errors: as there.
public struct ForgetMetricsToken: Message {
    public typealias Reply = ForgottenMetricsToken
    public static let method = "metrics.forgetToken"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Ends the token with which a monitor reads the figures."
    public init() {}
}

public struct ForgottenMetricsToken: Codable, Sendable, Equatable {
    /// Whether there was one.
    public let wasSet: Bool
    public init(wasSet: Bool) { self.wasSet = wasSet }
}

/// The figures of the library and the daemon in Prometheus's text format, for who shows the token. They name no photo, no category and no
/// person. For the web program, on behalf of a monitor; a person's programs ask `library.status` and `mesh.stats`.
///
/// Errors: `unauthenticated`, whatever is wrong with the token, also where none was made.
public struct ReadMetrics: Message {
    public typealias Reply = MetricsPage
    public static let method = "metrics.read"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "The figures of the library and the daemon, for who shows the token."
    public let token: String
    public init(token: String) { self.token = token }
}

public struct MetricsPage: Codable, Sendable, Equatable {
    /// Version 0.0.4 of the format.
    public let text: String
    public init(text: String) { self.text = text }
}
