/// Finds names that a file system might take for one that was there before.
///
/// Holds a hash of each folded name, not the name: of 100,000 entries that is 4 MB instead of 15. The standard
/// library seeds its hash anew in each process, so nobody can prepare names that meet in it; where two do by
/// chance, they are compared.
struct TakenNames {
    private var indices: [Int: Int] = [:]

    init(capacity: Int) { indices.reserveCapacity(capacity) }

    /// The index of the first entry that has the same name as `name`, or nil; then `index` is that from now on.
    /// - Parameter nameAt: the name that was entered with an index.
    mutating func take(_ name: String, index: Int, nameAt: (Int) -> String) -> Int? {
        let key = EntryName.foldedKey(name)
        guard let other = indices[key.hashValue] else {
            indices[key.hashValue] = index
            return nil
        }
        return EntryName.foldedKey(nameAt(other)) == key ? other : nil
    }
}
