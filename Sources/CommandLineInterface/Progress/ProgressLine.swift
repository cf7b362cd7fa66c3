import ServiceMesh

/// A job's progress in one line, as much of it as fits.
package enum ProgressLine {
    private static let bars = 10...40
    private static let longestPhase = 24

    /// `importing  [====>     ]  52 %  104/200  8.5/s  0:11 left`, at most `columns - 1` wide, because a line that
    /// fills a terminal wraps on some. What matters least goes first: the rate, the counts, the bar, the time left.
    package static func text(_ progress: JobProgress, columns: Int) -> String {
        let room = max(1, columns - 1)
        let phase = TextWidth.cut(PlainText.neutralized(progress.phase), to: longestPhase)
        let percent = fraction(progress).map { "\(Int($0 * 100)) %" }
        let counts = counts(progress)
        let rate = progress.rate > 0 ? rate(progress) : nil
        let left = progress.secondsLeft.map { Figures.duration(seconds: $0) + " left" }
        let fuller: [[String?]] = [[percent, counts, rate, left], [percent, counts, left], [percent, left]]
        if let fraction = fraction(progress) {
            for parts in fuller {
                let words = parts.compactMap { $0 }
                let bare = words.reduce(TextWidth.of(phase)) { $0 + 2 + TextWidth.of($1) }
                let width = min(bars.upperBound, room - bare - 4)
                if width >= bars.lowerBound { return ([phase, bar(fraction, width)] + words).joined(separator: "  ") }
            }
        }
        for parts in fuller + [[percent ?? counts]] {
            let line = ([phase] + parts.compactMap { $0 }).joined(separator: "  ")
            if TextWidth.of(line) <= room { return line }
        }
        return TextWidth.cut(percent ?? phase, to: room)
    }

    /// 0…1, or nil while the total is not known.
    package static func fraction(_ progress: JobProgress) -> Double? {
        let (done, total) =
            progress.bytesTotal.map { (progress.bytesDone, $0) }
            ?? progress.itemsTotal.map { (progress.itemsDone, $0) } ?? (0, 0)
        guard total > 0 else { return nil }
        return min(1, max(0, Double(done) / Double(total)))
    }

    /// `104/200`, `104` without a total, `1.2 MB/4.5 MB` where bytes are what is counted.
    package static func counts(_ progress: JobProgress) -> String? {
        if let total = progress.bytesTotal, total > 0 {
            return "\(Figures.size(progress.bytesDone))/\(Figures.size(total))"
        }
        if let total = progress.itemsTotal, total > 0 { return "\(progress.itemsDone)/\(total)" }
        return progress.itemsDone > 0 ? "\(progress.itemsDone)" : nil
    }

    private static func rate(_ progress: JobProgress) -> String {
        (progress.bytesTotal == nil ? Figures.decimal(progress.rate) : Figures.size(progress.rate)) + "/s"
    }

    private static func bar(_ fraction: Double, _ width: Int) -> String {
        let filled = Int(fraction * Double(width))
        let head = filled < width ? ">" : ""
        return "[" + String(repeating: "=", count: filled) + head
            + String(repeating: " ", count: width - filled - head.count) + "]"
    }
}

/// Progress where there is no terminal: a line when a phase begins, and one for every tenth of it.
struct ProgressLog {
    private var phase: String?
    private var tenth = 0

    /// The line that this state is worth, or nil.
    mutating func line(for progress: JobProgress) -> String? {
        let reached = ProgressLine.fraction(progress).map { Int($0 * 10) } ?? 0
        let isNewPhase = phase != progress.phase
        guard isNewPhase || reached > tenth else { return nil }
        phase = progress.phase
        tenth = reached
        let words = [
            PlainText.neutralized(progress.phase) + ":", ProgressLine.counts(progress),
            ProgressLine.fraction(progress).map { "(\(Int($0 * 100)) %)" },
        ]
        let line = words.compactMap { $0 }.joined(separator: " ")
        return line.hasSuffix(":") ? line.dropLast() + " …" : line
    }
}
