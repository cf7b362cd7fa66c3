import LibraryModel

/// Sources of which no photo could be made, and which therefore are not tried again by the same version of the program.
package protocol FailedSourceRepository {
    /// Those of one size, in bytes, that this version of the program failed with, by their digests; 1,000 at most.
    func all(size: Int64, version: String) throws -> [String: SourceFailure]
    /// In place of what was known of the same bytes. Of very many, the oldest are forgotten.
    func add(_ failure: SourceFailure, digest: String, size: Int64, version: String) throws
}
