import FuzzSupport

@testable import ZipArchive

/// libFuzzer's changes, after most of which the archive's parts are made to fit each other again: a change of any
/// length would else be seen as a directory that is elsewhere, and nothing behind that check be reached.
@_cdecl("LLVMFuzzerCustomMutator")
func mutateArchive(
    _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ capacity: Int, _ seed: UInt32
) -> Int {
    var bytes = Parts.mutated(Array(UnsafeBufferPointer(start: data, count: size)), capacity)
    // One change of four stays as it is.
    if seed & 3 != 0 { Repair(fixesChecksums: seed & 4 != 0).apply(to: &bytes) }
    data.update(from: bytes, count: bytes.count)
    return bytes.count
}

/// Finds records by their signatures and lets them speak of each other truly.
private struct Repair {
    let fixesChecksums: Bool

    func apply(to bytes: inout [UInt8]) {
        let locals = places(of: 0x0403_4B50, in: bytes)
        let centrals = places(of: 0x0201_4B50, in: bytes)
        guard let end = places(of: 0x0605_4B50, in: bytes).last, end + 22 <= bytes.count else { return }
        let wide = places(of: 0x0606_4B50, in: bytes).last { $0 < end }
        let start = centrals.first ?? wide ?? end
        let size = (wide ?? end) - start
        guard size >= 0 else { return }
        for (central, local) in zip(centrals, locals) where central + 46 <= bytes.count {
            write(UInt32(local), at: central + 42, in: &bytes)
            if fixesChecksums { fixChecksum(central: central, local: local, in: &bytes) }
        }
        let count = centrals.count { $0 < end }
        if let wide, wide + 56 <= bytes.count, wide + 76 <= end {
            for field in [24, 32] { write(UInt64(count), at: wide + field, in: &bytes) }
            write(UInt64(size), at: wide + 40, in: &bytes)
            write(UInt64(start), at: wide + 48, in: &bytes)
            write(UInt64(wide), at: end - 12, in: &bytes)
        } else {
            for field in [8, 10] { write(UInt16(truncatingIfNeeded: count), at: end + field, in: &bytes) }
            write(UInt32(size), at: end + 12, in: &bytes)
            write(UInt32(start), at: end + 16, in: &bytes)
        }
        write(UInt16(truncatingIfNeeded: bytes.count - end - 22), at: end + 20, in: &bytes)
    }

    /// For stored data: the checksum of what the directory says is the entry.
    private func fixChecksum(central: Int, local: Int, in bytes: inout [UInt8]) {
        let view = RecordView(bytes[...])
        guard local + 30 <= bytes.count, view.u16(central + 10) == 0, let size = view.u32(central + 20),
            let name = view.u16(local + 26), let extra = view.u16(local + 28),
            let data = view.slice(local + 30 + Int(name) + Int(extra), Int(size))
        else { return }
        let checksum = ContentDigest(of: Array(data)).crc32
        write(checksum, at: central + 16, in: &bytes)
        if view.u32(local + 14) != 0 { write(checksum, at: local + 14, in: &bytes) }
    }

    private func places(of signature: UInt32, in bytes: [UInt8]) -> [Int] {
        let view = RecordView(bytes[...])
        return bytes.indices.filter { bytes[$0] == 0x50 && view.u32($0) == signature }
    }

    private func write(_ number: some FixedWidthInteger, at place: Int, in bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) {
            for (index, byte) in $0.enumerated() { bytes[place + index] = byte }
        }
    }
}
