import LibraryModel
import LibraryStorage
import ServiceMesh
import Synchronization

/// The time by which something is deleted for good because its date has passed: photos in the trash, receipts, uploads.
///
/// It is the wall's, but not where the wall has jumped: a battery that is empty and a time server that is wrong set a clock by years,
/// and what went then cannot be brought back when it is right again. A jump is where the wall and the clock of the
/// machine's start do not agree on how much time has passed since the last look. After one, this time goes on as if there had been none, until a
/// daemon has run for a day. A machine that was off for months looks the same, and waits for the same day. Whoever empties
/// the trash by hand waits for nothing.
///
/// What is noted is in the catalogue, so that restarts neither end a doubt nor prolong it.
///
/// Rejected: never to believe a jump, which keeps everything for ever where it was the old time that was wrong; a question to a
/// person, since most machines that keep photos have none in front of them.
package final class DueTime: Sendable {
    private struct State {
        var reading: ClockReading
        var noted: ClockReading?
    }

    private static let hour: Int64 = 3_600_000
    /// A smaller jump is a machine that was off for a night.
    static let tolerance = 12 * hour
    /// For how long a daemon has to run before a jump is believed.
    static let patience = 24 * hour
    /// A jump while one is doubted that does not begin the doubt anew, so that a machine that is on in the evenings comes to an end of it.
    static let furtherJump = 8 * 24 * hour
    /// The most that one look counts as running: looks come each hour, and what lies between two that are further apart is sleep.
    private static let runningAtMost = 2 * hour
    /// Between two notes.
    private static let noteDistance = hour / 6

    /// Nil where nothing is noted.
    private let catalogue: (any Catalogue)?
    private let boot: BootClock
    package let wall: WallClock
    private let state: Mutex<State>

    private init(_ catalogue: (any Catalogue)?, _ boot: BootClock, _ wall: WallClock, _ state: State) {
        (self.catalogue, self.boot, self.wall) = (catalogue, boot, wall)
        self.state = Mutex(state)
    }

    /// Of a mesh whose clocks cannot disagree: a simulated one, and those of most tests.
    package static func following(_ wall: WallClock = WallClock { .now() }) -> DueTime {
        let boot = BootClock { BootTime(boot: "wall", milliseconds: wall.now().milliseconds) }
        let reading = ClockReading(wall: wall.now(), boot: boot.now())
        return DueTime(nil, boot, wall, State(reading: reading))
    }

    /// The time of a library that is being opened.
    package static func open(_ catalogue: any Catalogue, boot: BootClock, wall: WallClock) async throws -> DueTime {
        let (noted, hasTrash) = try await catalogue.read {
            (try $0.settings.clockReading(), try $0.trash.count() > 0)
        }
        let (now, bootNow) = (wall.now(), boot.now())
        let reading: ClockReading
        if let noted {
            reading = next(noted, wall: now, boot: bootNow, isRunning: false)
        } else {
            // An earlier version did not note the time. Where there is nothing to lose nothing has to wait.
            let unknown = ClockReading.Doubt(reckoned: Timestamp(milliseconds: 0), ran: 0, from: nil)
            reading = ClockReading(wall: now, boot: bootNow, doubt: hasTrash ? unknown : nil)
        }
        let time = DueTime(catalogue, boot, wall, State(reading: reading, noted: noted))
        await time.note()
        return time
    }

    // MARK: Looking

    /// - Parameter isRunning: whether the last reading is of this process.
    static func next(_ last: ClockReading, wall: Timestamp, boot: BootTime, isRunning: Bool) -> ClockReading {
        let isSameStart = last.boot.isOfSameStart(as: boot) && boot.milliseconds >= last.boot.milliseconds
        // Of the time before this start of the machine nothing is known but that it is over.
        let passed = isSameStart ? boot.milliseconds - last.boot.milliseconds : max(0, boot.milliseconds)
        let jump = wall.milliseconds &- last.wall.milliseconds &- passed
        var next = ClockReading(wall: wall, boot: boot)
        guard var doubt = last.doubt else {
            guard abs(jump) > tolerance else { return next }
            let from = Timestamp(milliseconds: last.wall.milliseconds &+ passed)
            next.doubt = ClockReading.Doubt(reckoned: from, ran: 0, from: from)
            return next
        }
        doubt.reckoned.milliseconds &+= passed
        if abs(jump) > furtherJump { doubt.ran = 0 } else if isRunning { doubt.ran += min(passed, runningAtMost) }
        let isRightAgain = abs(wall.milliseconds &- doubt.reckoned.milliseconds) <= tolerance
        next.doubt = isRightAgain || doubt.ran >= patience ? nil : doubt
        return next
    }

    private func look() -> ClockReading {
        state.withLock { state in
            state.reading = Self.next(state.reading, wall: wall.now(), boot: boot.now(), isRunning: true)
            return state.reading
        }
    }

    /// The time now.
    package func now() -> ReckonedTime {
        let reading = look()
        guard let doubt = reading.doubt else { return ReckonedTime(at: reading.wall) }
        return ReckonedTime(due: min(doubt.reckoned, reading.wall), latest: max(doubt.reckoned, reading.wall))
    }

    /// The jump that is doubted now, and when, by the wall, it will be believed.
    package func jump() -> (from: Timestamp?, to: Timestamp, endsAt: Timestamp)? {
        let reading = look()
        return reading.doubt.map { doubt in
            let left = Self.patience - doubt.ran
            return (doubt.from, reading.wall, Timestamp(milliseconds: reading.wall.milliseconds &+ left))
        }
    }

    // MARK: Noting

    /// Notes the time where that is worth a write. On a full disk it is noted later.
    package func note() async {
        let reading = look()
        let noted = state.withLock { $0.noted }
        guard let catalogue, Self.isWorthNoting(reading, after: noted) else { return }
        guard (try? await catalogue.write { try $0.settings.setClockReading(reading) }) != nil else { return }
        state.withLock { $0.noted = reading }
    }

    private static func isWorthNoting(_ reading: ClockReading, after noted: ClockReading?) -> Bool {
        guard let noted, noted.boot.isOfSameStart(as: reading.boot), (noted.doubt == nil) == (reading.doubt == nil)
        else {
            return true
        }
        return abs(reading.wall.milliseconds &- noted.wall.milliseconds) >= noteDistance
            || abs(reading.boot.milliseconds &- noted.boot.milliseconds) >= noteDistance
    }
}
