import LibraryModel
import ServiceMesh

/// The settings of a catalogue inside one transaction.
package protocol SettingRepository {
    func settings() throws -> Settings
    /// Whether the categories of the first start were made once; they are not made again.
    func areDefaultCategoriesMade() throws -> Bool
    func setDefaultCategoriesMade() throws
    /// What a person may change (``SettingKey/settable``); the rest stays as it is.
    func store(_ settings: Settings) throws
    /// When a person last changed how they review, here or on another of their machines; nil where nobody has.
    func reviewPreferencesChangedAt() throws -> Timestamp?
    func setReviewPreferencesChanged(at time: Timestamp) throws
    func setLastBackupDate(_ time: Timestamp) throws
    func setLastSyncDate(_ time: Timestamp) throws
    /// By which backup folders know whose files they have: a uuid; nil until one was needed.
    func libraryID() throws -> String?
    func setLibraryID(_ id: String) throws
    /// Nil where none was noted, or where what is there is none.
    func clockReading() throws -> ClockReading?
    func setClockReading(_ reading: ClockReading) throws
    /// In the order in which they were set; none where what is there cannot be read.
    func watchedFolders() throws -> [StoredWatchedFolder]
    func setWatchedFolders(_ folders: [StoredWatchedFolder]) throws
}
