import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// The browsers that are paired with the library, for the web program. They are few, so all of them are in memory, by the
/// digests of their tokens: what looking one up takes tells nothing of how much of a guess was right. It calls no other service.
public actor DeviceStore: MeshService {
    public static let serviceName = "DeviceStore"
    public static var messages: MessageList<DeviceStore> {
        InviteDevice.self
        PairDevice.self
        AuthenticateDevice.self
        ListDevices.self
        SetDeviceRole.self
        ForgetDevice.self
        ObserveDevices.self
        MakeDevicePassword.self
        EndDevicePassword.self
        FindDeviceOfPassword.self
    }

    private static let codeBytes = 16
    private static let tokenBytes = 32
    /// Wrong codes within ``patience`` before the next wrong one is told to wait.
    private static let mostWrongCodes = 10
    /// Milliseconds.
    private static let patience: Int64 = 60_000
    private static let validity = Int64(InviteDevice.validMinutes) * 60_000
    /// Between two notes of a device's use, milliseconds.
    private static let noteDistance: Int64 = 3_600_000

    let catalogue: any Catalogue
    private let access: LibraryAccess
    private let clock: BootClock
    /// By the digests of their tokens.
    private(set) var devices: [String: StoredDevice] = [:]
    /// Ids of devices by the digests of their programs' passwords.
    var passwords: [String: String] = [:]
    /// Codes that wait, oldest first: their digests, when they end on ``clock``, and what the device may that comes with one.
    private var invitations: [(digest: String, end: Int64, rights: DeviceRights)] = []
    /// When wrong codes came, on ``clock``; of the last minute.
    private var wrongCodes: [Int64] = []
    /// How often it was changed what a device may, by its id.
    private var changes: [String: Int] = [:]
    /// Of what a device may; done when it is in the catalogue and in memory, or neither.
    private var lastChange: Task<Void, Never>?
    nonisolated let paired = ObservedValue(PairedDeviceIDs(ids: []))

    /// - Parameter clock: which nobody can set, and which counts sleep: a code is no longer good after a night.
    package init(catalogue: any Catalogue, access: LibraryAccess, clock: BootClock = .system) {
        self.catalogue = catalogue
        self.access = access
        self.clock = clock
    }

    public func start(on mesh: Mesh) async throws {
        let all = try await catalogue.read { try $0.devices.all() }
        devices = Dictionary(all.map { ($0.tokenDigest, $0) }, uniquingKeysWith: { first, _ in first })
        let kept = try await catalogue.read { try $0.devices.passwords() }
        passwords = Dictionary(kept.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        publish()
    }

    public func stop() async { paired.finish() }

    private var now: Int64 { clock.now().milliseconds }

    private func publish() {
        let roles = Dictionary(devices.values.map { ($0.device.id, $0.device.role) }) { first, _ in first }
        access.admit(devices: roles)
        paired.publish(PairedDeviceIDs(ids: roles.keys.sorted(), changes: changes))
    }

    // MARK: Pairing

    func invite(_ request: InviteDevice) async throws -> Invitation {
        let rights = try DeviceRights.validated(role: request.role, categoryIds: request.categoryIds)
        try await catalogue.read { try Self.require(rights.categoryIds, in: $0) }
        let now = now
        invitations.removeAll { $0.end <= now }
        // Refusing would keep a family out whose script has asked too often, and make nobody safer.
        if invitations.count == InviteDevice.maximumCount { invitations.removeFirst() }
        let code = BearerSecret.random(bytes: Self.codeBytes)
        invitations.append((code.digest, now + Self.validity, rights))
        return Invitation(
            code: code.text, expiresAt: Timestamp(milliseconds: Timestamp.now().milliseconds + Self.validity))
    }

    /// - Throws: `not_found` for the first that is not there.
    private static func require(_ categories: [Int64]?, in transaction: any CatalogueTransaction) throws {
        for id in categories ?? [] { _ = try transaction.categories.require(.id(id)) }
    }

    func pair(_ request: PairDevice) async throws -> PairedDevice {
        let name = try Self.name(request.name)
        let now = now
        guard let code = BearerSecret(request.code, bytes: Self.codeBytes),
            let index = invitations.firstIndex(where: { $0.digest == code.digest }), invitations[index].end > now
        else {
            // Looked up first: whoever guesses keeps nobody out who has the right one.
            try countWrongCode(now)
            throw MeshError(
                .unauthenticated, "This code is not valid, or not any more. Get a new one: smilepile web")
        }
        guard devices.count < Device.maximumCount else {
            throw MeshError(
                short: .count,
                "\(devices.count) devices are paired, which is the most. Forget one: smilepile web devices")
        }
        // Used up before anything is waited for: two with the same code are not both let in.
        let rights = invitations.remove(at: index).rights
        let token = BearerSecret.random(bytes: Self.tokenBytes)
        let time = Timestamp.now()
        let stored = StoredDevice(
            Device(
                id: UUID().uuidString.lowercased(), name: name, userAgent: Self.userAgent(request.userAgent),
                createdAt: time, lastSeenAt: time, rights: rights), tokenDigest: token.digest)
        let entered = try await catalogue.write { transaction in
            var entered = stored
            // A category that was deleted since the code was made keeps nobody out; of none, nothing is seen.
            let left = try rights.categoryIds?.filter { try transaction.categories.find(.id($0)) != nil }
            entered.device = stored.device.with(DeviceRights(rights.role, categoryIds: left))
            try transaction.devices.insert(entered)
            return entered
        }
        devices[entered.tokenDigest] = entered
        publish()
        return PairedDevice(device: entered.device, token: token.text)
    }

    /// 128 bits are not guessed; this tells whoever tries that it is noticed.
    private func countWrongCode(_ now: Int64) throws {
        wrongCodes.removeAll { $0 + Self.patience <= now }
        guard wrongCodes.count >= Self.mostWrongCodes, let first = wrongCodes.first else {
            wrongCodes.append(now)
            return
        }
        let left = first + Self.patience - now
        throw MeshError(
            .resourceExhausted, "Too many wrong codes came. Try again in \((left + 999) / 1000) s.",
            details: ["retryAfterMs": .integer(left)])
    }

    // MARK: Letting in

    private static let unpaired = MeshError(
        .unauthenticated, "This device is not paired, or not any more. Pair it: smilepile web")

    func authenticate(_ token: String) async throws -> Device {
        guard let secret = BearerSecret(token, bytes: Self.tokenBytes), let found = devices[secret.digest] else {
            throw Self.unpaired
        }
        return try await noted(found)
    }

    /// The device, whose use is noted.
    func noted(_ found: StoredDevice) async throws -> Device {
        let time = Timestamp.now()
        guard abs(time.milliseconds - found.device.lastSeenAt.milliseconds) >= Self.noteDistance else {
            return found.device
        }
        // Noted here first, so that those who come meanwhile do not all write.
        let device = found.device.seen(at: time)
        devices[found.tokenDigest]?.device = device
        // Nobody is kept out because a disk is full.
        try? await catalogue.write { try $0.devices.setLastSeen(time, of: device.id) }
        // It may have been forgotten meanwhile, or become another's.
        guard let now = devices[found.tokenDigest]?.device else { throw Self.unpaired }
        return now
    }

    /// What is chosen is in the catalogue, where a category that is deleted is chosen no more.
    func list() async throws -> DeviceList {
        let stored = try await catalogue.read { try $0.devices.all() }
        let rights = Dictionary(stored.map { ($0.device.id, $0.device.rights) }) { first, _ in first }
        let havePassword = Set(passwords.values)
        return DeviceList(
            devices: devices.values.map {
                var device = $0.device.with(rights[$0.device.id] ?? $0.device.rights)
                if havePassword.contains(device.id) { device.hasPassword = true }
                return device
            }.sorted {
                ($0.createdAt.milliseconds, $0.id) < ($1.createdAt.milliseconds, $1.id)
            })
    }

    // MARK: Changing

    /// Who is inside goes before the reply, and comes anew with what it may then.
    func setRole(_ request: SetDeviceRole) async throws -> Device {
        let rights = try DeviceRights.validated(role: request.role, categoryIds: request.categoryIds)
        let id = try stored(request.id).device.id
        // One after the other: what is in memory is what the last one has written.
        let before = lastChange
        let change = Task { [self] in
            await before?.value
            return try await give(rights, to: id)
        }
        lastChange = Task { _ = await change.result }
        return try await change.value
    }

    private func give(_ rights: DeviceRights, to id: String) async throws -> Device {
        try await catalogue.write { transaction in
            try Self.require(rights.categoryIds, in: transaction)
            guard try transaction.devices.setRights(rights, of: id) else { throw Self.unknown }
            if rights.role != .parent { _ = try transaction.devices.setPassword(nil, of: id) }
        }
        if rights.role != .parent { passwords = passwords.filter { $0.value != id } }
        // It may have been forgotten meanwhile.
        let there = try stored(id)
        let device = there.device.with(rights)
        devices[there.tokenDigest]?.device = device
        changes[id, default: 0] += 1
        publish()
        await access.tell(.renewing(id))
        return device
    }

    func stored(_ id: String) throws -> StoredDevice {
        let id = id.lowercased()
        guard let stored = devices.values.first(where: { $0.device.id == id }) else { throw Self.unknown }
        return stored
    }

    static let unknown = MeshError(.notFound, "No such device is paired. See which are: smilepile web devices")

    func forget(_ id: String) async throws -> Device {
        let stored = try stored(id)
        // Out at once, whatever becomes of the row: should it not go, nobody is let in before the next start, and whoever asked is told.
        devices[stored.tokenDigest] = nil
        changes[stored.device.id] = nil
        passwords = passwords.filter { $0.value != stored.device.id }
        publish()
        await access.tell(.forgetting(stored.device.id))
        _ = try await catalogue.write { try $0.devices.remove(stored.device.id) }
        return stored.device
    }

    // MARK: Texts

    private static func name(_ text: String) throws -> String {
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let isShown = name.unicodeScalars.allSatisfy {
            ![.control, .lineSeparator, .paragraphSeparator, .format].contains($0.properties.generalCategory)
        }
        guard Device.nameLength.contains(name.unicodeScalars.count), isShown else {
            throw MeshError(
                .invalidArgument,
                "A device's name has 1 to \(Device.nameLength.upperBound) characters, all of which can be seen.")
        }
        return name
    }

    private static func userAgent(_ text: String?) -> String? {
        guard let text else { return nil }
        let shown = text.unicodeScalars.prefix(Device.userAgentLength).map { scalar in
            scalar.properties.generalCategory == .control ? " " : Character(scalar)
        }
        let agent = String(shown).trimmingCharacters(in: .whitespaces)
        return agent.isEmpty ? nil : agent
    }
}

extension InviteDevice: HandledMessage {
    public func perform(on service: DeviceStore) async throws -> Invitation { try await service.invite(self) }
}

extension PairDevice: HandledMessage {
    public func perform(on service: DeviceStore) async throws -> PairedDevice { try await service.pair(self) }
}

extension AuthenticateDevice: HandledMessage {
    public func perform(on service: DeviceStore) async throws -> Device { try await service.authenticate(token) }
}

extension ListDevices: HandledMessage {
    public func perform(on service: DeviceStore) async throws -> DeviceList { try await service.list() }
}

extension SetDeviceRole: HandledMessage {
    public func perform(on service: DeviceStore) async throws -> Device { try await service.setRole(self) }
}

extension ForgetDevice: HandledMessage {
    public func perform(on service: DeviceStore) async throws -> Device { try await service.forget(id) }
}

extension ObserveDevices: HandledObservation {
    public typealias Service = DeviceStore
    public typealias Update = PairedDeviceIDs

    public func observe(on service: DeviceStore) async throws -> Observation<PairedDeviceIDs> {
        service.paired.observe()
    }
}
