/// Stars, 0…5.
enum Rating {
    /// Some programs write halves and tenths: rounded down. -1 is a photo that was rejected, which is no rating.
    static func stars(_ text: String) -> Int? {
        let digits = text.utf8.drop(while: XMLScanner.isSpace)
        guard let first = digits.first, (0x30...0x35).contains(first) else { return nil }
        let rest = digits.dropFirst().prefix { !XMLScanner.isSpace($0) }
        let isNumber =
            rest.isEmpty
            || (rest.first == UInt8(ascii: ".") && rest.dropFirst().allSatisfy { (0x30...0x39).contains($0) })
        guard isNumber else { return nil }
        let isOver = first == 0x35 && rest.dropFirst().contains { $0 != 0x30 }
        return isOver ? nil : Int(first - 0x30)
    }

    /// Windows' percentages: 1, 25, 50, 75 and 99 for one to five, and what other programs round them to. 0 is none.
    static func stars(percent: Int) -> Int? {
        switch percent {
        case 1...12: 1
        case 13...37: 2
        case 38...62: 3
        case 63...87: 4
        case 88...100: 5
        default: nil
        }
    }
}
