import Executors
import Files
import Foundation
import LibraryModel
import ServiceMesh

/// The figures for a monitor, and the token that it shows. It calls `LibraryOverview` and `MeshMonitor`.
///
/// Rejected: a device's token, which pairing makes: a parent's device may everything, and a monitor's configuration is read by many.
public actor MetricsStore: MeshService {
    public static let serviceName = "MetricsStore"
    public static var messages: MessageList<MetricsStore> {
        MakeMetricsToken.self
        ForgetMetricsToken.self
        ReadMetrics.self
    }

    private static let tokenBytes = 32
    private static let mostBytes = 1_024

    /// What keeps the token's digest; nil where none is kept.
    private let file: PrivateFile?
    private let files: BlockingPool
    private weak var mesh: Mesh?

    /// - Parameter tokenFile: absolute, and of this user's state; nil where the program that embeds the library has no monitor.
    package init(tokenFile: String?, files: BlockingPool) {
        self.files = files
        file = tokenFile.map {
            PrivateFile(
                path: $0, title: "The file of the monitor's token", variable: "XDG_STATE_HOME", reason: "metrics_token",
                owner: geteuid())
        }
    }

    public func start(on mesh: Mesh) { self.mesh = mesh }

    func makeToken() async throws -> MetricsToken {
        let file = try requireFile()
        let secret = BearerSecret.random(bytes: Self.tokenBytes)
        let line = secret.digest + "\n"
        try await files.run {
            try file.write { descriptor in
                var line = line
                try line.withUTF8 { try FileSystem.write(UnsafeRawBufferPointer($0), to: descriptor, file.path) }
            } place: {
                try FileSystem.rename($0, to: file.path)
            }
        }
        return MetricsToken(token: secret.text)
    }

    func forgetToken() async throws -> ForgottenMetricsToken {
        let path = try requireFile().path
        return try await files.run {
            guard try FileSystem.status(path) != nil else { return ForgottenMetricsToken(wasSet: false) }
            try FileSystem.remove(path)
            try FileSystem.sync(FileSystem.parent(of: path))
            return ForgottenMetricsToken(wasSet: true)
        }
    }

    func page(for token: String) async throws -> MetricsPage {
        guard let secret = BearerSecret(token, bytes: Self.tokenBytes), let file else { throw Self.unknown }
        // Why the file cannot be used is this machine's affair, and not said to who comes without a token.
        let kept = try? await files.run { try Self.digest(in: file) }
        try Task.checkCancellation()
        guard secret.digest == kept, let mesh else { throw Self.unknown }
        var page = PrometheusText()
        page.add(try await mesh.send(GetLibraryStatus()))
        page.add(try await mesh.send(GetMeshStatistics()))
        return MetricsPage(text: page.text)
    }

    private func requireFile() throws -> PrivateFile {
        guard let file else {
            throw MeshError(
                .failedPrecondition,
                "This program keeps no token for a monitor. Ask the figures of the daemon's socket.")
        }
        return file
    }

    private static func digest(in file: PrivateFile) throws -> String? {
        try file.read { descriptor, status in
            var room = [UInt8](repeating: 0, count: mostBytes)
            let count = pread(descriptor, &room, room.count, 0)
            guard count > 0 else { return nil }
            return String(decoding: room.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        } ?? nil
    }

    private static var unknown: MeshError {
        MeshError(.unauthenticated, "There is no such token for the figures. Make one: smilepile metrics --token")
    }
}

extension MakeMetricsToken: HandledMessage {
    public func perform(on service: MetricsStore) async throws -> MetricsToken { try await service.makeToken() }
}

extension ForgetMetricsToken: HandledMessage {
    public func perform(on service: MetricsStore) async throws -> ForgottenMetricsToken {
        try await service.forgetToken()
    }
}

extension ReadMetrics: HandledMessage {
    public func perform(on service: MetricsStore) async throws -> MetricsPage { try await service.page(for: token) }
}
