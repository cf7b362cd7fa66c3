import CSodium

/// libsodium, made ready.
enum Sodium {
    /// Its functions may be called only after this: it chooses the implementations for this processor and opens the
    /// source of random numbers. Without that source there is nothing that could be done instead.
    static let isReady: Void = {
        // 1 says that somebody else in the process has done it already.
        guard sodium_init() >= 0 else { fatalError("libsodium could not be made ready: no random numbers.") }
    }()

    /// Writes hexadecimal digits, in a time that says nothing of the bytes.
    /// - Parameter digits: gets two for each byte, and a zero behind them.
    static func writeHex(_ bytes: UnsafePointer<UInt8>, count: Int, into digits: UnsafeMutablePointer<UInt8>) {
        let room = count * 2 + 1
        digits.withMemoryRebound(to: CChar.self, capacity: room) { _ = sodium_bin2hex($0, room, bytes, count) }
    }

    /// Reads the hexadecimal digits of `count` bytes, in a time that says nothing of them.
    /// - Returns: whether they are digits.
    static func readHex(_ digits: UnsafePointer<UInt8>, into bytes: UnsafeMutablePointer<UInt8>, count: Int) -> Bool {
        digits.withMemoryRebound(to: CChar.self, capacity: count * 2) {
            sodium_hex2bin(bytes, count, $0, count * 2, nil, nil, nil) == 0
        }
    }
}
