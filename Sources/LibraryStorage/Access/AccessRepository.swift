import LibraryModel

/// Who may use a library, inside one transaction: the mode, and what is kept of the PIN.
///
/// Not with the settings, which are read as a whole by whoever may, are in backups, and are put back from there.
package protocol AccessRepository {
    func mode() throws -> AppMode
    func setMode(_ mode: AppMode) throws
    /// Nil where there is no PIN.
    func pin() throws -> PINRecord?
    /// Nil removes it.
    func store(_ pin: PINRecord?) throws
}

/// What is kept of a PIN.
package struct PINRecord: Sendable, Equatable {
    /// As `PasswordHash` writes it.
    package var hash: String
    /// Tries since the last right one, those that are still being looked at among them.
    package var failures: Int
    /// When the last of them came; nil where there is none, or where it is not known any more.
    package var lastFailure: BootTime?

    package init(hash: String, failures: Int = 0, lastFailure: BootTime? = nil) {
        self.hash = hash
        self.failures = failures
        self.lastFailure = lastFailure
    }
}

/// A moment on the clock that runs from a machine's start and that nobody can set.
package struct BootTime: Sendable, Equatable {
    /// Which start that was.
    package let boot: String
    /// Since it, time asleep among them.
    package let milliseconds: Int64

    package init(boot: String, milliseconds: Int64) {
        self.boot = boot
        self.milliseconds = milliseconds
    }
}
