/// The role of a caller that lives for a while, as a connection does: its own, and a higher one that it was granted for a
/// time, up to its ceiling. Who may grant it is not known here; ``Mesh`` compares what is held with what a message needs.
///
/// Times are of ``MonotonicClock/withSleep()``: a lid that was closed over night ends what was granted in the evening.
public struct HeldRole: Sendable {
    /// A role for a time.
    public struct Grant: Sendable, Equatable {
        public let role: Role
        /// Without any use; nil for as long as ``total``.
        public let idle: Duration?
        /// In all; nil for as long as the caller lives.
        public let total: Duration?

        public init(_ role: Role, idle: Duration? = nil, total: Duration? = nil) {
            self.role = role
            self.idle = idle
            self.total = total
        }
    }

    /// With what somebody begins, and the most that any grant gives them.
    public struct Standing: Sendable, Equatable {
        public let role: Role
        public let ceiling: Role

        public init(_ role: Role, ceiling: Role = .parent) {
            self.role = min(role, ceiling)
            self.ceiling = ceiling
        }
    }

    private struct Held {
        let grant: Grant
        let endsAt: UInt64
        var idleEndsAt: UInt64

        var ends: UInt64 { min(endsAt, idleEndsAt) }

        mutating func use(at now: UInt64) { idleEndsAt = HeldRole.moment(grant.idle, after: now) }
    }

    private var own: Role
    /// What no grant goes beyond.
    public private(set) var ceiling = Role.service
    private var held: Held?
    /// The name of a caller that began as nobody and has said who it is.
    public private(set) var name: String?

    public init(_ own: Role) { self.own = own }

    public func role(at now: @autoclosure () -> UInt64) -> Role {
        guard let held, now() < held.ends else { return own }
        return max(own, min(held.grant.role, ceiling))
    }

    /// The role for a request that comes now, which is a use of it.
    public mutating func use(at now: @autoclosure () -> UInt64) -> Role {
        guard held != nil else { return own }
        let now = now()
        expire(at: now)
        held?.use(at: now)
        return role(at: now)
    }

    /// Forgets what was granted where its time is over.
    public mutating func expire(at now: UInt64) {
        if let held, now >= held.ends { self.held = nil }
    }

    /// In the place of what was granted before.
    public mutating func grant(_ grant: Grant, at now: UInt64) {
        held = Held(grant: grant, endsAt: Self.moment(grant.total, after: now), idleEndsAt: 0)
        held?.use(at: now)
    }

    /// Makes somebody of a caller that began as nobody, once: who is somebody, or has been, stays that.
    public mutating func identify(as name: String, _ standing: Standing) {
        guard own == .nobody, self.name == nil else { return }
        (own, ceiling, self.name) = (standing.role, standing.ceiling, name)
    }

    public mutating func demote(_ fall: RoleFall) {
        switch fall {
        case .to(let role):
            own = min(own, role)
            if let held, held.grant.role > role { self.held = nil }
        case .endOfGrants: held = nil
        case .forgetting(let name), .renewing(let name):
            guard self.name == name else { return }
            own = .nobody
            held = nil
        }
    }

    /// When it falls by itself unless it is used before; nil where it does not.
    public var fallsAt: UInt64? {
        guard let ends = held?.ends, ends != .max else { return nil }
        return ends
    }

    private static func moment(_ duration: Duration?, after now: UInt64) -> UInt64 {
        guard let (seconds, attoseconds) = duration?.components, seconds >= 0 else { return .max }
        let (whole, isLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (moment, isLate) = now.addingReportingOverflow(whole)
        return isLong || isLate ? .max : moment &+ UInt64(max(0, attoseconds) / 1_000_000_000)
    }
}

/// How roles fall that are held already.
public enum RoleFall: Sendable, Equatable {
    /// No caller has more than this role, whatever was granted.
    case to(Role)
    /// Granted roles end; a caller's own role stays.
    case endOfGrants
    /// The caller that has this name is nobody again, for good.
    case forgetting(String)
    /// The same, since what the caller with this name may do has changed: it has to come anew, and gets what it may then.
    case renewing(String)
}
