import Foundation
import Scratch
import Testing

@Suite
struct ScratchRecordsTests {
    private let folder = FileManager.default.temporaryDirectory.path

    private func record(_ number: Int) -> [UInt8] { (0..<7).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) } }

    /// Some 350 KB: the first are in memory when the file is made.
    @Test(arguments: [10, 50_000], [false, true]) func eachIsWhereItWasPut(_ count: Int, _ isInMemory: Bool) throws {
        let records = ScratchRecords(of: 7, in: isInMemory ? .memory : Scratch(in: folder))
        for number in stride(from: 0, to: count, by: 2) {
            try record(number).withUnsafeBytes { try records.write($0, at: number) }
        }
        for number in stride(from: count - 1, to: 0, by: -2) {
            try record(number).withUnsafeBytes { try records.write($0, at: number) }
        }
        let several = (record(3) + record(2)).map { $0 ^ 1 }
        try several.withUnsafeBytes { try records.write($0, at: 4) }
        var found = [UInt8](repeating: 0, count: 7)
        for number in 0..<count {
            try found.withUnsafeMutableBytes { try records.read(into: $0, at: number) }
            let expected = [4: Array(several[..<7]), 5: Array(several[7...])][number] ?? record(number)
            if found != expected { Issue.record("\(number): \(found)") }
        }
        var both = [UInt8](repeating: 0, count: 14)
        try both.withUnsafeMutableBytes { try records.read(into: $0, at: 4) }
        #expect(both == several)
    }

    @Test func aFolderThatIsGoneIsSaidToBe() throws {
        let records = ScratchRecords(of: 1 << 20, in: Scratch(in: "/nowhere"))
        let large = [UInt8](repeating: 0, count: 1 << 20)
        #expect(throws: (any Error).self) { try large.withUnsafeBytes { try records.write($0, at: 0) } }
    }
}
