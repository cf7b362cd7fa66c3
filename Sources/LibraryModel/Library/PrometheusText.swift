/// Measurements in the text format of Prometheus, version 0.0.4.
///
/// Known from: https://prometheus.io/docs/instrumenting/exposition_formats
package struct PrometheusText {
    package enum Kind: String { case counter, gauge }

    package private(set) var text = ""

    package init() {}

    /// Adds a metric: what it is called, what it says, and a line for each of its values.
    /// - Parameters:
    ///   - name: of letters, digits and underscores; a counter's ends in `_total`.
    ///   - samples: labels with their values, in the order in which they are written. A metric without any is left out.
    package mutating func add(
        _ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: [(String, String)], value: Double)]
    ) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }.joined(separator: ",")
            text += name + (labels.isEmpty ? "" : "{\(labels)}") + " \(Self.number(sample.value))\n"
        }
    }

    /// A gauge of one value.
    package mutating func add(_ name: String, _ help: String, _ value: Double) {
        add(name, .gauge, help, [([], value)])
    }

    /// Whole ones as such: a count in thousands of millions would else be written with an exponent.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
