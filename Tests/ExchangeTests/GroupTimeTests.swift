import LibraryModel
@testable import Exchange
import LibraryStorage
import ServiceMesh
import Testing

/// The time by which groups' photos expire, and whose day it is.
@Suite struct GroupTimeTests {
    private static let noon = Timestamp(milliseconds: 1_795_435_200_000)
    private static let hour: Int64 = 3_600_000

    private func moment(_ hours: Int64) -> Timestamp {
        Timestamp(milliseconds: Self.noon.milliseconds + hours * Self.hour)
    }

    private func boot(_ hours: Int64, _ name: String = "first") -> BootTime {
        BootTime(boot: name, milliseconds: 1_000 + hours * Self.hour)
    }

    private func reading(_ hours: Int64, boot: Int64) -> GroupTimeReading {
        GroupTimeReading(time: moment(hours), boot: self.boot(boot))
    }

    @Test func itIsTheWallsWhereNothingIsNotedAndWhereTheWallIsAhead() {
        #expect(GroupTime(last: nil, wall: moment(3), boot: boot(0)).now == moment(3))
        #expect(GroupTime(last: reading(0, boot: 0), wall: moment(2), boot: boot(2)).now == moment(2))
        // Set forward, in this start of the machine or since the last.
        #expect(GroupTime(last: reading(0, boot: 0), wall: moment(30_000), boot: boot(1)).now == moment(30_000))
        #expect(GroupTime(last: reading(0, boot: 9), wall: moment(5), boot: boot(0, "next")).now == moment(5))
    }

    @Test func whereTheWallIsSetBackItGoesOn() {
        let back = GroupTime(last: reading(0, boot: 0), wall: moment(-100), boot: boot(2))
        #expect(back.now == moment(2) && back.wall == moment(-100))
        #expect(back.onWall(moment(5)) == moment(-97))
        #expect(back.reading == GroupTimeReading(time: moment(2), boot: boot(2)))
        // For how long the machine was off, nobody knows.
        #expect(GroupTime(last: reading(0, boot: 9), wall: moment(-1), boot: boot(3, "next")).now == moment(0))
        // Half a minute is the clocks' own.
        let half = Timestamp(milliseconds: moment(2).milliseconds - 30_000)
        #expect(GroupTime(last: reading(0, boot: 0), wall: half, boot: boot(2)).now == half)
    }

    @Test func whatACatalogueFromElsewhereSaysEndsNothing() {
        for time in [Int64.min, .max] {
            for start in [Int64.min, .max] {
                let last = GroupTimeReading(
                    time: Timestamp(milliseconds: time), boot: BootTime(boot: "first", milliseconds: start))
                let time = GroupTime(last: last, wall: moment(0), boot: boot(0))
                #expect(time.now >= moment(0))
                _ = time.onWall(Timestamp(milliseconds: .min))
                _ = time.onWall(Timestamp(milliseconds: .max))
            }
        }
    }

    @Test func aDayIsOneOnTheOwnCalendar() throws {
        // 2026-11-22T23:30Z
        let late = try #require(Timestamp(rfc3339: "2026-11-22T23:30:00Z"))
        let day = GroupTime.day(of: late, offset: 0)
        #expect(GroupTime.day(of: late, offset: 29) == day && GroupTime.day(of: late, offset: 30) == day + 1)
        #expect(GroupTime.day(of: late, offset: -720) == day)
        #expect(GroupTime.midnight(before: late, offset: 0) == Timestamp(rfc3339: "2026-11-22T00:00:00Z"))
        #expect(GroupTime.midnight(before: late, offset: 60) == Timestamp(rfc3339: "2026-11-22T23:00:00Z"))
        #expect(GroupTime.midnight(before: late, offset: -720) == Timestamp(rfc3339: "2026-11-22T12:00:00Z"))
        // Before 1970 days go on.
        let early = Timestamp(milliseconds: -1)
        #expect(GroupTime.day(of: early, offset: 0) == -1 && GroupTime.day(of: early, offset: 1) == 0)
        #expect(GroupTime.midnight(before: early, offset: 0) == Timestamp(milliseconds: -86_400_000))
        for offset in [-721, 841, .min, .max] {
            #expect(throws: MeshError.self) { try GroupTime.validated(offset: offset) }
        }
    }
}
