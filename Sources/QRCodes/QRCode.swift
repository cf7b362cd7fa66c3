import CQRCode

/// A text as a square of dark and light modules, which a phone's camera reads.
public struct QRCode: Sendable {
    /// Modules of light around it, which the standard wants.
    public static let margin = 4

    /// Modules of a side, without the margin: 21…177.
    public let width: Int
    /// Row by row from the top; whether each is dark.
    private let modules: [Bool]

    /// With the least error correction: it stands on a screen, where nothing is worn off, and larger modules are read from
    /// farther away.
    /// - Returns: nil where the text is empty, or longer than a code can hold: 2,953 bytes.
    public init?(_ text: String) {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1) else { return nil }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        modules = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
    }

    /// Whether a module is dark; what is around the code is light.
    public func isDark(column: Int, row: Int) -> Bool {
        guard (0..<width).contains(column), (0..<width).contains(row) else { return false }
        return modules[row * width + column]
    }
}
