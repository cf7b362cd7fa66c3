import Executors
import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Groups, their members and their photos of the day. It calls the services that take an upload and import it, and no others.
///
/// That a member sends one photo a day is decided by the catalogue, in the transaction that enters it
/// (`GroupStore+Sending.swift`). A photo's file is there before its row, and goes after it; what time and kills leave behind is
/// swept (`GroupStore+Cache.swift`).
public actor GroupStore: MeshService {
    public static let serviceName = "GroupStore"
    /// Most that are let in wait for the one that sends to the same group before them.
    public static let admission = AdmissionLimit(concurrent: 256, queued: 256)
    public static var messages: MessageList<GroupStore> {
        CreateGroup.self
        RenameGroup.self
        DeleteGroup.self
        LeaveGroup.self
        ListGroups.self
        GetGroup.self
        ListGroupMembers.self
        SendGroupPhoto.self
        ListGroupPhotos.self
        ListTodaysGroupPhotos.self
        OpenGroupPhoto.self
        KeepGroupPhoto.self
        ObserveGroups.self
        InviteGroupMember.self
        RemoveGroupMember.self
        ListHubGroups.self
        ListHubPhotos.self
        OpenHubPhoto.self
        ReceiveHubPhoto.self
        SendHubPhoto.self
        LeaveHubGroup.self
        RefreshGroups.self
    }

    /// The longest sleep: by the clock on the wall a night may pass in a second.
    private static let sleepAtMost: Int64 = 3_600_000

    let catalogue: any Catalogue
    let photoFiles: any PhotoFiles
    let folder: GroupPhotoFolder
    let pictures: GroupPictures
    let files: BlockingPool
    private let boot: BootClock
    private var wall: WallClock?
    let looks: GroupLooks
    unowned var mesh: Mesh?
    /// Sends that are under way, by their groups.
    var sending: [String: Task<GroupPhoto, any Error>] = [:]
    /// Photos that may have a file, and no row yet.
    var unsettled: Set<String> = []
    /// Files that members of other machines write into, the oldest first.
    var received: [ReceivedPicture] = []
    var sweeping: Task<Void, Never>?
    private var keeping: Task<Void, Never>?
    private nonisolated let observed = ObservedValue(GroupList(groups: []))
    private var lastLook = 0
    private var shownLook = 0

    /// - Parameters:
    ///   - wall: the mesh's clock unless told.
    ///   - looks: of whoever asks the machines that keep groups.
    package init(
        catalogue: any Catalogue, photoFiles: any PhotoFiles, namedFiles: NamedFiles, workers: any BarePictureMaker,
        files: BlockingPool, boot: BootClock = .system, wall: WallClock? = nil, looks: GroupLooks = GroupLooks()
    ) {
        self.catalogue = catalogue
        self.photoFiles = photoFiles
        self.looks = looks
        folder = GroupPhotoFolder(namedFiles: namedFiles)
        pictures = GroupPictures(folder: folder, maker: workers, files: files)
        self.files = files
        self.boot = boot
        self.wall = wall
    }

    public func start(on mesh: Mesh) async throws {
        self.mesh = mesh
        if wall == nil { wall = WallClock { [clock = mesh.clock] in clock.timestamp() } }
        await sweep()
        keeping = Task(executorPreference: MeshClock.executor) { [weak self, clock = mesh.clock] in
            while !Task.isCancelled, let pause = await self?.pause() {
                // A timer by nature: photos expire because time has passed.
                try? await clock.sleep(for: pause)
                if !Task.isCancelled { await self?.sweep() }
            }
        }
    }

    public func stop() async {
        keeping?.cancel()
        await keeping?.value
        observed.finish()
    }

    // MARK: Time

    var clocks: GroupTime.Clocks { GroupTime.Clocks(boot: boot, wall: wall ?? WallClock { .now() }) }

    /// Until the next photo expires or the next day begins.
    private func pause() async -> Duration {
        guard let state = try? await look(at: nil, removesExpired: false) else {
            return .milliseconds(Self.sleepAtMost)
        }
        let nextDay = GroupTime.midnight(before: state.time.wall, offset: nil).milliseconds + 86_400_000
        let ends = state.photos.map { $0.expiresAt.milliseconds - state.time.now.milliseconds }
        let left = (ends + [nextDay - state.time.wall.milliseconds]).min() ?? Self.sleepAtMost
        return .milliseconds(max(1, min(left, Self.sleepAtMost)))
    }

    // MARK: Looking

    /// Groups at one moment.
    struct State: Sendable {
        let time: GroupTime
        let groups: [StoredGroup]
        /// By the hubs' ids.
        let addresses: [String: String]
        /// Of these groups, those that have expired left out.
        let photos: [StoredGroupPhoto]
        let hasExpired: Bool

        func group(_ stored: StoredGroup, offset: Int?) -> Group {
            let day = GroupTime.day(of: time.wall, offset: offset)
            let photos = photos.filter { $0.groupId == stored.id }
            let own = stored.ownMember?.userId
            return Group(
                id: stored.id, name: stored.name, createdAt: stored.createdAt, lastPhotoDate: stored.lastPhotoDate,
                hasSentToday: photos.contains { $0.senderId == own && $0.day >= day }, photoCount: photos.count,
                members: stored.members, hub: stored.hub.map { addresses[$0] ?? "" })
        }
    }

    /// All groups, or the one of an id.
    /// - Parameter removesExpired: false where this is asked by whoever removes them.
    /// - Throws: `not_found`.
    func look(at id: String?, removesExpired: Bool = true) async throws -> State {
        let (id, clocks) = (id?.lowercased(), clocks)
        let state = try await catalogue.read { transaction in
            let groups = try id.map { [try transaction.groups.require($0)] } ?? transaction.groups.groups(nil)
            let photos = try transaction.groups.photos(of: id.map { [$0] })
            let time = try clocks.time(in: transaction)
            let living = photos.filter { $0.expiresAt > time.now }
            let hubs = try groups.contains { $0.hub != nil } ? transaction.groupHubs.all() : []
            return State(
                time: time, groups: groups,
                addresses: Dictionary(hubs.map { ($0.id, $0.address) }, uniquingKeysWith: { first, _ in first }),
                photos: living, hasExpired: living.count < photos.count)
        }
        // What has once been left out does not come back, whatever becomes of the clocks.
        if state.hasExpired && removesExpired { await sweep() }
        return state
    }

    func list(_ request: ListGroups) async throws -> GroupList {
        looks.note()
        let offset = try GroupTime.validated(offset: request.utcOffset)
        let state = try await look(at: nil)
        return GroupList(groups: state.groups.map { state.group($0, offset: offset) })
    }

    func get(_ id: String, utcOffset: Int? = nil) async throws -> Group {
        let offset = try GroupTime.validated(offset: utcOffset)
        let state = try await look(at: id)
        return state.group(state.groups[0], offset: offset)
    }

    func members(_ id: String) async throws -> GroupMemberList {
        looks.note()
        return GroupMemberList(members: try await look(at: id).groups[0].members)
    }

    func photos(_ request: ListGroupPhotos) async throws -> GroupPhotoList {
        looks.note()
        let state = try await look(at: request.groupId)
        return GroupPhotoList(photos: state.photos.map { GroupPhoto($0, at: state.time) })
    }

    func today(_ request: ListTodaysGroupPhotos) async throws -> GroupPhotoList {
        looks.note()
        let offset = try GroupTime.validated(offset: request.utcOffset)
        let state = try await look(at: request.groupId)
        let midnight = GroupTime.midnight(before: state.time.wall, offset: offset)
        return GroupPhotoList(
            photos: state.photos.filter { $0.createdAt >= midnight }.map { GroupPhoto($0, at: state.time) })
    }

    // MARK: Changing

    func create(_ request: CreateGroup) async throws -> Group {
        let name = try GroupName.validated(request.name)
        let firstName = try GroupName.validated(request.firstName, "Your first name")
        let clocks = clocks
        let id = UUID().uuidString.lowercased()
        try await catalogue.write { transaction in
            let groups = try transaction.groups.groups(nil)
            guard groups.count < Group.maximumCount else {
                throw MeshError(
                    short: .count,
                    "There are \(groups.count) groups, which is the most. Leave one: smilepile groups leave")
            }
            let now = try clocks.time(in: transaction).wall
            // What a hub calls this person is that hub's.
            let person =
                groups.lazy.filter { $0.hub == nil }.compactMap(\.ownMember).first?.userId
                ?? UUID().uuidString.lowercased()
            let own = GroupMember(userId: person, firstName: firstName, joinedAt: now, isSelf: true)
            try transaction.groups.insert(StoredGroup(id: id, name: name, createdAt: now, members: [own]))
        }
        await show()
        return try await get(id)
    }

    func rename(_ request: RenameGroup) async throws -> Group {
        let name = try GroupName.validated(request.name)
        let id = request.id.lowercased()
        try await catalogue.write { transaction in
            try Self.requireKeptHere(transaction.groups.require(id))
            try transaction.groups.rename(id, to: name)
        }
        await show()
        return try await get(id)
    }

    /// - Parameter isLeaving: whether one has to be in it.
    func remove(_ id: String, isLeaving: Bool) async throws -> Group {
        let id = id.lowercased()
        let group = try await get(id)
        let photos = try await catalogue.write { [clocks] transaction in
            let stored = try transaction.groups.require(id)
            guard !isLeaving || stored.ownMember != nil else {
                throw MeshError(
                    .failedPrecondition, "You are not in this group. Delete it here: smilepile groups delete")
            }
            let others = stored.hub == nil ? stored.members.count { !$0.isSelf } : 0
            if isLeaving && others > 0 { throw LeaveGroup.refusal(keptFor: others) }
            if !isLeaving { try Self.requireKeptHere(stored, orElse: "Leave it: smilepile groups leave") }
            if let hub = stored.hub {
                try transaction.groupHubs.addDeparture(id, from: hub)
                try transaction.noteWaiting(in: stored, at: clocks.time(in: transaction))
            }
            let photos = try transaction.groups.photos(of: id).map(\.id)
            try transaction.groups.remove([id])
            try transaction.groups.removeUnusedTokens()
            return photos
        }
        let (files, folder) = (files, folder)
        // What stays now is met by the next sweep.
        try? await uncancelled { try await files.run { folder.remove(photos) } }
        await show()
        return group
    }

    /// - Throws: `failed_precondition` where another machine does, which decides about it for all members.
    static func requireKeptHere(_ group: StoredGroup, orElse way: String = "Do it there.") throws {
        guard group.hub != nil else { return }
        throw MeshError(.failedPrecondition, "Another machine keeps this group for all its members. \(way)")
    }

    // MARK: Observing

    nonisolated func observe() -> Observation<GroupList> { observed.observe() }

    /// Publishes how groups are now.
    func show() async {
        lastLook += 1
        let look = lastLook
        guard let state = try? await self.look(at: nil, removesExpired: false) else { return }
        let list = GroupList(groups: state.groups.map { state.group($0, offset: nil) })
        // Whoever began to look later has seen all that this one has.
        guard look > shownLook else { return }
        shownLook = look
        if list != observed.current { observed.publish(list) }
    }
}

