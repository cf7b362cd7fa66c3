import Foundation

/// One measured figure: what we take, what a peer takes, and whether that is enough.
package struct Figure: Codable, Sendable {
    /// What was asked of both.
    let what: String
    let ours: String
    /// The peer's figure, or why there is none.
    let peer: String
    /// The peer as somebody could run it again: a command line.
    let command: String?
    /// How many times better we are; above 1 is in our favour. Nil where nothing was compared.
    let ratio: Double?
    let must: String?
    /// Nil where the figure has no "must", or nothing was compared.
    let holds: Bool?

    package init(
        _ what: String, ours: String, peer: String = "", command: String? = nil, ratio: Double? = nil,
        must: String? = nil, holds: Bool? = nil
    ) {
        self.what = what
        self.ours = ours
        self.peer = peer
        self.command = command
        self.ratio = ratio
        self.must = must
        self.holds = holds
    }

    /// Both did the same and took so many seconds (medians).
    package static func times(
        _ what: String, ours: Double, peer: Double, command: String? = nil, atLeast must: Double? = nil,
        show: (Double) -> String = Format.seconds
    ) -> Figure {
        let ratio = peer / ours
        return Figure(
            what, ours: show(ours), peer: show(peer), command: command, ratio: ratio,
            must: must.map { Format.ratio($0) }, holds: must.map { ratio >= $0 })
    }

    /// The peer is not on this machine.
    package static func missing(_ what: String, ours: String, _ tool: Tool, must: String? = nil) -> Figure {
        Figure(what, ours: ours, peer: "not installed: apt-get install \(tool.package)", must: must)
    }
}

/// Numbers as people read them.
package enum Format {
    package static func seconds(_ value: Double) -> String {
        if value < 1e-6 { return String(format: "%.0f ns", value * 1e9) }
        if value < 1e-3 { return String(format: "%.1f µs", value * 1e6) }
        return value < 1 ? String(format: "%.1f ms", value * 1e3) : String(format: "%.2f s", value)
    }

    package static func ratio(_ value: Double) -> String { String(format: value < 10 ? "%.2fx" : "%.1fx", value) }

    package static func rate(_ value: Double, _ unit: String) -> String {
        String(format: value < 100 ? "%.1f %@/s" : "%.0f %@/s", value, unit as NSString)
    }

    package static func megabytes(_ bytes: Int64) -> String { String(format: "%.0f MB", Double(bytes) / 1e6) }
}
