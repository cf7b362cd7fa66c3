/// The time by which receipts, photos in the trash and uploads fall due, where the clock on the wall may be wrong.
public struct ReckonedTime: Sendable, Equatable {
    /// Things that are due by then may go for good. Never later than the wall.
    public var due: Timestamp
    /// Times after it were written while a clock was wrong. Never before ``due``.
    public var latest: Timestamp

    public init(due: Timestamp, latest: Timestamp) { (self.due, self.latest) = (due, latest) }

    /// Of a clock that is right.
    public init(at now: Timestamp) { self.init(due: now, latest: now) }
}
