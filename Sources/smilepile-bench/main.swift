import BenchSupport
import Foundation

// The benchmark program: what is fast, and how fast beside the programs that others would use.
do {
    try await BenchmarkProgram.run(Array(CommandLine.arguments.dropFirst()))
} catch let mistake as Arguments.Mistake {
    note("smilepile-bench: \(mistake)")
    exit(2)
} catch {
    note("smilepile-bench: \(error)")
    exit(1)
}
