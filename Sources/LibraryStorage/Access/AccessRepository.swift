import LibraryModel
import ServiceMesh

/// Who may use a library, inside one transaction: the mode, and what is kept of the PIN.
///
/// Not with the settings, which are read as a whole by whoever may, are in backups, and are put back from there.
package protocol AccessRepository {
    /// Parent, until another one is set.
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
    /// Tries from everywhere since the last right one, those that are still being looked at among them.
    package var failures: Int
    /// When the last of them came; nil where there is none, or where it is not known any more.
    package var lastFailure: BootTime?
    /// By the ids of the devices that they came from, the empty one for this machine.
    package var tries: [String: PINTries]

    package init(hash: String, failures: Int = 0, lastFailure: BootTime? = nil, tries: [String: PINTries] = [:]) {
        self.hash = hash
        self.failures = failures
        self.lastFailure = lastFailure
        self.tries = tries
    }
}

/// What is kept of the tries that came from one device.
package struct PINTries: Sendable, Equatable, Codable {
    /// Since its last right one.
    package var failures = 0
    /// When the last of them came.
    package var lastFailure: BootTime?
    package var lastFailedAt: Timestamp?
    /// Wrong ones of which nobody was told yet who had the right one.
    package var untold = 0
    /// Whether a right one has come from there.
    package var hasUnlocked = false

    package init(hasUnlocked: Bool = false) { self.hasUnlocked = hasUnlocked }
}

/// A moment on the clock that runs from a machine's start and that nobody can set.
package struct BootTime: Sendable, Equatable, Codable {
    /// Which start that was.
    package let boot: String
    /// Since it, time asleep among them.
    package let milliseconds: Int64

    package init(boot: String, milliseconds: Int64) {
        self.boot = boot
        self.milliseconds = milliseconds
    }
}
