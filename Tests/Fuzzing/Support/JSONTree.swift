/// JSON taken apart just far enough to change it and write it again: a change of bytes by chance is hardly ever JSON, and
/// what reads the values behind the parser would see few of them.
public indirect enum JSONTree {
    /// A string with its quotes, a number, a word, or whatever else stands there without brackets.
    case scalar([UInt8])
    case array([JSONTree])
    case object([(name: [UInt8], value: JSONTree)])

    /// Nil where brackets and commas are not JSON's.
    public init?(_ bytes: [UInt8]) {
        var parser = Parser(bytes: bytes)
        guard let tree = parser.value(depth: 0), parser.isAtEnd else { return nil }
        self = tree
    }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .scalar(let token): bytes += token
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += member.name
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Nodes, this one and all below it.
    var count: Int {
        switch self {
        case .scalar: 1
        case .array(let elements): elements.reduce(1) { $0 + $1.count }
        case .object(let members): members.reduce(1) { $0 + $1.value.count }
        }
    }

    /// The node at `index`, counted from this one on downwards.
    func node(_ index: Int) -> JSONTree {
        var rest = index
        if rest == 0 { return self }
        rest -= 1
        for child in children {
            let count = child.count
            if rest < count { return child.node(rest) }
            rest -= count
        }
        return self
    }

    private var children: [JSONTree] {
        switch self {
        case .scalar: []
        case .array(let elements): elements
        case .object(let members): members.map(\.value)
        }
    }

    /// Puts what `change` makes of the node at `index` in its place.
    func changed(_ index: Int, _ change: (JSONTree) -> JSONTree) -> JSONTree {
        if index == 0 { return change(self) }
        var rest = index - 1
        func take(_ child: JSONTree) -> JSONTree {
            let count = child.count
            defer { rest -= count }
            return rest >= 0 && rest < count ? child.changed(rest, change) : child
        }
        switch self {
        case .scalar: return self
        case .array(let elements): return .array(elements.map(take))
        case .object(let members): return .object(members.map { ($0.name, take($0.value)) })
        }
    }

    private struct Parser {
        let bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        mutating func skipSpace() {
            while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            skipSpace()
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            return true
        }

        mutating func value(depth: Int) -> JSONTree? {
            guard depth < 50 else { return nil }
            if take(UInt8(ascii: "[")) {
                var elements: [JSONTree] = []
                if take(UInt8(ascii: "]")) { return .array([]) }
                repeat {
                    guard let element = value(depth: depth + 1) else { return nil }
                    elements.append(element)
                } while take(UInt8(ascii: ","))
                return take(UInt8(ascii: "]")) ? .array(elements) : nil
            }
            if take(UInt8(ascii: "{")) {
                var members: [(name: [UInt8], value: JSONTree)] = []
                if take(UInt8(ascii: "}")) { return .object([]) }
                repeat {
                    guard let name = scalar(), take(UInt8(ascii: ":")), let value = value(depth: depth + 1) else {
                        return nil
                    }
                    members.append((name, value))
                } while take(UInt8(ascii: ","))
                return take(UInt8(ascii: "}")) ? .object(members) : nil
            }
            return scalar().map { .scalar($0) }
        }

        private mutating func scalar() -> [UInt8]? {
            skipSpace()
            let start = position
            guard position < bytes.count else { return nil }
            if bytes[position] == UInt8(ascii: "\"") {
                position += 1
                while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
                    position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard position < bytes.count else { return nil }
                position += 1
            } else {
                while position < bytes.count, !Array(",:[]{}\" \n\r\t".utf8).contains(bytes[position]) { position += 1 }
            }
            defer { skipSpace() }
            return position > start ? Array(bytes[start..<position]) : nil
        }
    }
}
