import CSodium

/// libsodium, made ready.
enum Sodium {
    /// Its functions may be called only after this: it chooses the implementations for this processor and opens the
    /// source of random numbers. Without that source there is nothing that could be done instead.
    static let isReady: Void = {
        // 1 says that somebody else in the process has done it already.
        guard sodium_init() >= 0 else { fatalError("libsodium could not be made ready: no random numbers.") }
    }()
}
