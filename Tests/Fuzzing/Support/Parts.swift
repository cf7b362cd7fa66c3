import CLibFuzzer

/// Several files in one input: the length of each but the last in three bytes, little-endian, then their bytes.
///
/// What libFuzzer inserts into one would move the borders of all, so a target whose input is parts has ``mutate`` as
/// its mutator, which changes one part and leaves the others where they are.
public enum Parts {
    private static let lengthBytes = 3

    public static func joined(_ parts: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts.dropLast() {
            for byte in 0..<lengthBytes { bytes.append(UInt8(truncatingIfNeeded: part.count >> (8 * byte))) }
        }
        for part in parts { bytes.append(contentsOf: part) }
        return bytes
    }

    /// Always `count` parts: what is not there is empty, and the last has all the rest.
    public static func split(_ input: some Collection<UInt8>, _ count: Int) -> [[UInt8]] {
        let bytes = Array(input)
        var position = min(bytes.count, (count - 1) * lengthBytes)
        var parts: [[UInt8]] = []
        for index in 0..<count - 1 {
            let start = index * lengthBytes
            let length = (0..<lengthBytes).reduce(0) { sum, byte in
                start + byte < bytes.count ? sum | Int(bytes[start + byte]) << (8 * byte) : sum
            }
            let end = position + min(length, bytes.count - position)
            parts.append(Array(bytes[position..<end]))
            position = end
        }
        parts.append(Array(bytes[position...]))
        return parts
    }

    /// For `LLVMFuzzerCustomMutator`.
    /// - Parameter change: makes another part of one, by its index and of at most so many bytes; libFuzzer's own change
    ///   unless given.
    public static func mutate(
        _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ capacity: Int, _ seed: UInt32, count: Int,
        change: (Int, [UInt8], Int) -> [UInt8] = { mutated($1, $2) }
    ) -> Int {
        var parts = split(UnsafeBufferPointer(start: data, count: size), count)
        let chosen = Int(seed % UInt32(count))
        let others = (count - 1) * lengthBytes + parts.reduce(0) { $0 + $1.count } - parts[chosen].count
        let room = min(max(0, capacity - others), 1 << 20)
        guard room > 0 else { return min(size, capacity) }
        parts[chosen] = change(chosen, parts[chosen], room)
        let result = joined(parts)
        guard result.count <= capacity else { return min(size, capacity) }
        data.update(from: result, count: result.count)
        return result.count
    }

    /// `bytes` changed by libFuzzer, to at most `capacity`.
    public static func mutated(_ bytes: [UInt8], _ capacity: Int) -> [UInt8] {
        var room = bytes.prefix(capacity) + [UInt8](repeating: 0, count: max(0, capacity - bytes.count))
        let count = room.withUnsafeMutableBufferPointer {
            LLVMFuzzerMutate($0.baseAddress, min(bytes.count, capacity), capacity)
        }
        return Array(room.prefix(count))
    }
}
