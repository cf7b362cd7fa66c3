import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Synchronization
import TestSupport
import Testing

/// Pairing browsers, letting them in, and putting them out.
@Suite struct DeviceTests {
    private struct Paired {
        let folder: TemporaryFolder
        let time: SetBootClock
        var library: PhotoLibrary
        var mesh: Mesh { library.mesh }
        var kid: CallContext { .root(mesh: mesh, role: .kid) }

        init() async throws {
            folder = try TemporaryFolder("devices")
            time = SetBootClock()
            library = try await Self.open(folder, time)
        }

        private static func open(_ folder: TemporaryFolder, _ time: SetBootClock) async throws -> PhotoLibrary {
            var options = PhotoLibrary.Options.repeating(workers: 1)
            options.bootClock = time.clock
            return try await PhotoLibrary.open(at: folder.file("library"), options: options)
        }

        mutating func reopen() async throws {
            await library.close()
            library = try await Self.open(folder, time)
        }

        func pair(_ name: String) async throws -> PairedDevice {
            let code = try await mesh.send(InviteDevice()).code
            return try await mesh.send(PairDevice(code: code, name: name), in: kid)
        }

        func status(ofCode code: String) async -> MeshStatus? {
            await LibraryTestSupport.status { _ = try await mesh.send(PairDevice(code: code, name: "x"), in: kid) }
        }

        func status(ofToken token: String) async -> MeshStatus? {
            await LibraryTestSupport.status { _ = try await mesh.send(AuthenticateDevice(token: token), in: kid) }
        }
    }

    @Test func aDeviceIsPairedLetInAndForgotten() async throws {
        var test = try await Paired()
        let invitation = try await test.mesh.send(InviteDevice())
        #expect(invitation.code.utf8.count == 22)
        let paired = try await test.mesh.send(
            PairDevice(code: invitation.code, name: "  Ada's phone ", userAgent: "Mozilla\u{7}/5.0"), in: test.kid)
        #expect(paired.device.name == "Ada's phone" && paired.device.userAgent == "Mozilla /5.0")
        #expect(paired.token.utf8.count == 43)
        #expect(try await test.mesh.send(AuthenticateDevice(token: paired.token), in: test.kid) == paired.device)
        // Once, and no more.
        #expect(await test.status(ofCode: invitation.code) == .unauthenticated)
        let other = try await test.pair("tablet")
        // Paired within one millisecond, they come in the order of their ids, which are drawn.
        let listed = try await test.mesh.send(ListDevices()).devices
        #expect(listed.sorted { $0.name < $1.name } == [paired.device, other.device])
        try await test.reopen()
        #expect(try await test.mesh.send(AuthenticateDevice(token: paired.token)).id == paired.device.id)
        #expect(try await test.mesh.send(ForgetDevice(id: paired.device.id)).id == paired.device.id)
        #expect(await test.status(ofToken: paired.token) == .unauthenticated)
        #expect(await status { _ = try await test.mesh.send(ForgetDevice(id: paired.device.id)) } == .notFound)
        try await test.reopen()
        #expect(await test.status(ofToken: paired.token) == .unauthenticated)
        #expect(try await test.mesh.send(ListDevices()).devices.map(\.id) == [other.device.id])
        await test.library.close()
    }

    @Test func aCodeIsGoodForTenMinutesAndNotOverARestart() async throws {
        var test = try await Paired()
        let (first, second) = (try await test.mesh.send(InviteDevice()), try await test.mesh.send(InviteDevice()))
        test.time.pass(milliseconds: 599_999)
        _ = try await test.mesh.send(PairDevice(code: first.code, name: "in time"))
        test.time.pass(milliseconds: 1)
        #expect(await test.status(ofCode: second.code) == .unauthenticated)
        let third = try await test.mesh.send(InviteDevice())
        try await test.reopen()
        #expect(await test.status(ofCode: third.code) == .unauthenticated)
        await test.library.close()
    }

