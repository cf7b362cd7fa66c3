import CommandLineInterface

/// Changes to many photos, as requests one after the other.
enum PhotoBatches {
    /// Each request is a transaction, and nobody else changes anything meanwhile: so many photos take 50 to 150 ms on a slow
    /// machine. The daemon takes 10,000 at once, with which others would wait for seconds there.
    static let size = 500

    /// Sends them one after the other, each of which is done as a whole or not at all.
    /// - Parameter size: how many photos one names.
    /// - Returns: how many were changed in all.
    static func change(
        _ ids: [Int64], _ session: Session, size: Int = size, _ send: ([Int64]) async throws -> Int
    ) async throws -> Int {
        var count = 0
        for start in stride(from: 0, to: ids.count, by: size) {
            do {
                count += try await send(Array(ids[start..<min(start + size, ids.count)]))
            } catch  where start > 0 {
                session.console.message(
                    "Of \(Figures.count(ids.count, "photo")) the first \(start) were done; the others were not.")
                throw error
            }
        }
        return count
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
