import Foundation

/// A value of the configuration, of a shape that its key's kind takes.
package enum ConfigurationValue: Sendable, Equatable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case texts([String])

    /// As a person reads it.
    package var text: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        case .flag(let flag): String(flag)
        case .texts(let texts): texts.joined(separator: ", ")
        }
    }

    /// As TOML has it.
    var literal: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .number(let number): String(number)
        case .flag(let flag): String(flag)
        case .texts(let texts): "[" + texts.map(Self.quoted).joined(separator: ", ") + "]"
        }
    }

    private static func quoted(_ text: String) -> String {
        var escaped = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let hex = String(scalar.value, radix: 16, uppercase: true)
                escaped += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped + "\""
    }
}

extension ConfigurationKey.Kind {
    /// Of texts and of names, and bytes of each.
    private static let most = 100
    private static let mostBytes = 4_096

    /// What may stand there, as the end of a sentence.
    package var allowed: String {
        switch self {
        case .path: "an absolute path in quotation marks, or one that begins with ~/"
        case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .words(let words): "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
        case .flag: "true or false"
        case .address: "an address in digits with a port, such as \"127.0.0.1:8468\""
        case .names: "a list of names, such as [\"photos.lan\"]"
        }
    }

    /// Whether a value is one that may stand there.
    package func takes(_ value: ConfigurationValue) -> Bool {
        switch (self, value) {
        case (.path, .text(let text)): Self.isPlain(text) && (text.hasPrefix("/") || text.hasPrefix("~/"))
        case (.number(let range), .number(let number)): range.contains(number)
        case (.words(let words), .text(let text)): words.contains(text)
        case (.flag, .flag): true
        case (.address, .text(let text)): Self.isAddress(text)
        case (.names, .texts(let texts)): texts.count <= Self.most && texts.allSatisfy(Self.isPlain)
        default: false
        }
    }

    /// A value as it is typed, or as a variable has it.
    /// - Parameter words: several only for names.
    /// - Returns: nil for what may not stand there.
    package func value(typed words: [String]) -> ConfigurationValue? {
        let value: ConfigurationValue?
        switch (self, words.count) {
        case (.names, _): value = .texts(words.filter { !$0.isEmpty })
        case (.number, 1): value = Int64(words[0]).map(ConfigurationValue.number)
        case (.flag, 1):
            let flags = ["true": true, "yes": true, "on": true, "false": false, "no": false, "off": false]
            value = flags[words[0].lowercased()].map(ConfigurationValue.flag)
        case (.path, 1), (.words, 1), (.address, 1): value = .text(words[0])
        default: value = nil
        }
        return value.flatMap { takes($0) ? $0 : nil }
    }

    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= mostBytes && !text.utf8.contains(0)
    }

    /// As the page's program takes it: `ADDRESS`, `ADDRESS:PORT`, `[ADDRESS]:PORT` or `:PORT`.
    private static func isAddress(_ text: String) -> Bool {
        var (host, port) = (Substring(text), Substring("0"))
        if text.hasPrefix("["), let end = text.lastIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return false }
            if !rest.isEmpty { port = rest.dropFirst() }
        } else if text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
            (host, port) = (text[..<colon], text[text.index(after: colon)...])
        }
        guard UInt16(port) != nil else { return false }
        var room = in6_addr()
        return host.isEmpty && text.hasPrefix(":") || inet_pton(AF_INET, String(host), &room) == 1
            || inet_pton(AF_INET6, String(host), &room) == 1
    }
}