    /// A script that asks for codes for ever keeps no one out.
    @Test func theOldestOfTooManyCodesEnds() async throws {
        let test = try await Paired()
        var codes: [String] = []
        for _ in 0...InviteDevice.maximumCount { codes.append(try await test.mesh.send(InviteDevice()).code) }
        #expect(await test.status(ofCode: codes[0]) == .unauthenticated)
        for code in [codes[1], codes[codes.count - 1]] { #expect(await test.status(ofCode: code) == nil) }
        await test.library.close()
    }

    @Test func oneCodeLetsOneIn() async throws {
        let test = try await Paired()
        let code = try await test.mesh.send(InviteDevice()).code
        let mesh = test.mesh
        let paired = await withTaskGroup(of: Bool.self) { group in
            for number in 1...8 {
                group.addTask { (try? await mesh.send(PairDevice(code: code, name: "device \(number)"))) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(paired == 1)
        #expect(try await test.mesh.send(ListDevices()).devices.count == 1)
        await test.library.close()
    }

    @Test func guessesAreLimited() async throws {
        let test = try await Paired()
        let good = try await test.mesh.send(InviteDevice()).code
        for _ in 1...10 {
            #expect(await test.status(ofCode: String(repeating: "A", count: 22)) == .unauthenticated)
            test.time.pass(milliseconds: 1_000)
        }
        let error = await #expect(throws: MeshError.self) {
            try await test.mesh.send(PairDevice(code: String(repeating: "A", count: 22), name: "guess"))
        }
        #expect(error?.status == .resourceExhausted && error?.details["retryAfterMs"] == 50_000)
        // Who has the right one is not kept out by those who have not.
        _ = try await test.mesh.send(PairDevice(code: good, name: "in"))
        test.time.pass(milliseconds: 50_000)
        #expect(await test.status(ofCode: String(repeating: "A", count: 22)) == .unauthenticated)
        await test.library.close()
    }

    @Test func wrongTokensNamesAndNumbersAreRefused() async throws {
        let test = try await Paired()
        let token = try await test.pair("one").token
        for wrong in [
            "", "x", token + "=", token.dropLast() + "!", String(token.reversed()), token + token, " " + token,
            String(repeating: "é", count: 43), String(repeating: "A", count: 1 << 20),
        ].map({ String($0) }) where wrong != token {
            #expect(await test.status(ofToken: wrong) == .unauthenticated)
        }
        for name in ["", "   ", "a\nb", "a\u{202E}b", String(repeating: "x", count: 101)] {
            let code = try await test.mesh.send(InviteDevice()).code
            #expect(
                await status { _ = try await test.mesh.send(PairDevice(code: code, name: name)) } == .invalidArgument)
            // The code is still good.
            _ = try await test.mesh.send(PairDevice(code: code, name: "named"))
        }
        await test.library.close()
    }

    @Test func whoObservesSeesDevicesComeAndGo() async throws {
        let test = try await Paired()
        let (seen, changes) = AsyncStream.makeStream(of: [String].self)
        let mesh = test.mesh
        let kid = test.kid
        let task = Task {
            try await mesh.observe(ObserveDevices(), in: kid) { changes.yield($0.value.ids) }
        }
        var iterator = seen.makeAsyncIterator()
        #expect(await iterator.next() == [])
        let device = try await test.pair("phone").device
        #expect(await iterator.next() == [device.id])
        _ = try await test.mesh.send(ForgetDevice(id: device.id))
        #expect(await iterator.next() == [])
        await test.library.close()
        _ = await task.result
    }

    // MARK: Whom they are for

    @Test func aCodeSaysWhomTheDeviceIsForAndItIsChangedLater() async throws {
        var test = try await Paired()
        let categories = try await test.mesh.send(ListCategories()).categories.map(\.id)
        let rights: [DeviceRights] = [
            .parent, DeviceRights(.looker), DeviceRights(.child, categoryIds: [categories[2], categories[0]]),
        ]
        var ids: [String] = []
        for one in rights {
            // Twice the same is once.
            let chosen = one.categoryIds.map { $0 + $0 }
            let code = try await test.mesh.send(InviteDevice(role: one.role, categoryIds: chosen)).code
            let device = try await test.mesh.send(PairDevice(code: code, name: "\(one.role)"), in: test.kid).device
            #expect(device.rights == one)
            ids.append(device.id)
        }
        #expect(rights[2].categoryIds == [categories[0], categories[2]])
        for next in [rights[1], rights[2], rights[0]] {
            for id in ids {
                let request = SetDeviceRole(id: id.uppercased(), role: next.role, categoryIds: next.categoryIds)
                #expect(try await test.mesh.send(request).rights == next)
            }
            #expect(try await test.mesh.send(ListDevices()).devices.map(\.rights) == [next, next, next])
            for id in ids { #expect(test.library.standing(ofDevice: id)?.ceiling == next.role.ceiling) }
            try await test.reopen()
            #expect(try await test.mesh.send(ListDevices()).devices.map(\.rights) == [next, next, next])
        }
        await test.library.close()
    }

    /// What is in force is what is on disk, in whatever order they come.
    @Test func manyWhoChangeOneDeviceAtOnceAgree() async throws {
        var test = try await Paired()
        let (mesh, id) = (test.mesh, try await test.pair("phone").device.id)
        let family = try #require(try await mesh.send(ListCategories()).categories.first).id
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask {
                    let role = DeviceRole.allCases[number % 3]
                    _ = try? await mesh.send(
                        SetDeviceRole(id: id, role: role, categoryIds: role == .child ? [family] : nil))
                }
            }
        }
        let standing = try #require(test.library.standing(ofDevice: id))
        let listed = try await mesh.send(ListDevices()).devices.map(\.role.ceiling)
        #expect(listed == [standing.ceiling])
        try await test.reopen()
        #expect(test.library.standing(ofDevice: id) == standing)
        await test.library.close()
    }

    /// As an import goes on that a phone has begun which is a child's by now.
    @Test func whatAParentsDeviceHasBegunGoesOnAsAParents() async throws {
        let test = try await Paired()
        let (mesh, id) = (test.mesh, try await test.pair("phone").device.id)
        let categories = try await mesh.send(ListCategories()).categories.map(\.id)
        _ = try await mesh.send(SetDeviceRole(id: id, role: .child, categoryIds: [categories[0]]))
        let begun = CallContext.root(mesh: mesh, role: .parent, isFromAfar: true, caller: id)
        #expect(try await mesh.send(ListCategories(), in: begun).categories.map(\.id) == categories)
        _ = try await mesh.send(ForgetDevice(id: id))
        #expect(try await mesh.send(GetCategory(id: categories[1]), in: begun).id == categories[1])
        // What a kid asks in the name of a device that there is not sees nothing.
        let kid = CallContext.root(mesh: mesh, role: .kid, isFromAfar: true, caller: id)
        #expect(try await mesh.send(ListCategories(), in: kid).categories == [])
        await test.library.close()
    }

    @Test func whatADeviceCannotBeIsRefused() async throws {
        let test = try await Paired()
        let mesh = test.mesh
        let device = try await test.pair("phone").device
        let family = try #require(try await mesh.send(ListCategories()).categories.first).id
        let wrong: [(DeviceRole, [Int64]?, MeshStatus)] = [
            (.child, nil, .invalidArgument), (.child, [], .invalidArgument), (.child, [family, 999], .notFound),
            (.child, Array(1...65), .invalidArgument), (.parent, [family], .invalidArgument),
            (.looker, [], .invalidArgument), (.child, [.min, .max], .notFound),
        ]
        for (role, categories, expected) in wrong {
            #expect(
                await status { _ = try await mesh.send(InviteDevice(role: role, categoryIds: categories)) } == expected)
            let change = SetDeviceRole(id: device.id, role: role, categoryIds: categories)
            #expect(await status { _ = try await mesh.send(change) } == expected)
        }
        for id in ["", "none", UUID().uuidString] {
            #expect(await status { _ = try await mesh.send(SetDeviceRole(id: id, role: .looker)) } == .notFound)
        }
        #expect(await status { _ = try await mesh.send(InviteDevice(categoryIds: [family])) } == .invalidArgument)
        #expect(try await mesh.send(ListDevices()).devices.map(\.rights) == [.parent])
        await test.library.close()
    }

