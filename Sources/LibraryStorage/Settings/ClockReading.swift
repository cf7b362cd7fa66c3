import ServiceMesh

/// What the clocks said when that was last noted.
package struct ClockReading: Sendable, Equatable {
    /// What is known of a clock on the wall that has jumped.
    package struct Doubt: Sendable, Equatable {
        /// What the wall would say had it gone on; at the moment of the reading.
        package var reckoned: Timestamp
        /// For how long a daemon has run since the jump, in milliseconds.
        package var ran: Int64
        /// What it would have said at the jump; nil where nothing was noted before.
        package let from: Timestamp?

        package init(reckoned: Timestamp, ran: Int64, from: Timestamp?) {
            (self.reckoned, self.ran, self.from) = (reckoned, ran, from)
        }
    }

    package var wall: Timestamp
    package var boot: BootTime
    /// Nil while the wall is believed.
    package var doubt: Doubt?

    package init(wall: Timestamp, boot: BootTime, doubt: Doubt? = nil) {
        (self.wall, self.boot, self.doubt) = (wall, boot, doubt)
    }

    // MARK: As text

    /// Of the start's name, which has no blanks, and numbers.
    package var text: String {
        let numbers = [wall.milliseconds, boot.milliseconds]
        let more = doubt.map { [$0.reckoned.milliseconds, $0.ran] + ($0.from.map { [$0.milliseconds] } ?? []) } ?? []
        return ([boot.boot] + (numbers + more).map(String.init)).joined(separator: " ")
    }

    /// Nil for what no clock has said: a catalogue may have been written by anybody.
    package init?(text: String) {
        let parts = text.split(separator: " ")
        let numbers = parts.dropFirst().compactMap { Int64($0) }
        guard [3, 5, 6].contains(parts.count), numbers.count == parts.count - 1 else { return nil }
        let moments = [numbers[0]] + numbers.enumerated().filter { [2, 4].contains($0.offset) }.map(\.element)
        let spans = [numbers[1]] + numbers.enumerated().filter { $0.offset == 3 }.map(\.element)
        guard moments.allSatisfy({ Timestamp(milliseconds: $0).rfc3339 != nil }),
            spans.allSatisfy({ (0...Self.longest).contains($0) })
        else { return nil }
        wall = Timestamp(milliseconds: numbers[0])
        boot = BootTime(boot: String(parts[0]), milliseconds: numbers[1])
        guard numbers.count > 2 else { return }
        doubt = Doubt(
            reckoned: Timestamp(milliseconds: numbers[2]), ran: numbers[3],
            from: numbers.count > 4 ? Timestamp(milliseconds: numbers[4]) : nil)
    }

    /// No machine has run for a thousand years, in milliseconds.
    private static let longest: Int64 = 1000 * 366 * 86_400_000
}
