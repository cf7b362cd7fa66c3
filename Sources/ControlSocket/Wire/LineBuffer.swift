import Glibc

/// Bytes as they come, cut into lines. Holds one unfinished line, or the lines that may not be looked at yet.
struct LineBuffer {
    enum Outcome: Equatable {
        /// All complete lines were handed out.
        case drained
        /// `take` asked to stop; the rest waits for ``resume(_:)``.
        case paused
        /// A line is longer than the limit. What is held is of no use any more.
        case tooLong
    }

    /// Bytes of a line, without its end.
    let limit: Int
    private var held: [UInt8] = []
    /// Bytes at the beginning of `held` that are known to have no LF among them.
    private var searched = 0

    init(limit: Int) { self.limit = limit }

    /// Adds `chunk` and hands out the lines that are complete, without LF or CRLF, until `take` returns false.
    mutating func add(_ chunk: Span<UInt8>, _ take: (Span<UInt8>) -> Bool) -> Outcome {
        if held.isEmpty {
            // The common case copies nothing: the chunk is the line.
            var begin = 0
            var from = 0
            let outcome = cut(chunk, &begin, &from, take)
            if outcome != .tooLong { append(chunk, from: begin) }
            searched = from - begin
            return outcome
        }
        append(chunk, from: 0)
        return resume(take)
    }

    /// Goes on with what is held.
    mutating func resume(_ take: (Span<UInt8>) -> Bool) -> Outcome {
        var begin = 0
        var from = searched
        let outcome = cut(held.span, &begin, &from, take)
        held.removeFirst(begin)
        searched = from - begin
        return outcome
    }

    /// Hands out what is left when no more will come: a last line without its end is a line all the same.
    mutating func finish(_ take: (Span<UInt8>) -> Bool) -> Outcome {
        let outcome = resume(take)
        guard outcome == .drained, !held.isEmpty else { return outcome }
        let last = held
        held = []
        searched = 0
        return take(last.span) ? .drained : .paused
    }

    var isEmpty: Bool { held.isEmpty }

    private mutating func append(_ chunk: Span<UInt8>, from start: Int) {
        guard start < chunk.count else { return }
        chunk.extracting(start...).withUnsafeBufferPointer { held.append(contentsOf: $0) }
    }

    private func cut(
        _ text: Span<UInt8>, _ begin: inout Int, _ from: inout Int, _ take: (Span<UInt8>) -> Bool
    ) -> Outcome {
        while let end = Self.lineFeed(text, from) {
            let hasReturn = end > begin && text[end - 1] == UInt8(ascii: "\r")
            let line = begin..<(hasReturn ? end - 1 : end)
            guard line.count <= limit else { return .tooLong }
            begin = end + 1
            from = begin
            guard take(text.extracting(line)) else { return .paused }
        }
        from = text.count
        // One more byte may be the CR of a line that is exactly as long as it may be.
        return text.count - begin > limit + 1 ? .tooLong : .drained
    }

    private static func lineFeed(_ text: Span<UInt8>, _ from: Int) -> Int? {
        guard from < text.count else { return nil }
        return text.extracting(from...).withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress, let found = memchr(base, 0x0A, bytes.count) else { return nil }
            return from + (UnsafeRawPointer(found) - UnsafeRawPointer(base))
        }
    }
}
