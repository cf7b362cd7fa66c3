import Randomness

extension JSONTree {
    /// Another document like this one: a value, an element or a member changed, doubled, moved or left out.
    /// - Parameter seed: decides which; the same seed makes the same change.
    public func mutated(_ seed: UInt32) -> JSONTree {
        var chance = SplitMix64(seed: UInt64(seed))
        let index = chance.below(count)
        switch chance.below(8) {
        case 0, 1: return changed(index) { _ in .scalar(chance.one(of: Self.values)) }
        case 2: return changed(index) { _ in node(chance.below(count)) }
        case 3, 4:
            // Inside the quotes, or the digits.
            return changed(index) { node in
                guard case .scalar(let token) = node else { return node }
                guard token.count >= 2, token.first == UInt8(ascii: "\"") else {
                    return .scalar(Parts.mutated(token, token.count + 4))
                }
                let text = Parts.mutated(Array(token.dropFirst().dropLast()), token.count + 8)
                return .scalar([UInt8(ascii: "\"")] + text.filter { $0 != UInt8(ascii: "\"") } + [UInt8(ascii: "\"")])
            }
        default: return changed(index) { $0.rearranged(&chance, from: self) }
        }
    }

    /// An element or a member left out, doubled, moved to the end, or added from elsewhere.
    private func rearranged(_ chance: inout SplitMix64, from document: JSONTree) -> JSONTree {
        let other = document.node(chance.below(document.count))
        func rearranged<Element>(_ elements: [Element], _ chance: inout SplitMix64, _ new: Element) -> [Element] {
            var elements = elements
            guard !elements.isEmpty else { return [new] }
            let place = chance.below(elements.count)
            switch chance.below(4) {
            case 0: elements.remove(at: place)
            case 1: elements.insert(elements[place], at: place)
            case 2: elements.append(elements.remove(at: place))
            default: elements[place] = new
            }
            return elements
        }
        switch self {
        case .scalar: return .array([self, other])
        case .array(let elements): return .array(rearranged(elements, &chance, other))
        case .object(let members):
            let name = members.isEmpty ? Array("\"id\"".utf8) : members[chance.below(members.count)].name
            return .object(rearranged(members, &chance, (name, other)))
        }
    }

    private static let values: [[UInt8]] = [
        "0", "1", "-1", "2", "255", "65535", "65536", "2147483648", "9007199254740992", "9007199254740993",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e308", "1e999", "-0.0", "0.5", "1e-400",
        "true", "false", "null", "\"\"", "\"\\u0000\"", "\"\\u202e\"", "\"\\ud83d\\ude00\"", "\"..\"", "\"photos/\"",
        "\"../x\"", "\"\\u0065\\u0301\"", "\"É\"", "\"\u{301}\"", "\" \"", "\"\\n\"", "[]", "{}", "[[]]",
    ].map { Array($0.utf8) }
}

extension SplitMix64 {
    mutating func one<T>(of values: [T]) -> T { values[below(values.count)] }
}
