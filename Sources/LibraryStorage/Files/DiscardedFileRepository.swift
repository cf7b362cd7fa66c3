import LibraryModel

/// The files to which nothing in the catalogue refers any more, inside one transaction. They are removed afterwards, and
/// leave this list once they are gone durably.
package protocol DiscardedFileRepository {
    /// As they stand there, by name, each once: some may be no names of stored files.
    func all() throws -> [String]
    /// Those of `names` that are in the list.
    func among(_ names: [StoredName]) throws -> Set<StoredName>
    func remove(_ names: [StoredName]) throws
    /// Enters files by their paths, those that are there already among them.
    func add(_ paths: [String]) throws
}
