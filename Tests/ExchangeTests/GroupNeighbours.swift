import Exchange
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import Synchronization
import TestSupport
import Testing

/// A machine that keeps a group, and machines of its members, all in this process, with a network between them that a test breaks.
final class GroupNeighbours: Sendable {
    /// One machine.
    struct House: Sendable {
        let library: PhotoLibrary
        var mesh: Mesh { library.mesh }

        func photos() async throws -> [GroupPhoto] { try await mesh.send(ListGroupPhotos()).photos }

        func groups() async throws -> [Group] { try await mesh.send(ListGroups(utcOffset: 0)).groups }

        func member(_ name: String) async throws -> GroupMember {
            let members = try await groups().flatMap(\.members)
            return try #require(members.first { $0.firstName == name })
        }

        @discardableResult
        func send(_ id: Int64 = 1, to group: String, offset: Int = 0) async throws -> GroupPhoto {
            try await mesh.send(SendGroupPhoto(groupId: group, id: id, utcOffset: offset))
        }

        /// Syncs and waits for it.
        @discardableResult
        func sync() async throws -> SyncReceipt {
            let started = try await mesh.send(SyncGroups())
            let end = try await mesh.send(WaitForJob(job: started.job))
            let receipt = try JSONEncoder().encode(end.receipt)
            return try JSONDecoder().decode(SyncReceipt.self, from: receipt)
        }

        /// Waits until it has tried by itself to reach the hub, in vain, and leaves it alone until it is asked to: what a test wants
        /// to see would else be done before, now and then.
        func untilGivenUp() async throws {
            try await mesh.firstValue(of: ObserveGroupHubs()) { $0.hubs.allSatisfy { $0.problem != nil } }
        }

        /// What was sent in vain, and why.
        func undelivered() async throws -> [UndeliveredGroupPhoto] {
            try await mesh.send(ListGroupHubs()).undelivered
        }

        func lines() async throws -> [ReceiptLine] {
            let started = try await mesh.send(SyncGroups())
            _ = try await mesh.send(WaitForJob(job: started.job))
            return try await mesh.send(GetJobReceipt(job: started.job)).lines
        }

        /// Names in `group-photos/`.
        func files() throws -> [String] {
            let path = library.path + "/group-photos"
            guard FileManager.default.fileExists(atPath: path) else { return [] }
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        }

        /// What all members should have the same of.
        func state() async throws -> [String] {
            let groups = try await groups().map { group in
                "\(group.id) \(group.name) \(group.members.map { "\($0.userId) \($0.firstName)" }.sorted())"
            }
            let photos = try await photos().map { photo in
                "\(photo.id) \(photo.groupId) \(photo.senderId) \(photo.senderName) \(photo.createdAt) \(photo.expiresAt)"
                    + " \(photo.localPath != nil) \(photo.isWaiting == true)"
            }
            return groups.sorted() + photos.sorted()
        }
    }

    static let hour: Int64 = 3_600_000
    static let address = "http://127.0.0.1:8468"

    let folder: TemporaryFolder
    let network = Network()
    let wall = SetWallClock("2026-11-22T12:00:00Z")
    let boot = SetBootClock()
    let hub: House
    let members: [House]
    let group: Group
    let tokens: [String]

    /// - Parameters:
    ///   - names: the members' first names.
    ///   - lookPause: as of `PhotoLibrary.Options`.
    init(_ names: [String] = ["Ben", "Cleo"], photos: Int = 2, lookPause: Duration = .seconds(60)) async throws {
        folder = try TemporaryFolder("neighbours")
        let album = folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: photos, to: album)
        hub = House(library: try await Self.open("hub", folder, wall, boot, network))
        network.hub.withLock { [hub] in $0 = hub.mesh }
        group = try await hub.mesh.send(CreateGroup(name: "Cousins", firstName: "Ada"))
        var (houses, tokens): ([House], [String]) = ([], [])
        try await Self.fill(hub, album)
        for name in names {
            let house = House(library: try await Self.open(name, folder, wall, boot, network, lookPause: lookPause))
            try await Self.fill(house, album)
            let invitation = try await hub.mesh.send(InviteGroupMember(groupId: group.id, firstName: name))
            tokens.append(invitation.token ?? "")
            _ = try await house.mesh.send(JoinGroups(address: Self.address, token: tokens.last ?? ""))
            houses.append(house)
        }
        members = houses
        self.tokens = tokens
    }

    private static func fill(_ house: House, _ album: String) async throws {
        let started = try await house.mesh.send(ImportPhotos(paths: [album]))
        _ = try await house.mesh.send(WaitForJob(job: started.job))
    }

    static func open(
        _ name: String, _ folder: TemporaryFolder, _ wall: SetWallClock, _ boot: SetBootClock, _ network: Network,
        lookPause: Duration = .seconds(60)
    ) async throws -> PhotoLibrary {
        var options = PhotoLibrary.Options.repeating(workers: 2)
        options.groupLookPause = lookPause
        (options.bootClock, options.wallClock) = (boot.clock, wall.clock)
        options.keyFile = folder.file("config/\(name).key")
        options.groupRemotes = { NetworkRemote(network: network, address: $0, token: $1) }
        return try await PhotoLibrary.open(at: folder.file(name), options: options)
    }

    /// Both clocks of all machines go on.
    func pass(hours: Int64) {
        wall.pass(milliseconds: hours * Self.hour)
        boot.pass(milliseconds: hours * Self.hour)
    }

    var all: [House] { [hub] + members }

    func close() async {
        for house in members.reversed() + [hub] { await house.library.close() }
    }
}

