import LibraryModel
import ServiceMesh

/// Who may use a library, inside one transaction: the mode, and what is kept of the PIN.
///
/// These are no settings: a client reads all settings together, backups contain them, and a restore puts them back.
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
    /// When the last of them came; nil where there is none, or where the time is not known any more.
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
    /// Wrong ones of which no client was told yet that had the right one.
    package var untold = 0
    /// Whether a right one has come from there.
    package var hasUnlocked = false

    package init(hasUnlocked: Bool = false) { self.hasUnlocked = hasUnlocked }
}

/// A moment on the clock that runs from one start of one machine, and that nobody can set.
///
/// A catalogue may be read on another machine than it was written on: the library was moved, or another daemon has taken it over. Two
/// moments are therefore on one clock only where ``isOfSameStart(as:)`` says so; the milliseconds of any others have nothing to do
/// with each other, however close they are.
package struct BootTime: Sendable, Equatable, Codable {
    /// The name of the machine's start, which no other start has, of this machine or of another.
    package let boot: String
    /// Since that start, with the time that the machine slept.
    package let milliseconds: Int64

    package init(boot: String, milliseconds: Int64) {
        self.boot = boot
        self.milliseconds = milliseconds
    }

    /// Whether both were read from one clock, so that their difference is the time that has passed.
    package func isOfSameStart(as other: BootTime) -> Bool { boot == other.boot }
}
