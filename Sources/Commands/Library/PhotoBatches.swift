import CommandLineInterface

/// Changes to many photos, as requests one after the other.
///
/// Each request is a transaction, and nobody else changes anything meanwhile: what a person waits who marks one photo in another
/// window. So a request has as many photos as the ones before it say can be done in ``aim``, on this machine and with what is
/// changed: 50 or so go into the trash, 100 become favourites.
///
/// Rejected: one size for all. 500 took 40 ms on one machine and 150 on another, and 50 of them made quick changes a third slower.
enum PhotoBatches {
    /// What a request may take, sending included. With the sync of a commit, others then wait less than 20 ms.
    private static let aim = Duration.milliseconds(8)
    /// With fewer, requests cost more than what they do.
    private static let fewest = 20
    /// What the daemon would take is 10,000.
    static let most = 500

    /// Sends them one after the other, each of which is done as a whole or not at all.
    /// - Parameter most: how many photos one names.
    /// - Returns: how many were changed in all.
    static func change(
        _ ids: [Int64], _ session: Session, most: Int = most, _ send: ([Int64]) async throws -> Int
    ) async throws -> Int {
        var (count, done, size) = (0, 0, min(most, 2 * fewest))
        while done < ids.count {
            let batch = ids[done..<min(done + size, ids.count)]
            let start = ContinuousClock.now
            do {
                count += try await send(Array(batch))
            } catch  where done > 0 {
                session.console.message(
                    "Of \(Figures.count(ids.count, "photo")) the first \(done) were done; the others were not.")
                throw error
            }
            done += batch.count
            size = next(after: batch.count, took: start.duration(to: .now), most: most)
        }
        return count
    }

    /// Half as many or twice as many at most: one request that had to wait for something else says little of the next.
    static func next(after size: Int, took time: Duration, most: Int) -> Int {
        let possible = Int(Double(size) * (aim / max(time, .microseconds(1))))
        return min(most, max(fewest, min(max(possible, size / 2), size * 2)))
    }
}

/// Numbers as people write them, neighbours as ranges.
enum NumberRanges {
    /// `12-40 77`; nil where that takes more than `most` words.
    static func text(_ ids: [Int64], most: Int = 40) -> String? {
        var ranges: [ClosedRange<Int64>] = []
        for id in ids.sorted() {
            if let last = ranges.last, last.upperBound + 1 >= id {
                ranges[ranges.count - 1] = last.lowerBound...id
            } else {
                guard ranges.count < most else { return nil }
                ranges.append(id...id)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: " ")
    }
}