/// The way between the machines.
final class Network: Sendable {
    enum Fault: Sendable {
        /// Nothing arrives.
        case down
        /// Everything arrives, and no answer comes back.
        case answersLost
        /// A picture breaks off in the middle.
        case cut
    }

    let hub = Mutex<Mesh?>(nil)
    let fault = Mutex<Fault?>(nil)
    /// Addresses at which nothing answers.
    let gone = Mutex<Set<String>>([])
    /// Machines that are reached elsewhere than at ``GroupNeighbours/address``.
    let others = Mutex<[String: Mesh]>([:])
    /// What is held on its way, by what is asked or at which address.
    let gates = Mutex<[String: Gate]>([:])
    /// What the hub says in place of what it would.
    let groups = Mutex<[HubGroup]?>(nil)
    let photos = Mutex<[HubPhoto]?>(nil)
    let picture = Mutex<Data?>(nil)
    /// How far ahead the hub's clock is, in milliseconds.
    let lead = Mutex<Int64>(0)
    /// What was asked, by the address.
    let questions = Mutex<[String: [String]]>([:])

    static let failure = MeshError(.failedPrecondition, "The network is down.")

    private func mesh(at address: String) -> Mesh? { others.withLock { $0[address] } ?? hub.withLock { $0 } }

    func carry<Answer>(
        _ what: String, to address: HubAddress, _ question: (Mesh) async throws -> Answer
    ) async throws -> Answer {
        questions.withLock { $0[address.text, default: []].append(what) }
        await gates.withLock { $0[what] ?? $0[address.text] }?.pass()
        let fault = fault.withLock { $0 }
        let isGone = gone.withLock { $0.contains(address.text) }
        guard fault != .down, !isGone, let mesh = mesh(at: address.text) else { throw Self.failure }
        let answer = try await question(mesh)
        if fault == .answersLost { throw Self.failure }
        return answer
    }
}

struct NetworkRemote: GroupRemote {
    let network: Network
    let address: HubAddress
    let token: String

    func groups(utcOffset: Int) async throws -> [HubGroup] {
        try await network.carry("groups", to: address) { mesh in
            if let told = network.groups.withLock({ $0 }) { return told }
            return try await mesh.send(ListHubGroups(token: token, utcOffset: utcOffset)).groups
        }
    }

    func photos(of group: String, utcOffset: Int) async throws -> (photos: [HubPhoto], time: Timestamp?) {
        try await network.carry("photos", to: address) { mesh in
            let photos =
                if let told = network.photos.withLock({ $0 }) {
                    told
                } else {
                    try await mesh.send(
                        ListHubPhotos(token: token, groupId: group, utcOffset: utcOffset, unexpired: true)
                    ).photos
                }
            return (photos, nil)
        }
    }

    func fetch(_ photo: HubPhoto, into file: OwnedFile) async throws {
        try await network.carry("fetch", to: address) { mesh in
            let opened = try await mesh.send(OpenHubPhoto(token: token, photoId: photo.id))
            var bytes = try opened.content.map(Self.bytes) ?? Data()
            if let told = network.picture.withLock({ $0 }) { bytes = told }
            let isCut = network.fault.withLock { $0 == .cut }
            try Self.write(isCut ? bytes.prefix(bytes.count / 2) : bytes, to: file)
            if isCut { throw Network.failure }
        }
    }

    func send(_ photo: OutgoingPhoto, _ content: OwnedFile) async throws -> HubPhoto {
        try await network.carry("send", to: address) { mesh in
            let opened = try await mesh.send(
                ReceiveHubPhoto(token: token, groupId: photo.groupId, size: photo.size))
            if let file = opened.content { try Self.write(Self.bytes(content), to: file) }
            let sent = try await mesh.send(
                SendHubPhoto(
                    token: token, groupId: photo.groupId, upload: opened.upload, key: photo.id,
                    utcOffset: photo.utcOffset, ageMs: photo.ageMs))
            let lead = network.lead.withLock { $0 }
            return HubPhoto(
                id: sent.id, groupId: sent.groupId, senderId: sent.senderId, senderName: sent.senderName,
                url: sent.url, createdAt: Timestamp(milliseconds: sent.createdAt.milliseconds + lead),
                expiresAt: Timestamp(milliseconds: sent.expiresAt.milliseconds + lead), day: sent.day)
        }
    }

    func leave(_ group: String) async throws {
        _ = try await network.carry("leave", to: address) {
            try await $0.send(LeaveHubGroup(token: token, groupId: group))
        }
    }

    func close() async {}

    static func bytes(_ file: OwnedFile) throws -> Data {
        try file.withDescriptor { descriptor in
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Network.failure }
            var data = Data(count: Int(status.st_size))
            let read = data.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
            guard read == data.count else { throw Network.failure }
            return data
        }
    }

    static func write(_ bytes: Data, to file: OwnedFile) throws {
        let written = file.withDescriptor { descriptor in
            bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        }
        guard written == bytes.count else { throw Network.failure }
    }
}
