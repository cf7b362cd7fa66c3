import Foundation

/// How many times as much is tried as in an ordinary run of the tests, at least once: `SMILEPILE_SEEDS`, which
/// `Scripts/simulate` sets.
public let explorationFactor: Int =
    max(1, ProcessInfo.processInfo.environment["SMILEPILE_SEEDS"].flatMap(Int.init) ?? 1)
