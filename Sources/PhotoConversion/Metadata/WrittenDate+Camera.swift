import DateTexts
import Glibc
import ImageWorkerProtocol

extension WrittenDate {
    /// This date as a photo's; nil where a photo cannot be of it.
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    package func date(_ source: CameraDate.Source, now: Int64) -> CameraDate? {
        guard isCredible(now: now) else { return nil }
        return CameraDate(clock: milliseconds, precision: precision, offset: offset, source: source)
    }

    /// Milliseconds since 1970-01-01 UTC, by the machine's clock, but not before 2026: a machine whose battery is empty
    /// wakes up in 1970, and would take every photo for one of the future.
    package static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return max(Int64(time.tv_sec) * 1000, 1_767_225_600_000)
    }
}
