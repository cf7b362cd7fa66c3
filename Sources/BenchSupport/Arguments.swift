import Foundation

/// A subcommand's command line: words in their order, and options by their names.
package struct Arguments {
    /// An option as `--help` shows it: `--photos N`, or `--json` where it takes no value.
    package struct Option: Sendable {
        package let name: String
        package let value: String?
        package let help: String

        package init(_ name: String, _ value: String?, _ help: String) {
            self.name = name
            self.value = value
            self.help = help
        }
    }

    package struct Mistake: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    package private(set) var words: [String] = []

    package init(words: [String] = []) {
        self.words = words
    }
    private var values: [String: String] = [:]

    /// - Throws: ``Mistake`` for an option that is not among `options`, or lacks its value.
    package init(_ arguments: some Sequence<String>, options: [Option]) throws {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                words.append(argument)
                continue
            }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = options.first(where: { $0.name == name }) else {
                throw Mistake(description: "There is no option --\(name). See --help.")
            }
            if option.value == nil {
                values[name] = ""
            } else if parts.count == 2 {
                values[name] = String(parts[1])
            } else if let value = rest.popFirst() {
                values[name] = value
            } else {
                throw Mistake(description: "--\(name) needs a value: --\(name) \(option.value ?? "").")
            }
        }
    }

    package func isSet(_ name: String) -> Bool { values[name] != nil }

    package func text(_ name: String) -> String? { values[name] }

    package func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Mistake(description: "--\(name) is a number between \(range.lowerBound) and \(range.upperBound).")
        }
        return number
    }

    /// `4000x3000`, each side 16…20000.
    package func size(_ name: String) throws -> (width: Int, height: Int)? {
        guard let text = values[name] else { return nil }
        let sides = text.split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (16...20_000).contains($0) }) else {
            throw Mistake(description: "--\(name) is WIDTHxHEIGHT in pixels, such as 4000x3000.")
        }
        return (sides[0], sides[1])
    }
}
