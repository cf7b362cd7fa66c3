/// Finds entries by their names, as a file system might that takes two names for one.
///
/// It has seven bytes for each entry: where the entry is, and eight bits of the hash of its folded name. The names themselves are
/// read where they are kept, so that two which only look alike to the hash are never taken for one. The standard library seeds
/// its hash anew in each process, so nobody can prepare names that meet in it.
struct TakenNames: Sendable {
    /// The entry's index and one; 0 where there is none.
    private var places: [UInt32]
    private var tags: [UInt8]

    /// - Parameter capacity: names that it will have at most; fewer than 2^32.
    init(capacity: Int) {
        precondition(capacity < Int(UInt32.max), "an entry's place has 32 bits")
        // Three of four slots are taken in the end, so that a search is over after a few.
        let count = capacity + capacity / 3 + 1
        (places, tags) = (Array(repeating: 0, count: count), Array(repeating: 0, count: count))
    }

    /// The index of the first entry that has the same name as `name`, or nil; then `index` is that from now on.
    /// - Parameter nameAt: the name that was entered with an index.
    mutating func take(
        _ name: String, index: Int, nameAt: (Int) throws(ZipError) -> String
    ) throws(ZipError) -> Int? {
        let key = EntryName.foldedKey(name)
        let (slot, found) = try slot(of: key, nameAt)
        if let found { return found }
        (places[slot], tags[slot]) = (UInt32(index + 1), Self.tag(key.hashValue))
        return nil
    }

    /// The index of the entry that was entered first under the same name, or nil.
    /// - Parameter nameAt: as of ``take(_:index:nameAt:)``.
    func index(of name: String, nameAt: (Int) throws(ZipError) -> String) throws(ZipError) -> Int? {
        try slot(of: EntryName.foldedKey(name), nameAt).found
    }

    private static func tag(_ hash: Int) -> UInt8 { UInt8(truncatingIfNeeded: hash) }

    private func slot(
        of key: String, _ nameAt: (Int) throws(ZipError) -> String
    ) throws(ZipError) -> (slot: Int, found: Int?) {
        let hash = key.hashValue
        let tag = Self.tag(hash)
        // The upper bits choose the slot, the lowest ones are the tag.
        var slot = Int(UInt(bitPattern: hash).multipliedFullWidth(by: UInt(places.count)).high)
        while places[slot] != 0 {
            if tags[slot] == tag {
                let index = Int(places[slot]) - 1
                if EntryName.foldedKey(try nameAt(index)) == key { return (slot, index) }
            }
            slot = slot + 1 < places.count ? slot + 1 : 0
        }
        return (slot, nil)
    }
}
