import ServiceMesh

/// The text of a configuration's file, of which single values are changed and everything else stays: comments, order, spaces.
///
/// What is written is read again before it counts: every other value has to be what it was. So a form that is not foreseen here (a table
/// in one line, a key over several) is refused, and never damaged.
package struct ConfigurationText {
    private let lines: [[Unicode.Scalar]]
    private let entries: [TOMLDocument.Entry]
    private let lineEnd: [Unicode.Scalar]

    /// - Throws: `failed_precondition` where it is no TOML.
    package init(_ text: String) throws {
        do {
            entries = try TOMLDocument(text).entries
        } catch let failure as TOMLDocument.Failure {
            throw MeshError(
                .failedPrecondition,
                "Line \(failure.line) of the configuration is not TOML: \(failure.what). Put it right: smilepile config edit"
            )
        }
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
        lineEnd = lines.dropLast().contains { $0.last == "\r" } ? ["\r", "\n"] : ["\n"]
    }

    /// The text with another value of a key, or with one that it did not have.
    /// - Throws: `failed_precondition` where only a person can change it.
    package func setting(_ key: ConfigurationKey, to value: ConfigurationValue) throws -> String {
        let literal = Array(value.literal.unicodeScalars)
        let new =
            if let entry = entries.first(where: { $0.key == key.rawValue }) {
                joined(replacing: entry, with: literal)
            } else {
                inserted(key, literal)
            }
        return try checked(new, key, value)
    }

    /// The text without a key.
    /// - Throws: `failed_precondition` where only a person can take it out.
    package func removing(_ key: ConfigurationKey) throws -> String {
        guard let entry = entries.first(where: { $0.key == key.rawValue }) else { return text(of: lines) }
        var rest = lines
        rest.removeSubrange(entry.keyBegin.line - 1..<entry.end.line)
        return try checked(text(of: rest), key, nil)
    }

    // MARK: Where it goes

    private func joined(replacing entry: TOMLDocument.Entry, with literal: [Unicode.Scalar]) -> String {
        var new = lines
        let (first, last) = (entry.begin.line - 1, entry.end.line - 1)
        let before = lines[first].prefix(entry.begin.column - 1)
        let after = lines[last].dropFirst(entry.end.column - 1)
        new.replaceSubrange(first...last, with: [before + literal + after])
        return text(of: new)
    }

    private func inserted(_ key: ConfigurationKey, _ literal: [Unicode.Scalar]) -> String {
        let (table, name) = key.parts
        let headers = headers()
        func assignment(_ name: String) -> [Unicode.Scalar] { Array("\(name) = ".unicodeScalars) + literal }
        guard let table else {
            let end = headers.first?.line ?? lines.count
            return inserted(assignment(name), at: endOfValues(in: 0..<end) ?? aboveComments(before: end))
        }
        if let header = headers.firstIndex(where: { $0.name == table }) {
            let begin = headers[header].line
            let end = header + 1 < headers.count ? headers[header + 1].line : lines.count
            return inserted(assignment(name), at: endOfValues(in: begin..<end) ?? begin + 1)
        }
        // Written as `web.listen = …` at the file's beginning.
        if let sibling = entries.last(where: { $0.key.hasPrefix(table + ".") }) {
            return inserted(assignment(key.rawValue), at: sibling.end.line)
        }
        let gap: [[Unicode.Scalar]] = lines.allSatisfy(isBlank) ? [] : [[]]
        return inserted(gap + [Array("[\(table)]".unicodeScalars), assignment(name)], at: lines.count)
    }

    /// The lines that begin a table.
    private func headers() -> [(line: Int, name: String)] {
        lines.indices.compactMap { index in
            let trimmed = lines[index].drop(while: isSpace)
            // A value of several lines may have such lines in it.
            let isInside = entries.contains {
                $0.content != .emptyTable && $0.begin.line <= index && index < $0.end.line
            }
            guard trimmed.first == "[", !isInside else { return nil }
            let name = trimmed.dropFirst().prefix { $0 != "]" }.filter { !isSpace($0) }
            return (index, String(String.UnicodeScalarView(name)))
        }
    }

    /// Behind the last value in these lines.
    private func endOfValues(in range: Range<Int>) -> Int? {
        entries.filter { $0.content != .emptyTable && range.contains($0.begin.line - 1) }.map(\.end.line).max()
    }

    /// A comment directly above a table is the table's.
    private func aboveComments(before line: Int) -> Int {
        var line = line
        guard line < lines.count else { return line }
        while line > 0, lines[line - 1].drop(while: isSpace).first == "#" { line -= 1 }
        return line
    }

    private func inserted(_ line: [Unicode.Scalar], at index: Int) -> String { inserted([line], at: index) }

    private func inserted(_ some: [[Unicode.Scalar]], at index: Int) -> String {
        var new = lines
        // The last line is empty where the text ends with a line feed, and else has none yet.
        let isAtEnd = index >= new.count
        if isAtEnd, new.last.map(isBlank) == true { new.removeLast() }
        let place = min(index, new.count)
        if place == new.count, lineEnd.count > 1, let last = new.indices.last, new[last].last != "\r" {
            new[last].append("\r")
        }
        new.insert(contentsOf: some.map { lineEnd.count > 1 ? $0 + ["\r"] : $0 }, at: place)
        if place + some.count == new.count { new.append([]) }
        return text(of: new)
    }

    private func text(of lines: [[Unicode.Scalar]]) -> String {
        String(String.UnicodeScalarView(lines.joined(separator: ["\n"])))
    }

    private func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" || scalar == "\r" }

    private func isBlank(_ line: [Unicode.Scalar]) -> Bool { line.allSatisfy(isSpace) }

    // MARK: Proof

    /// - Parameter value: that the key has to have now; nil for none.
    private func checked(_ new: String, _ key: ConfigurationKey, _ value: ConfigurationValue?) throws -> String {
        var wanted = values(of: entries)
        wanted[key.rawValue] = value.map(TOMLDocument.Entry.Content.value)
        guard let found = try? TOMLDocument(new).entries, values(of: found) == wanted else {
            throw MeshError(
                .failedPrecondition,
                "\(key.rawValue) stands in the configuration in a way that only you can change: smilepile config edit")
        }
        return new
    }

    private func values(of entries: [TOMLDocument.Entry]) -> [String: TOMLDocument.Entry.Content] {
        var values: [String: TOMLDocument.Entry.Content] = [:]
        for entry in entries where entry.content != .emptyTable { values[entry.key] = entry.content }
        return values
    }
}
