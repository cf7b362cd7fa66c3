import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import ServiceMesh
import Synchronization
import Testing

/// What somebody gets of the daemon who has taken over the page's program: what the browsers have whose tokens they have seen, and
/// nothing more.
extension WebTests {
    private func knock(_ place: Installation) throws -> ControlClient {
        try ControlClient(path: ControlAddress.door(of: place.socket))
    }

    private func status(_ body: () async throws -> Void) async throws -> MeshStatus? {
        do {
            try await body()
            return nil
        } catch let error as MeshError {
            return error.status
        }
    }

    private func allowed(_ client: ControlClient) async throws -> Set<String> {
        var found: Set<String> = []
        for method in try await client.call(Discover()).methods where method.kind != .observation {
            if try await status({ _ = try await client.call(method: method.name) }) != .permissionDenied {
                found.insert(method.name)
            }
        }
        return found
    }

    private func token(_ place: Installation, _ client: ControlClient, as name: String) async throws -> PairedDevice {
        let door = try knock(place)
        defer { door.close() }
        return try await door.call(PairDevice(code: try await client.call(InviteDevice()).code, name: name))
    }

    @Test func atTheDoorOneIsNobodyUntilADeviceHasSaidWhoItIs() async throws {
        try await withPage { place, _ in
            let own = try place.client()
            let door = try knock(place)
            #expect(try await door.call(Hello()).role == "nobody")
            #expect(try await allowed(door) == DocumentedRoles.nobodys().filter { !$0.hasSuffix(".observe") })
            let stolen = place.folder.file(".profile")
            #expect(
                try await status { _ = try await door.call(CreateBackup(path: stolen)) } == .permissionDenied)
            #expect(try await status { _ = try await door.call(InviteDevice()) } == .permissionDenied)
            #expect(!FileManager.default.fileExists(atPath: stolen))

            let paired = try await token(place, own, as: "phone")
            #expect(
                try await status { _ = try await door.call(AuthenticateDevice(token: paired.token + "x")) }
                    == .unauthenticated)
            #expect(try await door.call(Hello()).role == "nobody")
            #expect(try await door.call(AuthenticateDevice(token: paired.token)) == paired.device)
            #expect(try await door.call(Hello()).role == "parent")
            #expect(try await door.call(ListTrash()).photos.isEmpty)
            for client in [own, door] { client.close() }
        }
    }

    @Test func whoIsForgottenIsNobodyBeforeTheReplyIsThere() async throws {
        try await withPage { place, _ in
            let (own, door) = (try place.client(), try knock(place))
            let paired = try await token(place, own, as: "phone")
            _ = try await door.call(AuthenticateDevice(token: paired.token))
            let (updates, told) = AsyncStream.makeStream(of: Void.self)
            let observation = Task {
                try await door.observe(ObserveCategories(), updates: JSONValue.self) { _ in told.yield() }
            }
            for await _ in updates { break }
            _ = try await own.call(ForgetDevice(id: paired.device.id))
            #expect(try await door.call(Hello()).role == "nobody")
            #expect(try await status { _ = try await observation.value } == .permissionDenied)
            #expect(
                try await status { _ = try await door.call(AuthenticateDevice(token: paired.token)) }
                    == .unauthenticated)
            for client in [own, door] { client.close() }
        }
    }

    /// Whatever the device has open when a parent changes it, and without a reload: over new connections it is what it is now.
    @Test func aDeviceThatIsChangedBeginsAnewAsWhatItIs() async throws {
        try await withPage { place, _ in
            let own = try place.client()
            let paired = try await token(place, own, as: "tablet")
            let family = try #require(try await own.call(ListCategories()).categories.first)
            let steps: [(DeviceRole, role: String, photos: Int, original: MeshStatus?, favourite: MeshStatus?)] = [
                (.parent, "parent", 3, nil, nil), (.looker, "looker", 3, nil, nil),
                (.child, "kid", 2, .permissionDenied, .permissionDenied), (.parent, "parent", 3, nil, nil),
            ]
            let photos = try await place.allPhotos(own)
            let other = try await own.call(AddCategory(displayName: "Other"))
            _ = try await own.call(MovePhotos(ids: [photos[0].id], categoryId: other.id))
            var open: (door: ControlClient, observation: Task<Done, any Error>)?
            for step in steps {
                let change = SetDeviceRole(
                    id: paired.device.id, role: step.0, categoryIds: step.0 == .child ? [family.id] : nil)
                _ = try await own.call(change)
                if let open {
                    #expect(try await status { _ = try await open.observation.value } == .unavailable)
                    await #expect(throws: (any Error).self) { try await open.door.call(ListCategories()) }
                    open.door.close()
                }
                let door = try knock(place)
                #expect(try await door.call(AuthenticateDevice(token: paired.token)).role == step.0)
                let hello = try await door.call(Hello())
                #expect(hello.role == step.role && hello.ceiling == step.role)
                #expect(try await door.call(CountPhotos()).count == step.photos)
                let seen = try #require(try await door.call(SearchPhotos()).photos.last)
                #expect(
                    try await status { _ = try await door.call(OpenPhoto(id: seen.id, .original)) } == step.original)
                // There is none, which a child is not told.
                #expect(
                    try await status { _ = try await door.call(OpenPhoto(id: seen.id, .raw)) }
                        == step.original ?? .notFound)
                let favourite = SetFavorite(ids: [seen.id], isFavorite: true)
                #expect(try await status { _ = try await door.call(favourite) } == step.favourite)
                #expect(
                    try await status { _ = try await door.call(ListTrash()) }
                        == (step.0 == .parent ? nil : .permissionDenied))
                let (updates, told) = AsyncStream.makeStream(of: Void.self)
                let observation = Task {
                    try await door.observe(ObserveCategories(), updates: JSONValue.self) { _ in told.yield() }
                }
                for await _ in updates { break }
                open = (door, observation)
            }
            open?.observation.cancel()
            for client in [own, open?.door] { client?.close() }
        }
    }

    /// What the daemon grants it is what its table of roles says, one method after the other.
    @Test(arguments: [DeviceRole.looker, .child]) func aDeviceMayWhatItsRoleMay(_ role: DeviceRole) async throws {
        try await withPage { place, _ in
            let (own, door) = (try place.client(), try knock(place))
            let family = try #require(try await own.call(ListCategories()).categories.first).id
            let invitation = InviteDevice(role: role, categoryIds: role == .child ? [family] : nil)
            let code = try await own.call(invitation).code
            let paired = try await door.call(PairDevice(code: code, name: "device"))
            _ = try await door.call(AuthenticateDevice(token: paired.token))
            let wanted = try role == .child ? DocumentedRoles.kids() : DocumentedRoles.lookers()
            let observations = try await own.call(Discover()).methods.filter { $0.kind == .observation }.map(\.name)
            #expect(try await allowed(door) == wanted.subtracting(observations))
            for client in [own, door] { client.close() }
        }
    }

    @Test func inKidsModeADeviceIsAKids() async throws {
        try await withPage { place, _ in
            let (own, before, after) = (try place.client(), try knock(place), try knock(place))
            let paired = try await token(place, own, as: "phone")
            _ = try await before.call(AuthenticateDevice(token: paired.token))
            _ = try await own.call(SetPIN(pin: PIN("4711")))
            _ = try await own.call(SetMode(mode: .kids))
            _ = try await after.call(AuthenticateDevice(token: paired.token))
            for door in [before, after] { #expect(try await door.call(Hello()).role == "kid") }
            #expect(try await status { _ = try await before.call(Unlock(pin: PIN("0000"))) } == .unauthenticated)
            let unlocked = try await after.call(Unlock(pin: PIN("4711")))
            #expect(unlocked.guesses?.map(\.device) == [paired.device.id])
            #expect(try await after.call(Hello()).role == "parent")
            #expect(try await before.call(Hello()).role == "kid")
            _ = try await after.call(SetMode(mode: .parent))
            for client in [own, before, after] { client.close() }
        }
    }

    /// What takes paths, keys and addresses is for whoever sits at this machine: a parent's browser may be somebody else's by now.
    @Test func aParentFromAfarNamesNoFilesAndNoKeys() async throws {
        try await withPage { place, _ in
            let (own, door) = (try place.client(), try knock(place))
            let paired = try await token(place, own, as: "phone")
            _ = try await door.call(AuthenticateDevice(token: paired.token))
            let passphrase = "correct horse battery"
            for (method, params) in [
                ("library.collectPaths", #"{"paths":["/root"]}"#), ("library.import", #"{"paths":["/root"]}"#),
                ("library.import", #"{"paths":[],"list":"x"}"#), ("library.migrate", #"{"database":"/etc/passwd"}"#),
                ("storage.identify", #"{"path":"/etc/passwd"}"#),
                ("key.export", #"{"passphrase":"\#(passphrase)"}"#), ("key.rotate", "{}"),
            ] {
                let refusal = try await status { _ = try await door.call(method: method, params: Data(params.utf8)) }
                #expect(refusal == .permissionDenied, "\(method): \(refusal.map { "\($0)" } ?? "done")")
            }
            // Here all of it goes as before.
            #expect(try await status { _ = try await own.call(IdentifyPath(path: "/etc/passwd")) } == nil)
            for client in [own, door] { client.close() }
        }
    }

    /// Backups go to the places that the daemon offers, under names of its own, and come from there.
    @Test func aParentFromAfarChoosesAmongThePlacesThatTheDaemonOffers() async throws {
        try await withPage { place, _ in
            let (own, door) = (try place.client(), try knock(place))
            let paired = try await token(place, own, as: "phone")
            _ = try await door.call(AuthenticateDevice(token: paired.token))
            let shelf = place.folder.file("shelf")
            try FileManager.default.createDirectory(atPath: shelf, withIntermediateDirectories: true)
            let elsewhere = place.folder.file("elsewhere")
            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)

            let profile = place.folder.file("home/.profile")
            for path in [profile, shelf, "/", "/etc", place.library] {
                #expect(
                    try await status { _ = try await door.call(CreateBackup(path: path)) } == .permissionDenied,
                    "\(path)")
                #expect(
                    try await status { _ = try await door.call(ScheduleBackups(folder: path)) } == .permissionDenied,
                    "\(path)")
                #expect(
                    try await status { _ = try await door.call(PruneBackups(folder: path, keep: 1)) }
                        == .permissionDenied, "\(path)")
            }
            #expect(!FileManager.default.fileExists(atPath: profile))

            // Whoever is at the machine has chosen a folder: it is offered from then on, and what lies in it.
            let job = try await own.call(CreateBackup(path: shelf))
            #expect(try await own.call(WaitForJob(job: job.job)).state == .finished)
            let places = try await door.call(ListBackupPlaces())
            #expect(places.folders.map(\.kind).prefix(2) == [.library, .earlier])
            #expect(places.folders[1].path == shelf && places.folders[1].isWritable)
            let backup = try #require(places.files.first?.path)
            #expect(places.files.count == 1 && backup.hasPrefix(shelf + "/"))
            #expect(try await door.call(InspectBackup(path: backup)).photoCount >= 0)
            let again = try await door.call(CreateBackup(path: shelf))
            #expect(try await door.call(WaitForJob(job: again.job)).state == .finished)
            #expect(try await door.call(ListBackupPlaces()).files.count == 2)

            // The same backup in another folder, and through a link that stands in one that is offered.
            let (copy, link) = (elsewhere + "/copy.zip", shelf + "/link.zip")
            try FileManager.default.copyItem(atPath: backup, toPath: copy)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: copy)
            for path in [copy, link, shelf + "/../elsewhere/copy.zip", shelf + "/..", "/etc/passwd", "/nowhere/x.zip"] {
                let refused = [
                    try await status { _ = try await door.call(InspectBackup(path: path)) },
                    try await status { _ = try await door.call(VerifyBackup(path: path)) },
                    try await status { _ = try await door.call(VerifyBackup(path: backup, others: [path])) },
                    try await status { _ = try await door.call(RestoreBackup(path: path)) },
                    try await status {
                        _ = try await door.call(OpenBackupKey(path: path, passphrase: "eight or more"))
                    },
                ]
                #expect(refused.allSatisfy { $0 == .permissionDenied }, "\(path): \(refused)")
            }
            #expect(try await own.call(InspectBackup(path: copy)).photoCount >= 0)
            for client in [own, door] { client.close() }
        }
    }

    /// Whatever answers at an address or does not: somebody who is not at this machine is told the same.
    @Test func aParentFromAfarLearnsNothingOfWhatAnswersInTheNetwork() async throws {
        try await withPage { place, page in
            let (own, door) = (try place.client(), try knock(place))
            let paired = try await token(place, own, as: "phone")
            _ = try await door.call(AuthenticateDevice(token: paired.token))
            let token = String(repeating: "t", count: 32)
            // A page of ours that does not know the token, and a port at which nobody is.
            let addresses = [page.address, "http://127.0.0.1:1"]
            func told(_ ask: (String) async throws -> Void) async -> Set<String> {
                var found: Set<String> = []
                for address in addresses {
                    do {
                        try await ask(address)
                        found.insert("joined")
                    } catch {
                        found.insert("\(error)".replacingOccurrences(of: address, with: "ADDRESS"))
                    }
                }
                return found
            }
            for client in [door, own] {
                let groups = await told { _ = try await client.call(JoinGroups(address: $0, token: token)) }
                let reviews = await told { _ = try await client.call(JoinReviews(address: $0, token: token)) }
                let count = client === door ? 1 : addresses.count
                #expect(groups.count == count && reviews.count == count, "\(groups) \(reviews)")
                #expect(groups == reviews || client === own)
            }
            for client in [own, door] { client.close() }
        }
    }

    /// The processes that a process has started.
    private func children(of pid: Int32) -> [Int32] {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)) ?? ""
        return text.split(separator: " ").compactMap { Int32($0) }
    }

    private func isThere(_ pid: Int32) -> Bool {
        let state = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        return !state.isEmpty && !state.contains(") Z ")
    }

    /// It makes connections and nothing else; without it the page's program is of no use, and says so instead of answering
    /// for ever that the daemon is away.
    @Test func whatConnectsOutsideOfTheCellEndsWithTheProgramAndTheProgramWithIt() async throws {
        try await withPage { place, started in
            let connector = try #require(children(of: started.pid).first)
            // The conversation and, while one is made, a connection: nothing of the program's.
            let open = "/proc/\(connector)/fd"
            for name in try FileManager.default.contentsOfDirectory(atPath: open) {
                let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(open)/\(name)")
                #expect(["0", "1"].contains(name) && file?.hasPrefix("socket:") != false, "\(name): \(file ?? "gone")")
            }
            // A terminal's Ctrl-C and a service manager's stop reach both: the program goes first.
            for signal in [SIGINT, SIGTERM, SIGHUP] { kill(connector, signal) }
            _ = try await pair(place, started, as: "phone")
            #expect(isThere(connector))
            kill(connector, SIGKILL)
            await place.pageIsGone()
            let again = try await start(place, "--listen", "127.0.0.1:0")
            #expect(again.started && again.pid != started.pid)
            let next = try #require(children(of: again.pid).first)
            #expect(try await place.smilepile("web", "stop").status == 0)
            #expect(!isThere(next))
        }
    }
}
