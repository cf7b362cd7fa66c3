import Foundation

/// A value in one of SQLite's five storage classes.
///
/// Text is kept byte for byte, an embedded NUL included (but SQL's own `length`, `LIKE` and `||` may stop at one).
/// Text in the file that is not valid UTF-8 never becomes a `SQLValue`: reading it throws
/// `DatabaseError.unexpectedValue`, because a silently repaired value would be written back changed.
@frozen
public enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// A Swift value that can be bound to a parameter of a statement. `nil` binds NULL.
public protocol SQLBindable: Sendable {
    var sqlValue: SQLValue { get }
}

/// A Swift value that can be read from a column.
public protocol SQLReadable {
    /// Nil where `value` is of another storage class or out of range; the row then throws `unexpectedValue`.
    init?(_ value: SQLValue)
}

extension SQLValue: SQLBindable, SQLReadable {
    public var sqlValue: SQLValue { self }
    @inlinable
    public init?(_ value: SQLValue) { self = value }
}

extension Int: SQLBindable, SQLReadable {
    public var sqlValue: SQLValue { .integer(Int64(self)) }
    @inlinable
    public init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self.init(exactly: number)
    }
}

extension Int64: SQLBindable, SQLReadable {
    public var sqlValue: SQLValue { .integer(self) }
    @inlinable
    public init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self = number
    }
}

/// Reads integers too: SQLite stores whole reals as integers where that is shorter. A NaN is stored as NULL.
extension Double: SQLBindable, SQLReadable {
    public var sqlValue: SQLValue { .real(self) }
    @inlinable
    public init?(_ value: SQLValue) {
        switch value {
        case .real(let number): self = number
        case .integer(let number): self = Double(number)
        default: return nil
        }
    }
}

/// Stored as 0 and 1; anything else is refused on reading.
extension Bool: SQLBindable, SQLReadable {
    public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
    @inlinable
    public init?(_ value: SQLValue) {
        switch value {
        case .integer(0): self = false
        case .integer(1): self = true
        default: return nil
        }
    }
}

extension String: SQLBindable, SQLReadable {
    public var sqlValue: SQLValue { .text(self) }
    @inlinable
    public init?(_ value: SQLValue) {
        guard case .text(let text) = value else { return nil }
        self = text
    }
}

extension Array: SQLBindable where Element == UInt8 {
    public var sqlValue: SQLValue { .blob(self) }
}

extension Array: SQLReadable where Element == UInt8 {
    @inlinable
    public init?(_ value: SQLValue) {
        guard case .blob(let bytes) = value else { return nil }
        self = bytes
    }
}

extension Data: SQLBindable, SQLReadable {
    public var sqlValue: SQLValue { .blob([UInt8](self)) }
    @inlinable
    public init?(_ value: SQLValue) {
        guard case .blob(let bytes) = value else { return nil }
        self.init(bytes)
    }
}

/// NULL reads as nil; a non-optional type refuses NULL. (Binding an optional needs no conformance: parameters are
/// `(any SQLBindable)?`.)
extension Optional: SQLReadable where Wrapped: SQLReadable {
    @inlinable
    public init?(_ value: SQLValue) {
        if case .null = value {
            self = .none
        } else if let wrapped = Wrapped(value) {
            self = .some(wrapped)
        } else {
            return nil
        }
    }
}
