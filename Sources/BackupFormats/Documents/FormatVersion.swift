import ServiceMesh

/// A version of a backup's documents, such as `1.0`.
enum FormatVersion {
    private static let known = [1, 0, 0]

    /// - Parameter document: that says it.
    /// - Throws: `unimplemented` for a later one, by name; `data_loss` for one that there never was.
    static func require(_ version: String, in document: String) throws {
        let name = version.prefix(40)
        let parts = version.split(separator: ".", omittingEmptySubsequences: false)
        // A sign is none of a version.
        let digits = parts.filter { $0.utf8.allSatisfy { (48...57).contains($0) } }
        let numbers = digits.compactMap { UInt16($0) }.map(Int.init)
        guard numbers.count == parts.count, (1...known.count).contains(numbers.count) else {
            throw MeshError(refusingBackup: "\(document) says version '\(name)', which is none.", entry: document)
        }
        let whole = numbers + repeatElement(0, count: known.count - numbers.count)
        guard !known.lexicographicallyPrecedes(whole) else {
            throw MeshError(
                laterBackup: "of version '\(name)' (\(document))", known: "version \(SmilePileDialect.version)")
        }
        guard whole == known else {
            throw MeshError(refusingBackup: "\(document) says version '\(name)', which never was.", entry: document)
        }
    }
}
