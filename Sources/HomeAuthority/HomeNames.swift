import Foundation

/// Names of this machine, as an authority may speak for them.
package enum HomeNames {
    /// What the page is called in a home, beside the machine's own names.
    package static let page = "smilepile.local"

    /// The names under which this machine is reached, the machine's own first; in lower case.
    package static func ofThisMachine() -> [String] {
        var room = [CChar](repeating: 0, count: 256)
        guard gethostname(&room, room.count - 1) == 0 else { return all(of: "") }
        return all(of: String(decoding: room.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    /// - Parameter machine: as gethostname(2) says it.
    package static func all(of machine: String) -> [String] {
        let name = machine.lowercased()
        guard isName(name) else { return [page, "localhost"] }
        let short = name.split(separator: ".").first.map(String.init) ?? name
        let own = name == "localhost" ? [] : [short + ".local"] + (name.hasSuffix(".local") ? [] : [name])
        var seen: Set<String> = []
        return (own + [page, "localhost"]).filter { seen.insert($0).inserted }
    }

    /// Whether an authority of a home may speak for a name and all below it. One without a dot is the machine's alone only where
    /// the internet can have no such ending: a machine may well be called `photos`, `family` or `house`, and with that
    /// name the authority could speak for every `….photos`. An ending of the internet has letters alone, or begins with `xn--`.
    /// Names with a dot are the machine's own, as its administrator has set them.
    package static func isSafe(_ name: String) -> Bool {
        guard isName(name) else { return false }
        if name == "localhost" || name == "local" { return true }
        return name.contains(".") || name.contains { $0.isNumber || $0 == "-" } && !name.hasPrefix("xn--")
    }

    private static func isName(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 200
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                    && label.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
            } && labels.last?.contains { !$0.isNumber } == true
    }
}
