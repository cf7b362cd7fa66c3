import FuzzSupport

/// Changes one of the three files. In most changed logs and journals the checksums are made to fit again: SQLite, and what
/// looks at them before it does, would else pass over everything behind the change.
@_cdecl("LLVMFuzzerCustomMutator")
func mutateDatabase(
    _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ capacity: Int, _ seed: UInt32
) -> Int {
    Parts.mutate(data, size, capacity, seed, count: 3) { index, part, room in
        var changed = Parts.mutated(part, room)
        guard seed >> 16 & 3 != 0 else { return changed }
        if index == 1 { repairLog(&changed) }
        if index == 2 { repairJournal(&changed) }
        return changed
    }
}

/// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
private func repairLog(_ bytes: inout [UInt8]) {
    let pageSize = Int(number(bytes, 8))
    guard bytes.count >= 32, (512...65_536).contains(pageSize) else { return }
    let isBigEndian = number(bytes, 0) & 1 == 1
    var sums: (UInt32, UInt32) = (0, 0)
    func add(_ range: Range<Int>) {
        for position in stride(from: range.lowerBound, to: range.upperBound - 7, by: 8) {
            let words = (number(bytes, position), number(bytes, position + 4))
            sums.0 = sums.0 &+ (isBigEndian ? words.0 : words.0.byteSwapped) &+ sums.1
            sums.1 = sums.1 &+ (isBigEndian ? words.1 : words.1.byteSwapped) &+ sums.0
        }
    }
    add(0..<24)
    put(sums.0, at: 24, in: &bytes)
    put(sums.1, at: 28, in: &bytes)
    for frame in stride(from: 32, to: bytes.count - 24 - pageSize + 1, by: 24 + pageSize) {
        for salt in 0..<8 { bytes[frame + 8 + salt] = bytes[16 + salt] }
        add(frame..<frame + 8)
        add(frame + 24..<frame + 24 + pageSize)
        put(sums.0, at: frame + 16, in: &bytes)
        put(sums.1, at: frame + 20, in: &bytes)
    }
}

/// https://www.sqlite.org/fileformat2.html#the_rollback_journal
private func repairJournal(_ bytes: inout [UInt8]) {
    let (nonce, sector, pageSize) = (number(bytes, 12), Int(number(bytes, 20)), Int(number(bytes, 24)))
    guard bytes.count >= 28, (32...65_536).contains(sector), (512...65_536).contains(pageSize) else { return }
    for record in stride(from: sector, to: bytes.count - 8 - pageSize + 1, by: 8 + pageSize) {
        var sum = nonce
        for position in stride(from: pageSize - 200, to: 0, by: -200) {
            sum &+= UInt32(bytes[record + 4 + position])
        }
        put(sum, at: record + 4 + pageSize, in: &bytes)
    }
}

/// Big-endian; 0 past the end.
private func number(_ bytes: [UInt8], _ position: Int) -> UInt32 {
    guard position + 4 <= bytes.count else { return 0 }
    return bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
}

private func put(_ number: UInt32, at position: Int, in bytes: inout [UInt8]) {
    for index in 0..<4 { bytes[position + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32(index))) }
}
