import ServiceMesh

/// Whether there is a PIN, and how it stands with wrong ones.
public struct PINStatus: Codable, Sendable, Equatable {
    public let isSet: Bool
    /// Wrong PINs that came from this device since its last right one.
    public let failures: Int
    /// Milliseconds until the next try from this device is taken; absent where it is taken now.
    public let retryAfterMs: Int64?
    /// Where wrong ones came from, for parents; absent where none did.
    public let guesses: [PINGuesses]?

    public init(isSet: Bool, failures: Int = 0, retryAfterMs: Int64? = nil, guesses: [PINGuesses] = []) {
        self.isSet = isSet
        self.failures = failures
        self.retryAfterMs = retryAfterMs
        self.guesses = guesses.isEmpty ? nil : guesses
    }
}

/// Wrong PINs that came from one place.
public struct PINGuesses: Codable, Sendable, Equatable {
    /// A paired device; absent for this machine.
    public let device: String?
    /// What the device is called.
    public let name: String?
    public let count: Int
    /// When the last of them came.
    public let lastAt: Timestamp

    public init(device: String?, name: String?, count: Int, lastAt: Timestamp) {
        self.device = device
        self.name = name
        self.count = count
        self.lastAt = lastAt
    }
}

/// Tells whether there is a PIN, and when the next try is taken. Not for finding out whether a PIN is right: that is
/// ``Unlock``.
public struct GetPINStatus: Message {
    public typealias Reply = PINStatus
    public static let method = "pin.status"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary =
        "Whether there is a PIN, how many wrong ones were tried, and when the next try is taken."
    public init() {}
}

/// Sets the first PIN (<doc:Roles>). Errors: `already_exists` where there is one, which ``ChangePIN`` changes;
/// `invalid_argument` for what cannot be a PIN.
public struct SetPIN: Message {
    public typealias Reply = PINStatus
    public static let method = "pin.set"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Sets the PIN, where there is none."
    public let pin: PIN
    public init(pin: PIN) { self.pin = pin }
}

/// Puts another PIN in the place of the one that is. Errors: as ``Unlock``; `invalid_argument` for what cannot be a PIN.
public struct ChangePIN: Message {
    public typealias Reply = PINStatus
    public static let method = "pin.change"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Changes the PIN; takes the one that is."
    public let pin: PIN
    public let newPIN: PIN

    public init(pin: PIN, newPIN: PIN) {
        self.pin = pin
        self.newPIN = newPIN
    }
}

/// Removes the PIN. Errors: as ``Unlock``; `failed_precondition` in kids mode, which nobody could leave then.
public struct ClearPIN: Message {
    public typealias Reply = PINStatus
    public static let method = "pin.clear"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Removes the PIN; takes the one that is."
    public let pin: PIN
    public init(pin: PIN) { self.pin = pin }
}

/// Asks whether this is the PIN. On the socket a right one gives the connection that asked, and no other, the role of a
/// parent for a while (``UnlockLimits``).
///
/// Each try is counted on disk before it is looked at. From the fifth wrong one in a row on that comes from one device (this
/// machine is one), the next from there has to wait: 30 seconds, then twice as long each time, up to an hour. From the
/// fiftieth on that comes from anywhere, every device has to wait in the same way, but for one try from each that had a right one
/// last. What comes earlier is refused unseen, right or wrong. The reply says which devices guessed since the last right one.
/// Errors: `unauthenticated` for a wrong PIN, of whatever length; `resource_exhausted` with `retryAfterMs` while tries have
/// to wait; `failed_precondition` without a PIN, and on a device that is a child's or a looker's and gets no more by it: there no PIN is
/// looked at.
public struct Unlock: Message {
    public typealias Reply = Unlocked
    public static let method = "pin.unlock"
    public static let access = Role.kid
    public static let kind = MessageKind.write
    public static let summary = "Takes the PIN; gives this connection the parent's role for a while."
    public let pin: PIN
    public init(pin: PIN) { self.pin = pin }
}

/// For how long a right PIN counts on the connection that gave it.
public struct Unlocked: Codable, Sendable, Equatable {
    /// Without any request.
    public let idleSeconds: Int
    /// In all.
    public let totalSeconds: Int
    /// Where wrong ones came from since the last right one; absent where none did.
    public let guesses: [PINGuesses]?

    public init(idleSeconds: Int, totalSeconds: Int, guesses: [PINGuesses] = []) {
        self.idleSeconds = idleSeconds
        self.totalSeconds = totalSeconds
        self.guesses = guesses.isEmpty ? nil : guesses
    }
}

/// How long an unlocked connection stays so.
public enum UnlockLimits {
    /// Five minutes after the last request.
    public static let idle = Duration.seconds(300)
    /// An hour after the PIN.
    public static let total = Duration.seconds(3600)
}

/// Ends what a PIN gave: this connection has the role of a kid from now on. With `everywhere`, whatever any PIN gave to any
/// connection ends; who is a parent without one stays it.
public struct Lock: Message {
    public typealias Reply = Done
    public static let method = "pin.lock"
    public static let access = Role.kid
    public static let kind = MessageKind.write
    public static let summary = "Gives this connection the kid's role; or ends what a PIN gave, on every connection."
    public let everywhere: Bool?
    public init(everywhere: Bool? = nil) { self.everywhere = everywhere }
}
