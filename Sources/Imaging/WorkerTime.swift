import ImageWorkerProtocol

/// How long a worker may take over one photo.
///
/// By the time that it is on a processor, because the clock goes on while others are: a good photo of 200 million pixels on a
/// busy machine would be given up by it. A worker that uses none is ended long before: it waits for what does not come. The clock
/// is for one that does a little now and then.
struct WorkerTime {
    var processor = Duration.seconds(ImageLimits.photoProcessorSeconds)
    var clock = Duration.seconds(ImageLimits.photoClockSeconds)
    /// With no processor time used.
    var idle = Duration.seconds(ImageLimits.photoIdleSeconds)

    /// Between two looks at a worker whose time is almost over.
    private static let shortestWait = Duration.milliseconds(10)

    /// For how long nobody has to look at it: it is one thread, and no more on a processor than the clock shows. Nil where its
    /// time is over.
    /// - Parameters:
    ///   - used: of a processor.
    ///   - passed: of the clock.
    ///   - idled: of the clock, since it was last seen to have used a processor.
    func rest(used: Duration, passed: Duration, idled: Duration = .zero) -> Duration? {
        guard used < processor, passed < clock, idled < idle else { return nil }
        return max(min(processor - used, clock - passed, idle - idled), Self.shortestWait)
    }
}
