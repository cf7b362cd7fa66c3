import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// Pictures of groups, as members' machines fetch them from the hub, by `wrk` beside nginx with the same files: requests a second,
/// what the slowest wait, and memory.
struct HubMeasurement: Measurement {
    static let name = "hub"
    static let summary = "pictures of groups, fetched by their members, vs nginx with the same files"
    static let options = [
        Arguments.Option("groups", "N", "each with a picture (20)"),
        Arguments.Option("runs", "N", "of each server (5)"),
    ]
    static let quick = ["--groups", "3", "--runs", "1"]

    private static let connections = 16
    /// One, and a pause before it: an address has some thousand requests at once, and 2,000 a second after that, which would be
    /// what is measured.
    private static let seconds = 1
    private static let pause = Duration.seconds(4)

    let groups: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        groups = try arguments.number("groups", in: 1...Group.maximumCount) ?? 20
        runs = try arguments.number("runs", in: 1...100) ?? 5
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let what = "pictures of groups a second, \(Self.connections) connections"
        guard Tool.wrk.path != nil else { return [.missing(what, ours: "not measured", .wrk)] }
        guard Tool.nginx.path != nil else { return [.missing(what, ours: "not measured", .nginx)] }
        let path = work.newPath("library")
        let (token, photos) = try await makeGroups(at: path, in: work)
        let programs = try await WebPrograms.start(WebLibrary(path: path), in: work)
        defer { programs.end() }
        let server = try Nginx(root: path + "/" + GroupPhoto.folder, in: work)
        defer { server.stop() }
        let our = try Wrk(
            programs.address, photos.map { "/api/photos/\($0.groupId)/\($0.id)" }, connections: Self.connections,
            seconds: Self.seconds, header: "Authorization: Bearer " + token, in: work)
        let their = try Wrk(
            server.address, photos.map { "/\($0.id).jpg" }, connections: Self.connections, seconds: Self.seconds,
            in: work)
        note("hub: \(runs) runs of each")
        var (ours, theirs): ([Wrk.Outcome], [Wrk.Outcome]) = ([], [])
        for _ in 0..<runs {
            try await Task.sleep(for: Self.pause)
            ours.append(try our.run(in: work))
            theirs.append(try their.run(in: work))
        }
        let size = photos.map(\.fileSize).reduce(0, +) / Int64(photos.count)
        let command = "nginx -c nginx.conf & \(their); nginx.conf: \(server.configuration)"
        let rates = [ours, theirs].map { Measuring.median($0.map(\.perSecond)) }
        let waits = [ours, theirs].map { Measuring.median($0.map(\.p99)) }
        let memory = [programs.processes, server.processes].map { $0.map(ProcessFacts.memoryShare).reduce(0, +) }
        return [
            Figure(
                what + ", \(size >> 10) KiB each", ours: Format.rate(rates[0], "pictures"),
                peer: Format.rate(rates[1], "pictures"), command: command, ratio: rates[0] / rates[1]),
            .times("99 of 100 answers within", ours: waits[0], peer: waits[1]),
            Figure(
                "memory, daemon and web program", ours: Format.megabytes(memory[0]), peer: Format.megabytes(memory[1])),
        ]
    }

    /// - Returns: a member's token, and the photos.
    private func makeGroups(
        at path: String, in work: WorkFolder
    ) async throws -> (token: String, photos: [GroupPhoto]) {
        let library = try await BenchLibrary.open(at: path)
        let mesh = library.mesh
        _ = try await library.run(
            ImportPhotos(paths: [try GeneratedAlbum.make(1, pixels: "1600x1200", texture: 24, in: work)]))
        var token = ""
        var member: String?
        var photos: [GroupPhoto] = []
        for number in 0..<groups {
            let group = try await mesh.send(CreateGroup(name: "Group \(number)", firstName: "Ada"))
            let invited = try await mesh.send(
                member.map { InviteGroupMember(groupId: group.id, userId: $0) }
                    ?? InviteGroupMember(groupId: group.id, firstName: "Ben"))
            if let first = invited.token { (token, member) = (first, invited.member.userId) }
            photos.append(try await mesh.send(SendGroupPhoto(groupId: group.id, id: 1)))
        }
        await library.close()
        return (token, photos)
    }
}
