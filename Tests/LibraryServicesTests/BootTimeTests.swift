import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import Exchange
@testable import LibraryServices
@testable import LibraryStorage

/// The clock of a machine's start, and what a catalogue is worth that was last written by another one.
@Suite struct BootTimeTests {
    private static let hour: Int64 = 3_600_000

    /// An hour before, or, with another name, on a machine that was started as long ago.
    private let here = BootTime(boot: "here", milliseconds: 9 * hour)
    private let elsewhere = BootTime(boot: "elsewhere", milliseconds: 9 * hour)
    private let now = BootTime(boot: "here", milliseconds: 10 * hour)

    @Test func aStartIsNamedByTheKernelAtRandom() throws {
        let path = "/proc/sys/kernel/random/boot_id"
        let name = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        let (first, second) = (BootClock.system.now(), BootClock.system.now())
        #expect(first.boot == name)
        #expect(first.isOfSameStart(as: second) && first.milliseconds <= second.milliseconds)
        // A UUID of version 4 says nothing but random bits: no other machine's start has the same.
        let parts = name.split(separator: "-")
        #expect(UUID(uuidString: name) != nil)
        #expect(parts.count == 5 && parts[2].hasPrefix("4") && ["8", "9", "a", "b"].contains(parts[3].prefix(1)))
    }

    @Test func anotherMachineIsAnotherStart() {
        #expect(here.isOfSameStart(as: now))
        #expect(!elsewhere.isOfSameStart(as: now))
    }

    /// What this start vouches for counts, and not how far the other one's clock was.
    @Test func aWrongPINOfAnotherMachineWaitsByThisOnesClock() {
        let young = BootTime(boot: "here", milliseconds: 1000)
        #expect(PINDelay.left(after: 5, here, at: now) == 0)
        #expect(PINDelay.left(after: 5, BootTime(boot: "here", milliseconds: 900), at: young) == 29_900)
        #expect(PINDelay.left(after: 5, BootTime(boot: "elsewhere", milliseconds: 900), at: young) == 29_000)
        #expect(PINDelay.left(after: 5, elsewhere, at: young) == 29_000)
    }

    @Test func timeThatAnotherMachinesClockShowsIsNotTimeThatHasPassed() {
        let wall = Timestamp(milliseconds: 1_795_435_200_000)
        // The wall was set back by two hours; an hour has passed on this machine, and nobody knows how much on two.
        let back = Timestamp(milliseconds: wall.milliseconds - 2 * Self.hour)
        let onward = Timestamp(milliseconds: wall.milliseconds + Self.hour)
        #expect(GroupTime(last: GroupTimeReading(time: wall, boot: here), wall: back, boot: now).now == onward)
        #expect(GroupTime(last: GroupTimeReading(time: wall, boot: elsewhere), wall: back, boot: now).now == wall)
    }

    @Test func anotherMachinesReadingOfTheClocksIsOfAnotherStart() {
        let wall = Timestamp(milliseconds: 1_795_435_200_000)
        let later = Timestamp(milliseconds: wall.milliseconds + 20 * Self.hour)
        func jump(_ last: BootTime) -> ClockReading.Doubt? {
            DueTime.next(ClockReading(wall: wall, boot: last), wall: later, boot: now, isRunning: false).doubt
        }
        // By this start's clock one hour has passed, or all ten hours of it.
        #expect(jump(here)?.from == Timestamp(milliseconds: wall.milliseconds + Self.hour))
        #expect(jump(elsewhere) == nil)
    }
}
