import LibraryModel

/// A machine that was joined, as SyncCoordinator speaks to it. What comes from it is checked by whoever asks; its errors are as
/// those of ``GroupRemote``.
package protocol ReviewRemote: Sendable {
    /// What was reviewed there since a part, or since the beginning.
    func changes(after cursor: String) async throws -> ReviewChanges
    /// Tells what was reviewed here. The same may be told again.
    func take(_ changes: ReviewChanges) async throws
    /// Ends what is under way.
    func close() async
}

/// Makes the way to a machine.
package typealias ReviewRemoteMaker = @Sendable (_ address: HubAddress, _ token: String) throws -> any ReviewRemote
