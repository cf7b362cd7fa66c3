/// Where a sealed value stands. It is authenticated together with the value, which therefore opens in no other row,
/// column or table, and in no other application's data.
package struct SealedPlace: Sendable, Hashable {
    package let table: String
    package let column: String
    /// A uuid, which is the same on every machine that the row travels to.
    package let row: String

    package init(table: String, column: String, row: String) {
        self.table = table
        self.column = column
        self.row = row
    }

    static let application = "SmilePile"

    /// Each part behind its length, so that no two places have the same bytes wherever their parts begin and end.
    func associatedData(version: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in [Self.application, table, column, row] {
            let text = Array(part.utf8)
            withUnsafeBytes(of: UInt32(text.count).littleEndian) { bytes += $0 }
            bytes += text
        }
        bytes += [1, 0, 0, 0, version]
        return bytes
    }
}
