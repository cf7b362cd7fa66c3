import DateTexts

/// When a picture was taken, as far as what lies beside it or its name says.
public struct CaptureTime: Hashable, Sendable {
    /// Which clock the time was read from.
    public enum Clock: Hashable, Sendable {
        /// UTC: an instant, from which nobody can tell what the camera's clock showed.
        case universal
        /// The camera's clock, with minutes east of UTC (-960 to 960) where they are known.
        case wall(offsetMinutes: Int?)
    }

    /// Milliseconds since 1970-01-01 00:00 on ``clock``, counted as if every day had 24 hours: of the first moment that it can
    /// mean.
    public let milliseconds: Int64
    public let clock: Clock
    /// How far it is known.
    public let precision: DatePrecision

    public var isUTC: Bool { clock == .universal }

    public init(milliseconds: Int64, clock: Clock, precision: DatePrecision = .second) {
        self.milliseconds = milliseconds
        self.clock = clock
        self.precision = precision
    }

    /// On a camera's clock.
    init(_ date: WrittenDate) {
        self.init(
            milliseconds: date.milliseconds, clock: .wall(offsetMinutes: date.offset), precision: date.precision)
    }

    /// In UTC.
    init(universal date: WrittenDate) {
        self.init(milliseconds: date.milliseconds, clock: .universal, precision: date.precision)
    }
}
