import Synchronization

/// Reads every entry to its end, with as many threads as its owner gives it.
///
///     let verification = ZipVerification(reader)
///     // on each of some threads:
///     try verification.work(cancelled: { … }, progress: { … })
///     // when all have returned:
///     verification.failures.isEmpty
public final class ZipVerification: Sendable {
    private struct State {
        var next = 0
        var failures: [ZipRefusal] = []
    }

    private let reader: ZipReader
    /// Bytes of the entries that are to be read.
    public let bytes: Int64
    private let forOthers: Bool
    private let forAgain: Bool
    private let state = Mutex(State())
    /// The entries read so far, as they are known again; not those that were proven before.
    package let read: EntryTable<VerifiedEntry>

    /// - Parameter forOthers: refuses also what can be read here and not by others; see `ZipReader.verify`.
    /// - Throws: `.scratchFailed`.
    public convenience init(_ reader: ZipReader, forOthers: Bool = false) throws(ZipError) {
        try self.init(reader, forOthers: forOthers, forAgain: false)
    }

    /// - Parameter forAgain: whether the entries are to be read again, and to be known then by their fingerprints.
    package init(_ reader: ZipReader, forOthers: Bool, forAgain: Bool) throws(ZipError) {
        self.reader = reader
        (self.forOthers, self.forAgain) = (forOthers, forAgain)
        read = EntryTable(in: reader.scratch)
        var bytes: Int64 = 0
        try reader.entries.forEach { entry in
            if Self.isToBeRead(entry.index, reader) { bytes &+= entry.size }
        }
        self.bytes = bytes
    }

    /// What has no problem, or only one of its name.
    private static func isToBeRead(_ index: Int, _ reader: ZipReader) -> Bool {
        reader.obstacle(to: index) == nil && !reader.proven.contains(index)
    }

    /// The digests of entries read so far and of those that were proven before, by index: a copy in memory, made anew each time.
    /// - Throws: `.scratchFailed`.
    public var digests: [Int: ContentDigest] {
        get throws(ZipError) {
            var digests: [Int: ContentDigest] = [:]
            for index in reader.entries.indices {
                let read = try read[index]?.digest
                digests[index] = if let read { read } else { try reader.proven[index] }
            }
            return digests
        }
    }

    /// The entries that turned out to be damaged so far, in the order of the archive.
    public var failures: [ZipRefusal] { state.withLock { $0.failures }.sorted { $0.entry < $1.entry } }

    /// Takes entries that no other thread has taken until none is left.
    ///
    /// A damaged entry becomes one of `failures` and the rest goes on.
    /// - Throws: `.readFailed`, `.scratchFailed` and `.cancelled`; the entry that was being read is then in neither result.
    public func work(
        cancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
    ) throws(ZipError) {
        while try workOnNext(cancelled: cancelled, progress: progress) {}
    }

    /// As ``work(cancelled:progress:)``, for one entry, for those who have something to decide between two.
    /// - Returns: false where none was left to be taken.
    public func workOnNext(
        cancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
    ) throws(ZipError) -> Bool {
        guard let index = takeNext() else { return false }
        do throws(ZipError) {
            let read = try reader.readThrough(
                index, forOthers: forOthers, forAgain: forAgain, cancelled: cancelled, progress: progress)
            try self.read.put(read, at: index)
        } catch .unusableEntry(let name, let problem) {
            state.withLock { $0.failures.append(ZipRefusal(entry: index, name: name, problem: problem)) }
        }
        return true
    }

    private func takeNext() -> Int? {
        state.withLock { state in
            while state.next < reader.entries.count {
                defer { state.next += 1 }
                if Self.isToBeRead(state.next, reader) { return state.next }
            }
            return nil
        }
    }
}

/// What is known of an entry's bytes once all have been read.
package struct VerifiedEntry: Sendable {
    package let digest: ContentDigest
    /// Nil where nobody was to read them again.
    let fingerprint: Fingerprint?
}
