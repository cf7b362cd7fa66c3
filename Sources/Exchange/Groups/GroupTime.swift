import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// The time by which groups' photos expire: that of the clock on the wall, but never set back.
///
/// Where the wall is set back by an hour, this time goes on as before, an hour ahead, by the clock of the machine's start. So what
/// has expired does not come back, and what has not lives no longer than it would have. Where the wall is set forward, this
/// time is: a machine without a battery begins in the past, and what it is told then is the truth. It falls back to the wall when
/// no photo is left whose end was reckoned by it; an hour that was once set by mistake is then forgotten.
///
/// Rejected: the latest time seen, alone, which stands still until the wall has caught up, for years after a typing error; and
/// the clock of the machine's start, alone, which says nothing of the time for which the machine was off.
struct GroupTime: Sendable {
    /// What it is reckoned from.
    struct Clocks: Sendable {
        let boot: BootClock
        let wall: WallClock

        func time(in transaction: any CatalogueTransaction) throws -> GroupTime {
            GroupTime(last: try transaction.groups.time(), wall: wall.now(), boot: boot.now())
        }
    }

    /// What the wall says.
    let wall: Timestamp
    /// The wall or later.
    let now: Timestamp
    private let boot: BootTime

    /// Less than this is the clocks' own unevenness, in milliseconds.
    private static let tolerance: Int64 = 60_000

    init(last: GroupTimeReading?, wall: Timestamp, boot: BootTime) {
        (self.wall, self.boot) = (wall, boot)
        guard let last else {
            now = wall
            return
        }
        // Of the time before this start of the machine nothing is known but that it is over.
        let isSameStart =
            last.boot.isOfSameStart(as: boot) && (0...boot.milliseconds).contains(last.boot.milliseconds)
        let passed = isSameStart ? boot.milliseconds - last.boot.milliseconds : 0
        let (expected, isTooMuch) = last.time.milliseconds.addingReportingOverflow(passed)
        // What no calendar has was not written here.
        let isTime = !isTooMuch && Timestamp(milliseconds: expected).rfc3339 != nil
        now = isTime && expected > wall.milliseconds + Self.tolerance ? Timestamp(milliseconds: expected) : wall
    }

    /// What is to be noted of it, for as long as something is left that was reckoned by it.
    var reading: GroupTimeReading { GroupTimeReading(time: now, boot: boot) }

    /// A moment of this time as the wall will show it.
    func onWall(_ moment: Timestamp) -> Timestamp {
        let lead = now.milliseconds - wall.milliseconds
        return Timestamp(milliseconds: max(moment.milliseconds, .min + lead) - lead)
    }

    // MARK: Days

    private static let day: Int64 = 86_400_000

    /// Days since 1970-01-01 on a calendar.
    /// - Parameter offset: minutes that it is ahead of UTC; where this process is, unless told.
    static func day(of wall: Timestamp, offset: Int?) -> Int64 {
        let clock = clock(wall, offset)
        return clock >= 0 ? clock / day : (clock + 1) / day - 1
    }

    /// The latest day that it may be on any calendar: somebody's may be a day ahead of this machine's.
    var lastDay: Int64 { Self.day(of: wall, offset: nil) + 1 }

    /// When that day began.
    static func midnight(before wall: Timestamp, offset: Int?) -> Timestamp {
        let clock = clock(wall, offset)
        return Timestamp(milliseconds: wall.milliseconds - (clock - Self.day(of: wall, offset: offset) * day))
    }

    /// Minutes that the clock is ahead of UTC where this process is.
    static func offset(at wall: Timestamp) -> Int {
        Int((LocalDateTime(here: wall).milliseconds - wall.milliseconds) / 60_000)
    }

    /// - Throws: `invalid_argument`.
    static func validated(offset: Int?) throws -> Int? {
        guard let offset else { return nil }
        guard UTCOffset.range.contains(offset) else {
            throw MeshError(
                .invalidArgument,
                "'utcOffset' is a number of minutes, \(UTCOffset.range.lowerBound) to \(UTCOffset.range.upperBound).")
        }
        return offset
    }

    private static func clock(_ wall: Timestamp, _ offset: Int?) -> Int64 {
        offset.map { wall.milliseconds + Int64($0) * 60_000 } ?? LocalDateTime(here: wall).milliseconds
    }
}

extension CatalogueTransaction {
    /// Days that have come on nobody's calendar were given by a clock that was ahead. They count as today's, by the calendar of who
    /// keeps this catalogue: until midnight, and not until they come.
    func correctDays(at time: GroupTime) throws {
        let photos = try groups.photos(of: nil)
        for sent in Dictionary(grouping: photos, by: { [$0.groupId, $0.senderId] }).values {
            var taken = Set(sent.map(\.day))
            for var photo in sent.sorted(by: { $0.day > $1.day }) where photo.day > time.lastDay {
                // One that was sent before it has the day before.
                var day = time.lastDay - 1
                while taken.contains(day) { day -= 1 }
                taken.insert(day)
                photo.day = day
                try groups.update(photo)
            }
        }
    }

    func haveDaysToCome(at time: GroupTime) throws -> Bool {
        try groups.photos(of: nil).contains { $0.day > time.lastDay }
    }

    /// Notes what waits to go out to a group that goes because somebody wants it to.
    func noteWaiting(in group: StoredGroup, at time: GroupTime) throws {
        let waiting = try groups.photos(of: group.id).filter { $0.transfer == .outgoing && $0.expiresAt > time.now }
        try groupHubs.noteUndelivered(waiting, of: [group], at: time.wall, .left)
    }
}
