import Foundation
import ServiceMesh
import Synchronization
import Testing

@testable import CommandLineInterface

@Suite("Progress")
struct ProgressTests {
    private func progress(
        _ phase: String = "importing", done: Int64 = 0, total: Int64? = nil, bytes: Int64 = 0, bytesTotal: Int64? = nil,
        rate: Double = 0, left: Double? = nil
    ) throws -> JobProgress {
        var members: [String: JSONValue] = [
            "phase": .string(phase), "itemsDone": .integer(done), "bytesDone": .integer(bytes), "rate": .number(rate),
        ]
        if let total { members["itemsTotal"] = .integer(total) }
        if let bytesTotal { members["bytesTotal"] = .integer(bytesTotal) }
        if let left { members["secondsLeft"] = .number(left) }
        return try JSONDecoder().decode(JobProgress.self, from: JSONEncoder().encode(JSONValue.object(members)))
    }

    @Test("As much as fits, the least important first to go")
    func widths() throws {
        let half = try progress(done: 104, total: 200, rate: 8.5, left: 11)
        #expect(
            ProgressLine.text(half, columns: 80)
                == "importing  [=================>               ]  52 %  104/200  8.5/s  0:11 left")
        #expect(ProgressLine.text(half, columns: 60) == "importing  [======>      ]  52 %  104/200  8.5/s  0:11 left")
        #expect(ProgressLine.text(half, columns: 52) == "importing  [======>     ]  52 %  104/200  0:11 left")
        #expect(ProgressLine.text(half, columns: 43) == "importing  [======>     ]  52 %  0:11 left")
        #expect(ProgressLine.text(half, columns: 30) == "importing  52 %  0:11 left")
        #expect(ProgressLine.text(half, columns: 17) == "importing  52 %")
        #expect(ProgressLine.text(half, columns: 8) == "52 %")
        for columns in 1...300 {
            #expect(TextWidth.of(ProgressLine.text(half, columns: columns)) < max(2, columns), "\(columns)")
        }
    }

    @Test("Bytes are what counts where their total is known")
    func bytes() throws {
        let line = ProgressLine.text(
            try progress(
                "copying", done: 1, total: 9, bytes: 250_000_000, bytesTotal: 1_000_000_000, rate: 5e7, left: 15),
            columns: 100)
        #expect(line.contains("25 %  250 MB/1.0 GB  50.0 MB/s  0:15 left"))
    }

    @Test("Odd numbers from the other side draw no odd bar")
    func odd() throws {
        #expect(ProgressLine.fraction(try progress(done: 500, total: 200)) == 1)
        #expect(ProgressLine.fraction(try progress(done: -5, total: 200)) == 0)
        #expect(ProgressLine.fraction(try progress(done: 5, total: 0)) == nil)
        #expect(ProgressLine.fraction(try progress(done: .max, total: .max)) == 1)
        #expect(ProgressLine.text(try progress("reading folders", done: 12), columns: 80) == "reading folders  12")
        let hostile = try progress("\u{1B}[2J" + String(repeating: "x", count: 500), done: .min, total: -1, rate: 1e300)
        #expect(TextWidth.of(ProgressLine.text(hostile, columns: 60)) < 60)
        #expect(!ProgressLine.text(hostile, columns: 60).contains("\u{1B}"))
    }

    @Test("Without a terminal: a line when a phase begins, one for every tenth of it, no more")
    func log() throws {
        var log = ProgressLog()
        var lines: [String] = []
        for done in 0...200 {
            if let line = log.line(for: try progress(done: Int64(done), total: 200)) { lines.append(line) }
        }
        if let line = log.line(for: try progress("finishing")) { lines.append(line) }
        #expect(lines.count == 12)
        #expect(lines.first == "importing: 0/200 (0 %)")
        #expect(lines[1] == "importing: 20/200 (10 %)")
        #expect(lines[10] == "importing: 200/200 (100 %)")
        #expect(lines.last == "finishing …")
    }

    @Test("On a terminal the line is drawn ten times a second at most, but at once for a new phase")
    func throttled() throws {
        let clock = Clock()
        let stage = Stage(terminalColumns: 80)
        let display = ProgressDisplay(console: stage.console, now: { clock.now })
        for step in 0..<100 {
            clock.now = UInt64(step) * 10_000_000
            display.show(try progress(done: Int64(step), total: 100))
        }
        #expect(stage.messages.count { $0 == "\r" } == 10)
        display.show(try progress("finishing"))
        #expect(stage.messages.count { $0 == "\r" } == 11)
        display.end()
        display.end()
        #expect(stage.messages.hasSuffix("finishing\u{1B}[K\r\u{1B}[K"))
        #expect(!stage.messages.contains("\n"))
    }
}

/// A clock that a test sets.
final class Clock: Sendable {
    private let moment = Mutex(UInt64(0))
    var now: UInt64 {
        get { moment.withLock { $0 } }
        set { moment.withLock { $0 = newValue } }
    }
}
