import BenchSupport
import Foundation

/// `wrk`, which asks a server for one path after the other, over and over.
struct Wrk: CustomStringConvertible {
    struct Outcome {
        /// What was refused is none.
        let perSecond: Double
        /// Seconds below which 99 of 100 answers took.
        let p99: Double
    }

    private let arguments: [String]
    private let paths: String
    private let seconds: Int

    var description: String { arguments.joined(separator: " ") }

    init(
        _ address: String, _ paths: [String], connections: Int, seconds: Int, header: String? = nil,
        in work: WorkFolder
    ) throws {
        self.seconds = seconds
        self.paths = work.newPath("paths")
        try paths.joined(separator: "\n").write(toFile: self.paths, atomically: false, encoding: .utf8)
        let script = work.newPath("paths.lua")
        try """
        local paths, number = {}, 0
        for path in io.lines(os.getenv("PATHS")) do paths[#paths + 1] = path end
        request = function()
          number = number % #paths + 1
          return wrk.format("GET", paths[number])
        end
        """.write(toFile: script, atomically: false, encoding: .utf8)
        arguments =
            ["wrk", "-t1", "-c\(connections)", "-d\(seconds)s", "--latency", "-s", script]
            + (header.map { ["-H", $0] } ?? []) + [address]
    }

    func run(in work: WorkFolder) throws -> Outcome {
        let said = try Command(arguments, environment: ["PATHS": paths]).run(in: work)
        func text(after words: String) -> Substring? {
            guard let found = said.range(of: words) else { return nil }
            return said[found.upperBound...].drop { $0 == " " }.prefix { !$0.isNewline }
        }
        func number(after words: String) -> Double? {
            text(after: words).flatMap { Double($0.prefix { $0.isNumber || $0 == "." }) }
        }
        let units = ["us": 1e-6, "ms": 1e-3, "s": 1]
        guard let perSecond = number(after: "Requests/sec:"), let p99 = number(after: " 99%"),
            let unit = units[text(after: " 99%").map { String($0.drop { $0.isNumber || $0 == "." }) } ?? ""]
        else { throw BenchLibrary.Failed(description: "wrk said: \(said)") }
        let refused = number(after: "Non-2xx or 3xx responses:") ?? 0
        if refused > 0 { note("web: \(Int(refused)) requests were refused") }
        return Outcome(perSecond: max(0, perSecond - refused / Double(seconds)), p99: p99 * unit)
    }
}

extension Tool {
    static let wrk = Tool(name: "wrk", package: "wrk")
}
