import Foundation
import Scratch
import TestSupport
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

    @Test(.enabled(if: SmallDisk.isPossible)) func thoseForWhichTheDiskHasNoRoomStayInMemory() throws {
        let disk = try SmallDisk(megabytes: 2)
        defer { disk.unmount() }
        let records = ScratchRecords(of: 7, in: Scratch(in: disk.folder.path))
        for number in 0..<400_000 {
            if number == 100_000 { try disk.fill() }
            try record(number).withUnsafeBytes { try records.write($0, at: number) }
        }
        disk.relieve()
        // One that is there in both ways is the later one.
        try record(5).withUnsafeBytes { try records.write($0, at: 399_999) }
        var found = [UInt8](repeating: 0, count: 14)
        for number in stride(from: 0, to: 399_998, by: 101) {
            try found.withUnsafeMutableBytes { try records.read(into: $0, at: number) }
            if found != record(number) + record(number + 1) { Issue.record("\(number): \(found)") }
        }
        try found.withUnsafeMutableBytes { try records.read(into: $0, at: 399_998) }
        #expect(found == record(399_998) + record(5))
    }

    @Test func withoutAFileTheyStayInMemory() throws {
        let records = ScratchRecords(of: 1 << 20, in: Scratch(in: "/nowhere"))
        let large = [UInt8](repeating: 7, count: 1 << 20)
        try large.withUnsafeBytes { try records.write($0, at: 1) }
        var found = [UInt8](repeating: 0, count: 1 << 20)
        try found.withUnsafeMutableBytes { try records.read(into: $0, at: 1) }
        #expect(found == large)
    }
}
