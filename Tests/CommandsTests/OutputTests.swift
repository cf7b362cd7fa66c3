import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import Synchronization
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Output")
struct OutputTests {
    @Test("Every status of the mesh has its exit code")
    func exitCodes() {
        let expected: [MeshStatus: Int32] = [
            .invalidArgument: 1, .notFound: 1, .alreadyExists: 1, .failedPrecondition: 1, .permissionDenied: 1,
            .unauthenticated: 1, .resourceExhausted: 4, .deadlineExceeded: 4, .unavailable: 4, .cancelled: 130,
            .dataLoss: 1, .internal: 1, .unimplemented: 1,
        ]
        for status in MeshStatus.allCases {
            #expect(ExitCode(MeshError(status, "")).rawValue == expected[status], "\(status)")
            #expect(CommandFailure(describing: MeshError(status, "x")).exitCode.rawValue == expected[status])
        }
        #expect(CommandFailure.notRunning(socket: "/s").exitCode.rawValue == 3)
        #expect(CommandFailure.notRunning(socket: "/s").message.contains("smilepile up"))
        #expect(CommandFailure.connectionLost("x.").exitCode.rawValue == 1)
        #expect(CommandFailure(ControlError.notAnswering(path: "/s", pid: 7)).exitCode.rawValue == 4)
        #expect(
            CommandFailure(ControlError.notAnswering(path: "/s", pid: 7)).message.contains("not answering, process 7"))
        #expect(CommandFailure.connectionLost("x.").message.contains("smilepile jobs"))
    }

    @Test("What could not be written is a failure, whatever else was done")
    func lostOutput() async {
        let said = Mutex("")
        let console = Console(
            results: .init(isTerminal: false, columns: { nil }, write: { _ in }),
            messages: .init(isTerminal: false, columns: { nil }, write: { text in said.withLock { $0 += text } }),
            environment: [:], lostResults: { ENOSPC })
        let program = Program(
            environment: [:], currentFolder: "/", console: console,
            connect: { throw CommandFailure.notRunning(socket: $0) })
        #expect(await program.run(["version"]) == .failed)
        #expect(said.withLock { $0 }.contains("No space left on device"))
        #expect(await program.run(["ping"]) == .notRunning, "the first reason counts")
    }

    @Test("A job's end has its exit code")
    func jobExitCodes() throws {
        func code(_ state: JobState, attention: Bool = false, error: MeshError? = nil) throws -> ExitCode {
            let json = try Sample.job("library.import", state: state, needsAttention: attention, error: error)
            return ExitCode(try JSONDecoder().decode(JobSnapshot.self, from: Data(json.utf8)))
        }
        #expect(try code(.finished) == .done)
        #expect(try code(.finished, attention: true) == .doneWithProblems)
        #expect(try code(.cancelled) == .cancelled)
        #expect(try code(.cancelled, attention: true) == .cancelled)
        #expect(try code(.failed) == .failed)
        #expect(try code(.failed, error: MeshError(.resourceExhausted, "too many at once")) == .busy)
        #expect(try code(.failed, error: MeshError(short: .space, "disk full")) == .failed)
        #expect(try code(.failed, error: MeshError(.dataLoss, "torn")) == .failed)
    }

    @Test("What a terminal would obey becomes visible instead")
    func neutralized() {
        #expect(PlainText.neutralized("\u{1B}]0;title\u{7}x") == "␛]0;title␇x")
        #expect(PlainText.neutralized("a\nb\tc\rd\u{0}") == "a␊b␉c␍d␀")
        #expect(PlainText.neutralized("\u{9B}31m \u{7F}") == "\u{FFFD}31m ␡")
        #expect(PlainText.neutralized("photo\u{202E}gpj.exe") == "photo\u{FFFD}gpj.exe")
        #expect(PlainText.neutralized("👩‍👩‍👧 ❤️ né ünï 日本") == "👩‍👩‍👧 ❤️ né ünï 日本")
        for value in UInt32(0)...0x2FFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let shown = PlainText.neutralized(String(scalar)).unicodeScalars
            #expect(!shown.contains { $0.properties.generalCategory == .control }, "U+\(String(value, radix: 16))")
        }
    }

    @Test("JSON for a terminal means the same and holds nothing that it would obey")
    func harmlessJSON() throws {
        let text = "a\u{9B}31m\u{202E}b\u{7F} été \u{1B}"
        let json = String(decoding: try JSONText.encode(["name": text]), as: UTF8.self)
        let harmless = JSONText.harmless(json)
        #expect(!harmless.unicodeScalars.contains(where: PlainText.isHarmful))
        #expect(harmless.contains("\\u009B31m\\u202Eb\\u007F été"))
        #expect(try JSONDecoder().decode([String: String].self, from: Data(harmless.utf8)) == ["name": text])
    }

    @Test(
        "Columns of a text",
        arguments: [
            ("abc", 3), ("", 0), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("❤️", 2), ("♥", 1), ("한국", 4),
            ("ｗ", 2),
        ])
    func width(text: String, columns: Int) { #expect(TextWidth.of(text) == columns) }

    @Test("Cutting never splits a character and never passes the width")
    func cut() {
        #expect(TextWidth.cut("abcdef", to: 4) == "abc…")
        #expect(TextWidth.cut("日本語", to: 4) == "日…")
        #expect(TextWidth.cut("日本語", to: 6) == "日本語")
        #expect(TextWidth.cut("abc", to: 0) == "")
        for columns in 0...12 { #expect(TextWidth.of(TextWidth.cut("a日👩‍👩‍👧é本xyz", to: columns)) <= columns) }
    }

    @Test("Tables align wide characters, numbers to the right, and leave no spaces at the end")
    func table() {
        var table = Table(.init(heading: "ID", isNumeric: true), .init(heading: "NAME"), .init(heading: "NOTE"))
        table.add(["1", "日本", "x"])
        table.add(["100", "beach\u{1B}[2J", ""])
        table.add(["7"])
        let off = Style(isOn: false)
        #expect(
            table.lines(width: nil, style: off) == [
                " ID  NAME       NOTE", "  1  日本       x", "100  beach␛[2J", "  7",
            ])
    }

    @Test("A table gives way to a narrow terminal where it may")
    func narrowTable() {
        var table = Table(
            .init(heading: "ID", isNumeric: true), .init(heading: "NAME", shrinks: true), .init(heading: "SIZE"))
        table.add(["1", String(repeating: "long ", count: 20), "1.0 KB"])
        let off = Style(isOn: false)
        for width in [20, 40, 60] {
            #expect(table.lines(width: width, style: off).allSatisfy { TextWidth.of($0) <= width })
            #expect(table.lines(width: width, style: off)[1].hasSuffix("1.0 KB"))
        }
        // Below the narrowest that makes sense it is left to wrap rather than made unreadable.
        #expect(table.lines(width: 5, style: off)[1].contains("long"))
    }

    @Test(
        "Sizes",
        arguments: [
            (Int64(0), "0 B"), (999, "999 B"), (1000, "1.0 KB"), (12_345, "12.3 KB"), (99_950, "100 KB"),
            (999_499, "999 KB"),
            (999_500, "1.0 MB"), (5_000_000_000, "5.0 GB"), (-5, "0 B"), (Int64.max, "9223 PB"),
        ])
    func sizes(bytes: Int64, text: String) {
        #expect(Figures.size(bytes) == text)
    }

    @Test("Durations and counts")
    func durations() {
        #expect(Figures.duration(seconds: 0) == "0:00")
        #expect(Figures.duration(seconds: 4.2) == "0:05")
        #expect(Figures.duration(seconds: 3723) == "1:02:03")
        #expect(Figures.duration(seconds: .infinity) == "?")
        #expect(Figures.duration(seconds: .nan) == "?")
        #expect(Figures.count(1, "photo") == "1 photo")
        #expect(Figures.count(0, "category", "categories") == "0 categories")
    }

    @Test("A day is this machine's day, from its first to its last millisecond")
    func days() throws {
        let start = try #require(LocalDate.startOf("2025-06-15"))
        #expect(LocalDate.text(start) == "2025-06-15 00:00")
        #expect(LocalDate.startOf("2025-06-15T10:00:00Z")?.milliseconds == 1_749_981_600_000)
        #expect(LocalDate.startOf("2025-02-30") == nil && LocalDate.startOf("yesterday") == nil)
        #expect(LocalDate.text(Timestamp(milliseconds: .max)) == String(Int64.max))
    }

    @Test("A photo's date is what the camera's clock showed, and says where it was guessed")
    func cameraClock() throws {
        var photo = Sample.photo(1)
        photo.takenAt = LocalDateTime("2025-06-15T14:05:09.5")
        #expect(LocalDate.text(of: photo) == "2025-06-15 14:05" && LocalDate.taken(photo) == "2025-06-15 14:05")
        (photo.dateSource, photo.takenOffset) = (.fileName, -210)
        #expect(LocalDate.text(of: photo) == "~2025-06-15 14:05")
        #expect(LocalDate.taken(photo) == "2025-06-15 14:05 (UTC-03:30), guessed from the file's name")
        photo.takenAt = LocalDateTime(milliseconds: .max)
        #expect(LocalDate.text(of: photo) == "~" + String(Int64.max))
        photo.takenAt = nil
        #expect(LocalDate.taken(photo) == nil && LocalDate.text(of: photo) == LocalDate.text(photo.createdAt))
        #expect(DateSpan("2024-12-31")?.last.description == "2024-12-31T23:59:59.999")
        #expect(DateSpan("2024-12-31T10:00")?.last == LocalDateTime("2024-12-31T10:00:00"))
        #expect(LocalDateTime("2025-06-15T14:05:09+02:00") == LocalDateTime("2025-06-15T14:05:09"))
        for text in ["2025-02-30", "2025-06-15T25:00", "2025-06-15T14:05:09 Uhr", "", "2025-06-15T14:05:09.5+99:00"] {
            #expect(LocalDateTime(text) == nil, "\(text)")
        }
    }
}