extension GroupPhoto {
    init(_ stored: StoredGroupPhoto, at time: GroupTime) {
        self.init(
            id: stored.id, groupId: stored.groupId, senderId: stored.senderId, senderName: stored.senderName,
            localPath: stored.hasFile ? GroupPhotoFolder.path(of: stored.id) : nil, remoteUrl: stored.url,
            isWaiting: stored.transfer == .outgoing ? true : nil,
            isComing: stored.transfer == .incoming ? true : nil, width: stored.width,
            height: stored.height, fileSize: stored.fileSize, createdAt: stored.createdAt,
            expiresAt: time.onWall(stored.expiresAt))
    }
}

extension RefreshGroups: HandledMessage {
    public func perform(on service: GroupStore) async throws -> Done {
        await service.evict()
        await service.show()
        return Done()
    }
}

extension CreateGroup: HandledMessage {
    public func perform(on service: GroupStore) async throws -> Group { try await service.create(self) }
}

extension RenameGroup: HandledMessage {
    public func perform(on service: GroupStore) async throws -> Group { try await service.rename(self) }
}

extension DeleteGroup: HandledMessage {
    public func perform(on service: GroupStore) async throws -> Group {
        try await service.remove(id, isLeaving: false)
    }
}

extension LeaveGroup: HandledMessage {
    public func perform(on service: GroupStore) async throws -> Group {
        try await service.remove(id, isLeaving: true)
    }
}

extension ListGroups: HandledMessage {
    public func perform(on service: GroupStore) async throws -> GroupList { try await service.list(self) }
}

extension GetGroup: HandledMessage {
    public func perform(on service: GroupStore) async throws -> Group {
        service.looks.note()
        return try await service.get(id, utcOffset: utcOffset)
    }
}

extension ListGroupMembers: HandledMessage {
    public func perform(on service: GroupStore) async throws -> GroupMemberList { try await service.members(id) }
}

extension ListGroupPhotos: HandledMessage {
    public func perform(on service: GroupStore) async throws -> GroupPhotoList { try await service.photos(self) }
}

extension ListTodaysGroupPhotos: HandledMessage {
    public func perform(on service: GroupStore) async throws -> GroupPhotoList { try await service.today(self) }
}

extension ObserveGroups: HandledObservation {
    public typealias Service = GroupStore

    public func observe(on service: GroupStore) async throws -> Observation<GroupList> {
        service.looks.note()
        return service.observe()
    }
}
