import LibraryModel
import ServiceMesh

/// The devices that are paired, inside one transaction. Of their tokens there are digests alone.
package protocol DeviceRepository {
    /// In the order in which they were paired.
    func all() throws -> [StoredDevice]
    /// The categories that were chosen for a child's device and are there still, ascending; none for every other one. A category that is
    /// deleted is chosen no more, also where another gets its number.
    func categories(of id: String) throws -> [Int64]
    /// - Throws: the catalogue's own error where a device has its id or its token; `noCategory`.
    func insert(_ device: StoredDevice) throws
    /// - Returns: false where there is no such device.
    /// - Throws: `noCategory`.
    func setRights(_ rights: DeviceRights, of id: String) throws -> Bool
    func setLastSeen(_ time: Timestamp, of id: String) throws
    /// The digests of the passwords of devices' programs, by the devices' ids: SHA-256, lower-case hex.
    func passwords() throws -> [String: String]
    /// - Parameter digest: nil for none.
    /// - Returns: false where there is no such device.
    /// - Throws: the catalogue's own error where another device has the password.
    func setPassword(_ digest: String?, of id: String) throws -> Bool
    /// - Returns: false where there was none.
    func remove(_ id: String) throws -> Bool
}

package struct StoredDevice: Sendable, Equatable {
    package var device: Device
    /// SHA-256 of the token's 32 bytes, lower-case hex.
    package let tokenDigest: String

    package init(_ device: Device, tokenDigest: String) {
        self.device = device
        self.tokenDigest = tokenDigest
    }
}