    /// In either mode, and whatever the device becomes: it begins with what the mode gives and has no more than it is for.
    @Test func whatADeviceBeginsWithFollowsTheModeAndItsCeiling() async throws {
        let test = try await Paired()
        let mesh = test.mesh
        let id = try await test.pair("phone").device.id
        let family = try #require(try await mesh.send(ListCategories()).categories.first).id
        _ = try await mesh.send(SetPIN(pin: PIN("2580")))
        let expected: [(DeviceRole, parentMode: Role, ceiling: Role)] = [
            (.looker, .looker, .looker), (.child, .kid, .kid), (.parent, .parent, .parent),
        ]
        for (role, parentMode, ceiling) in expected {
            _ = try await mesh.send(
                SetDeviceRole(id: id, role: role, categoryIds: role == .child ? [family] : nil))
            _ = try await mesh.send(SetMode(mode: .parent))
            #expect(test.library.standing(ofDevice: id) == .init(parentMode, ceiling: ceiling))
            _ = try await mesh.send(SetMode(mode: .kids))
            #expect(test.library.standing(ofDevice: id) == .init(.kid, ceiling: ceiling))
        }
        _ = try await mesh.send(ForgetDevice(id: id))
        #expect(test.library.standing(ofDevice: id) == nil)
        await test.library.close()
    }

