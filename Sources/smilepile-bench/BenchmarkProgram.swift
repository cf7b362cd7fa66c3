import BenchSupport
import FaultCampaign
import StressCampaign
/// Finds the subcommand, gives it its arguments and a folder, and prints its report.
enum BenchmarkProgram {
    static var measurements: [any Measurement.Type] {
        [
            MeshMeasurement.self, ObservationMeasurement.self, ImportMeasurement.self, ImagesMeasurement.self,
            BackupMeasurement.self, FolderBackupMeasurement.self, RepeatedBackupMeasurement.self,
            StoppedBackupMeasurement.self,
            DurableMeasurement.self, DailyMeasurement.self, SocketMeasurement.self, CatalogueMeasurement.self,
            ScaleMeasurement.self,
            WebMeasurement.self, HubMeasurement.self,
        ]
    }

    private static let common = [
        Arguments.Option("work", "FOLDER", "where temporary files go (the system's folder for them)"),
        Arguments.Option("json", nil, "prints the report as JSON"),
        Arguments.Option("help", nil, "shows this"),
    ]
    /// Of measurements.
    private static let strict = Arguments.Option("strict", nil, "ends with 1 where a figure does not hold")

    static func run(_ arguments: [String]) async throws {
        guard let name = arguments.first, name != "--help", name != "help" else { return print(overview) }
        let rest = arguments.dropFirst()
        if name == AlbumCommand.name {
            let arguments = try Arguments(rest, options: AlbumCommand.options + common.suffix(1))
            guard !arguments.isSet("help") else {
                return print(help("album FOLDER", AlbumCommand.summary, AlbumCommand.options + common.suffix(1)))
            }
            return try AlbumCommand(arguments).run()
        }
        if name == StressCommand.name { return try await stress(rest) }
        if name == FaultsCommand.name { return try await faults(rest) }
        let found = measurements.first { $0.name == name }
        guard found != nil || name == AllCommand.name else {
            throw Arguments.Mistake(description: "There is no command '\(name)'.\n\n\(overview)")
        }
        let options = (found?.options ?? AllCommand.options) + [strict] + common
        let parsed = try Arguments(rest, options: options)
        guard !parsed.isSet("help") else { return print(help(name, found?.summary ?? AllCommand.summary, options)) }
        if let word = parsed.words.first {
            throw Arguments.Mistake(description: "\(name) takes no '\(word)'. See smilepile-bench \(name) --help.")
        }
        let measurement = try found?.init(parsed)
        let work = try WorkFolder(in: parsed.text("work"))
        defer { work.remove() }
        let figures =
            if let measurement {
                try await measurement.figures(in: work)
            } else {
                await AllCommand.figures(parsed, in: work)
            }
        let report = Report(figures: figures)
        try report.print(asJSON: parsed.isSet("json"))
        if parsed.isSet(strict.name), report.missed > 0 { throw Missed(count: report.missed) }
    }

    /// Figures that do not hold.
    private struct Missed: Error, CustomStringConvertible {
        let count: Int
        var description: String { "\(count) of the figures above \(count == 1 ? "does" : "do") not hold." }
    }

    private static func stress(_ arguments: some Sequence<String>) async throws {
        let options = StressCommand.options + [common[0], common[2]]
        let parsed = try Arguments(arguments, options: options)
        guard !parsed.isSet("help") else { return print(help(StressCommand.name, StressCommand.summary, options)) }
        if let word = parsed.words.first {
            throw Arguments.Mistake(description: "stress takes no '\(word)'. See smilepile-bench stress --help.")
        }
        let command = try StressCommand(parsed)
        let work = try WorkFolder(in: parsed.text("work"))
        defer { work.remove() }
        try await command.run(in: work)
    }

    private static func faults(_ arguments: some Sequence<String>) async throws {
        let options = FaultsCommand.options + [common[0], common[2]]
        let parsed = try Arguments(arguments, options: options)
        guard !parsed.isSet("help") else {
            return print(help(FaultsCommand.name, FaultsCommand.summary, options) + "\n\n" + FaultsCommand.explanation)
        }
        if let word = parsed.words.first {
            throw Arguments.Mistake(description: "faults takes no '\(word)'. See smilepile-bench faults --help.")
        }
        let command = try FaultsCommand(parsed)
        let work = try WorkFolder(in: parsed.text("work"))
        defer { work.remove() }
        try await command.run(in: work)
    }

    private static var overview: String {
        let commands =
            [(AlbumCommand.name, AlbumCommand.summary)] + measurements.map { ($0.name, $0.summary) }
            + [
                (AllCommand.name, AllCommand.summary), (StressCommand.name, StressCommand.summary),
                (FaultsCommand.name, FaultsCommand.summary),
            ]
        let lines = commands.map { "  " + $0.0.padded(to: 14) + $0.1 }
        return """
            Measures SmilePile beside the programs that others would use.

            Usage: smilepile-bench COMMAND [OPTIONS]

            \(lines.joined(separator: "\n"))

            smilepile-bench COMMAND --help tells what a command takes.
            """
    }

    private static func help(_ usage: String, _ summary: String, _ options: [Arguments.Option]) -> String {
        let lines = options.map { option in
            "  " + ("--" + option.name + (option.value.map { " " + $0 } ?? "")).padded(to: 18) + option.help
        }
        return """
            Usage: smilepile-bench \(usage) [OPTIONS]: \(summary)

            \(lines.joined(separator: "\n"))
            """
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
