extension JSONSyntax {
    /// Looks for a name that comes twice in one object, however deep inside a value that
    /// ``skipValue(_:_:depth:)`` has accepted. RFC 8259 leaves open what such an object means: of two readers one may
    /// take the first value and the other the last.
    ///
    /// Names are compared after unescaping, and as Swift compares text, because the decoder behind does: to it the
    /// Kelvin sign is a K. Takes time in proportion to the text, whatever is in it.
    /// - Returns: the name, or nil where all are different.
    static func repeatedName(in text: Span<UInt8>) -> String? {
        var search = NameSearch()
        var at = 0
        skipSpace(text, &at)
        return search.value(text, &at)
    }

    /// The names of the objects around the place that is looked at, the outermost one's first.
    private struct NameSearch {
        /// Up to so many names are compared each with each; a table for more costs more than it saves.
        private static let fewNames = 8

        private var names: [Range<Int>] = []

        /// Steps over a value; returns the first name that comes twice in it.
        mutating func value(_ text: Span<UInt8>, _ at: inout Int) -> String? {
            switch text[at] {
            case UInt8(ascii: "{"): return object(text, &at)
            case UInt8(ascii: "["): return array(text, &at)
            case UInt8(ascii: "\""): skipText(text, &at)
            default: while at < text.count, !Self.endsPlainValue(text[at]) { at += 1 }
            }
            return nil
        }

        private mutating func object(_ text: Span<UInt8>, _ at: inout Int) -> String? {
            let first = names.count
            defer { names.removeSubrange(first...) }
            at += 1
            while true {
                skipSpaceAndCommas(text, &at)
                guard text[at] == UInt8(ascii: "\"") else { break }
                let begin = at + 1
                skipText(text, &at)
                names.append(begin..<(at - 1))
                // The colon and the space around it.
                while text[at] != UInt8(ascii: ":") { at += 1 }
                at += 1
                skipSpace(text, &at)
                if let found = value(text, &at) { return found }
            }
            at += 1
            return repetition(in: names[first...], text)
        }

        private mutating func array(_ text: Span<UInt8>, _ at: inout Int) -> String? {
            at += 1
            while true {
                skipSpaceAndCommas(text, &at)
                guard text[at] != UInt8(ascii: "]") else { break }
                if let found = value(text, &at) { return found }
            }
            at += 1
            return nil
        }

        /// Past the quote that ends the string which begins at `at`.
        private func skipText(_ text: Span<UInt8>, _ at: inout Int) {
            at += 1
            while text[at] != UInt8(ascii: "\"") { at += text[at] == UInt8(ascii: "\\") ? 2 : 1 }
            at += 1
        }

        private func skipSpaceAndCommas(_ text: Span<UInt8>, _ at: inout Int) {
            skipSpace(text, &at)
            while text[at] == UInt8(ascii: ",") {
                at += 1
                skipSpace(text, &at)
            }
        }

        private static func endsPlainValue(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0x20, 0x09, 0x0A, 0x0D: true
            default: false
            }
        }

        private func repetition(in names: ArraySlice<Range<Int>>, _ text: Span<UInt8>) -> String? {
            guard names.count > 1 else { return nil }
            guard names.count <= Self.fewNames else {
                var known: Set<String> = []
                for name in names {
                    let name = Self.string(name, text)
                    guard known.insert(name).inserted else { return name }
                }
                return nil
            }
            for (offset, name) in names.enumerated() {
                for other in names.prefix(offset) where Self.areSame(name, other, text) {
                    return Self.string(name, text)
                }
            }
            return nil
        }

        private static func areSame(_ one: Range<Int>, _ other: Range<Int>, _ text: Span<UInt8>) -> Bool {
            // Plain ASCII, as nearly all names are, is the same where its bytes are.
            guard isPlain(one, text), isPlain(other, text) else { return string(one, text) == string(other, text) }
            guard one.count == other.count else { return false }
            for offset in 0..<one.count where text[one.lowerBound + offset] != text[other.lowerBound + offset] {
                return false
            }
            return true
        }

        private static func isPlain(_ range: Range<Int>, _ text: Span<UInt8>) -> Bool {
            for index in range where text[index] >= 0x80 || text[index] == UInt8(ascii: "\\") { return false }
            return true
        }

        private static func string(_ range: Range<Int>, _ text: Span<UInt8>) -> String {
            String(decoding: JSONSyntax.text(of: range, in: text), as: UTF8.self)
        }
    }
}