    @Test func aChangeIsToldToWhoObservesAndToTheDoor() async throws {
        let test = try await Paired()
        let (mesh, id) = (test.mesh, try await test.pair("phone").device.id)
        let falls = Mutex<[RoleFall]>([])
        await test.library.onRoleFall { fall in falls.withLock { $0.append(fall) } }
        let (seen, changes) = AsyncStream.makeStream(of: PairedDeviceIDs.self)
        let task = Task { try await mesh.observe(ObserveDevices()) { changes.yield($0.value) } }
        var iterator = seen.makeAsyncIterator()
        #expect(await iterator.next() == PairedDeviceIDs(ids: [id]))
        for number in 1...2 {
            _ = try await mesh.send(SetDeviceRole(id: id, role: number == 1 ? .looker : .parent))
            #expect(await iterator.next() == PairedDeviceIDs(ids: [id], changes: [id: number]))
        }
        #expect(falls.withLock { $0 } == [.renewing(id), .renewing(id)])
        await test.library.close()
        _ = await task.result
    }

    /// Chosen before the device came, and deleted before, or later.
    @Test func aCategoryThatIsDeletedIsChosenNoMore() async throws {
        let test = try await Paired()
        let mesh = test.mesh
        let ids = try await mesh.send(ListCategories()).categories.map(\.id)
        let codes = [
            try await mesh.send(InviteDevice(role: .child, categoryIds: [ids[0], ids[1]])).code,
            try await mesh.send(InviteDevice(role: .child, categoryIds: [ids[0]])).code,
        ]
        _ = try await mesh.send(DeleteCategory(id: ids[0]))
        for (code, left) in zip(codes, [[ids[1]], []]) {
            let device = try await mesh.send(PairDevice(code: code, name: "tablet")).device
            let listed = try await mesh.send(ListDevices()).devices.first { $0.id == device.id }
            #expect(listed?.rights == DeviceRights(.child, categoryIds: left))
            let context = CallContext.root(mesh: mesh, role: .kid, isFromAfar: true, caller: device.id)
            #expect(try await mesh.send(ListCategories(), in: context).categories.map(\.id) == left)
        }
        _ = try await mesh.send(DeleteCategory(id: ids[1]))
        #expect(try await mesh.send(ListDevices()).devices.allSatisfy { $0.categoryIds == [] })
        await test.library.close()
    }

    /// Neither token nor code is in any file of the library.
    @Test func secretsAreInNoFile() async throws {
        let test = try await Paired()
        let code = try await test.mesh.send(InviteDevice()).code
        let paired = try await test.mesh.send(PairDevice(code: code, name: "phone"))
        let raw = try #require(
            Data(base64Encoded: paired.token.replacing("-", with: "+").replacing("_", with: "/") + "="))
        let folder = test.folder.file("library")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix("catalogue") {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
            for secret in [Data(code.utf8), Data(paired.token.utf8), raw] { #expect(bytes.range(of: secret) == nil) }
            if name == "catalogue.sqlite-wal" { #expect(bytes.range(of: Data("phone".utf8)) != nil) }
        }
        await test.library.close()
    }
}
