import LibraryModel
import ServiceMesh

/// The devices that are paired, inside one transaction. Of their tokens there are digests alone.
package protocol DeviceRepository {
    /// In the order in which they were paired.
    func all() throws -> [StoredDevice]
    /// - Throws: the catalogue's own error where a device has its id or its token.
    func insert(_ device: StoredDevice) throws
    func setLastSeen(_ time: Timestamp, of id: String) throws
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
