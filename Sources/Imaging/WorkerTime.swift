import ImageWorkerProtocol

/// How long a worker may take over one photo.
///
/// By the time that it is on a processor, because the clock goes on while others are: a good photo of 200 million pixels on a
/// busy machine would be given up by it. The clock is for a worker that does nothing at all.
struct WorkerTime {
    var processor = Duration.seconds(ImageLimits.photoProcessorSeconds)
    var clock = Duration.seconds(ImageLimits.photoClockSeconds)

    /// Between two looks at a worker whose time is almost over.
    private static let shortestWait = Duration.milliseconds(10)

    /// For how long nobody has to look at it: it is one thread, and no more on a processor than the clock shows. Nil where its
    /// time is over.
    func rest(used: Duration, passed: Duration) -> Duration? {
        guard used < processor, passed < clock else { return nil }
        return max(min(processor - used, clock - passed), Self.shortestWait)
    }
}
