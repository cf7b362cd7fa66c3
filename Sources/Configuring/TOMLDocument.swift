import CTOML

/// A TOML text, taken apart by toml++: its values in the order in which they stand.
struct TOMLDocument {
    /// The first line is 1, and so is the first Unicode scalar of a line.
    struct Place: Equatable {
        let line: Int
        let column: Int

        init(_ place: ctoml_place) { (line, column) = (Int(place.line), Int(place.column)) }
    }

    /// Why it is no TOML, in the parser's words.
    struct Failure: Error {
        let line: Int
        let what: String
    }

    struct Entry {
        enum Content: Equatable {
            case value(ConfigurationValue)
            case emptyTable
            /// What no key takes.
            case other
        }

        /// `web.listen`.
        let key: String
        let content: Content
        /// TOML's name of what it is, with an article.
        let type: String
        let keyBegin: Place
        let begin: Place
        /// Behind its last character.
        let end: Place
    }

    let entries: [Entry]

    /// - Parameter text: of which the caller has bounded the length.
    /// - Throws: ``Failure``.
    init(_ text: String) throws {
        var text = text
        var failure = ctoml_failure()
        let document = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { ctoml_parse($0.baseAddress, $0.count, &failure) }
        }
        guard let document else {
            let what = withUnsafeBytes(of: failure.what) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            throw Failure(
                line: Int(failure.place.line), what: what.isEmpty ? "there is not enough memory to read it" : what)
        }
        defer { ctoml_free(document) }
        entries = (0..<ctoml_count(document)).map { Self.entry($0, of: document) }
    }

    private static func entry(_ index: Int, of document: OpaquePointer) -> Entry {
        let found = ctoml_entry_at(document, index)
        let texts = (0..<found.texts).map { text in
            var length = 0
            let bytes = UnsafeRawBufferPointer(start: ctoml_text_at(document, index, text, &length), count: length)
            return String(decoding: bytes, as: UTF8.self)
        }
        let content: Entry.Content =
            switch found.kind {
            case ctoml_text: .value(.text(texts.first ?? ""))
            case ctoml_number: .value(.number(found.number))
            case ctoml_flag: .value(.flag(found.number != 0))
            case ctoml_texts: .value(.texts(texts))
            case ctoml_empty_table: .emptyTable
            default: .other
            }
        return Entry(
            key: String(cString: found.key), content: content, type: String(cString: found.type),
            keyBegin: Place(found.key_begin), begin: Place(found.begin), end: Place(found.end))
    }
}
