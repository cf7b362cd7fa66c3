/// Whom a library is open to without a PIN.
public enum AppMode: String, Codable, Sendable, CaseIterable {
    /// Whoever may connect is a parent.
    case parent
    /// Whoever connects is a kid, until the connection is unlocked with the PIN.
    case kids
}
