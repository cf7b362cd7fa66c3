import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

// Passwords of programs that upload by themselves.
extension DeviceStore {
    func makePassword(_ id: String) async throws -> DevicePassword {
        let device = try stored(id).device
        guard device.role == .parent else {
            throw MeshError(
                .failedPrecondition,
                "\(device.name) is a \(device.role.rawValue)'s device, which adds no photos. Make it a parent's first: "
                    + "smilepile web devices role")
        }
        let made = ProgramPassword.random()
        let known = try await catalogue.write { transaction in
            // It may have become another's while this waited.
            let role = try transaction.devices.all().first { $0.device.id == device.id }?.device.role
            return try role == .parent && transaction.devices.setPassword(made.digest, of: device.id)
        }
        guard known, let there = try? stored(device.id).device, there.role == .parent else { throw Self.unknown }
        passwords = passwords.filter { $0.value != device.id }
        passwords[made.digest] = device.id
        return DevicePassword(device: there.passworded(true), password: made.text)
    }

    func endPassword(_ id: String) async throws -> Device {
        let device = try stored(id).device
        // Out at once, as a device that is forgotten.
        passwords = passwords.filter { $0.value != device.id }
        _ = try await catalogue.write { try $0.devices.setPassword(nil, of: device.id) }
        return device
    }

    func find(password text: String) async throws -> Device {
        guard let secret = ProgramPassword(text), let id = passwords[secret.digest],
            let found = try? stored(id), found.device.role == .parent
        else {
            throw MeshError(
                .unauthenticated, "This password is not valid, or not any more. Make a new one: smilepile web password")
        }
        return try await noted(found)
    }
}

extension Device {
    fileprivate func passworded(_ has: Bool) -> Device {
        var device = self
        device.hasPassword = has
        return device
    }
}

/// A password that a person types on a phone: at random, so that its digest needs no slow hash, in groups, and without letters that
/// are taken for others (Crockford's base 32).
struct ProgramPassword: Sendable {
    /// `7k3m-…`
    let text: String
    /// SHA-256 of its 28 letters and digits, lower-case hex.
    let digest: String

    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    /// 140 bits.
    private static let length = 28
    private static let group = 4

    private init(_ symbols: [UInt8]) {
        text = stride(from: 0, to: symbols.count, by: Self.group).map {
            String(decoding: symbols[$0..<min($0 + Self.group, symbols.count)], as: UTF8.self)
        }.joined(separator: "-")
        digest = ContentDigest(of: symbols).sha256.hex
    }

    /// A new one.
    static func random() -> ProgramPassword {
        // The kernel's.
        var generator = SystemRandomNumberGenerator()
        return ProgramPassword((0..<length).map { _ in alphabet[Int.random(in: 0..<32, using: &generator)] })
    }

    /// One that somebody shows, with or without hyphens, in capitals or not; nil for all that can be none.
    init?(_ text: String) {
        guard text.utf8.count <= 2 * Self.length else { return nil }
        let symbols = text.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }.map {
            switch $0 {
            case UInt8(ascii: "o"): UInt8(ascii: "0")
            case UInt8(ascii: "i"), UInt8(ascii: "l"): UInt8(ascii: "1")
            default: $0
            }
        }
        guard symbols.count == Self.length, symbols.allSatisfy(Self.alphabet.contains) else { return nil }
        self.init(symbols)
    }
}

extension MakeDevicePassword: HandledMessage {
    public func perform(on service: DeviceStore) async throws -> DevicePassword { try await service.makePassword(id) }
}

extension EndDevicePassword: HandledMessage {
    public func perform(on service: DeviceStore) async throws -> Device { try await service.endPassword(id) }
}

extension FindDeviceOfPassword: HandledMessage {
    public func perform(on service: DeviceStore) async throws -> Device { try await service.find(password: password) }
}
