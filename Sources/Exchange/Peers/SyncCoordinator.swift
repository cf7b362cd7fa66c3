import Executors
import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Keeps groups that other machines keep and this library together, and reviews that a person's machines have in common: when the
/// library is opened, every quarter of an hour, when something is sent or a review ends here, when somebody looks at groups, and when somebody asks. Local work
/// never waits for it: it goes by what the catalogue has.
///
/// It calls GroupStore, to have it look anew, and SwipeSessionRecorder, which enters what came. It says when machines are asked;
/// `SyncPeers` asks them, and what happens in one turn is in `HubSync.swift` and `ReviewSync.swift`.
public actor SyncCoordinator: MeshService {
    public static let serviceName = "SyncCoordinator"
    public static var messages: MessageList<SyncCoordinator> {
        JoinGroups.self
        ListGroupHubs.self
        ForgetGroupHub.self
        SyncGroups.self
        JoinReviews.self
        LeaveReviews.self
        SyncReviews.self
    }

    /// Seconds between two times that all hubs are asked, and until one that has not answered is asked again.
    private static let pause = 900
    private static let pauseAfterFailure = 60
    let hubs: SyncPeers<SyncedGroups>
    let machines: SyncPeers<SyncedReviews>
    private let catalogue: any Catalogue
    private let tokens: SealedTokens
    private let looks: GroupLooks
    private var following: [Task<Void, Never>] = []
    private let nudges: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    private let reviewNudges: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    /// - Parameters:
    ///   - wall: the mesh's clock unless told.
    ///   - looks: that GroupStore notes.
    ///   - makeRemote: makes the way to a hub.
    ///   - makeReviewRemote: makes the way to another machine of the same person.
    package init(
        catalogue: any Catalogue, fields: SealedFields, namedFiles: NamedFiles, workers: any BarePictureMaker,
        files: BlockingPool, boot: BootClock = .system, wall: WallClock? = nil, looks: GroupLooks = GroupLooks(),
        makeRemote: @escaping GroupRemoteMaker,
        makeReviewRemote: @escaping ReviewRemoteMaker = { try HTTPReviewRemote($0, token: $1) }
    ) {
        self.catalogue = catalogue
        tokens = SealedTokens(catalogue: catalogue, fields: fields)
        self.looks = looks
        let folder = GroupPhotoFolder(namedFiles: namedFiles)
        hubs = SyncPeers(
            SyncedGroups(
                catalogue: catalogue, tokens: tokens, folder: folder,
                pictures: GroupPictures(folder: folder, maker: workers, files: files), files: files,
                makeRemote: makeRemote),
            boot: boot, wall: wall)
        machines = SyncPeers(
            SyncedReviews(catalogue: catalogue, tokens: tokens, makeRemote: makeReviewRemote), boot: boot, wall: wall)
        // How often does not matter, only that it was since the last look.
        nudges = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        reviewNudges = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    public func start(on mesh: Mesh) async {
        await hubs.start(on: mesh)
        await machines.start(on: mesh)
        catalogue.onCommit { [nudge = nudges.continuation, reviews = reviewNudges.continuation] parts in
            if parts.contains(.groups) { nudge.yield() }
            if parts.contains(.swipeSessions) { reviews.yield() }
        }
        following = [
            Task(executorPreference: MeshClock.executor) { [weak self, clock = mesh.clock] in
                while !Task.isCancelled, let pause = await self?.syncInTime(by: clock) {
                    // A timer by nature: what others have sent does not tell of itself.
                    try? await clock.sleep(for: pause)
                }
            },
            Task(executorPreference: MeshClock.executor) { [hubs, stream = nudges.stream] in
                for await _ in stream { await hubs.tellNews() }
            },
            // What a review has decided is told when it has ended, and not swipe by swipe.
            Task(executorPreference: MeshClock.executor) { [machines, stream = reviewNudges.stream] in
                for await _ in stream { await machines.tellNews() }
            },
            Task(executorPreference: MeshClock.executor) { [hubs, looks] in
                for await _ in looks.stream { await hubs.ask(unlessAskedWithin: looks.pause) }
            },
        ]
    }

    public func stop() async {
        nudges.continuation.finish()
        reviewNudges.continuation.finish()
        looks.finish()
        for task in following { task.cancel() }
        await hubs.cancel()
        await machines.cancel()
        for task in following { await task.value }
        await hubs.stop()
        await machines.stop()
    }

    /// Asks all hubs, and all machines that were joined for reviews.
    /// - Returns: when to do so again: not the same for everybody, or a hub would be asked by all of its members at once.
    private func syncInTime(by clock: MeshClock) async -> Duration {
        try? await tokens.sealPlain()
        async let reviewsAnswered = machines.syncAll()
        let groupsAnswered = await hubs.syncAll()
        let allAnswered = await reviewsAnswered && groupsAnswered
        let pause = allAnswered ? Self.pause : Self.pauseAfterFailure
        // By chance, as far as others can tell, and yet the same in a run that is replayed.
        let more = clock.now() % UInt64(pause / 5 + 1)
        return .seconds(pause + Int(more))
    }
}
