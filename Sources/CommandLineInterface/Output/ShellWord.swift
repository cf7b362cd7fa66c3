/// Texts as a person can paste them into a shell.
package enum ShellWord {
    /// A text as a word of a command line: in quotes where it needs them.
    package static func of(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || "/._-+:@%".utf8.contains(byte)
            }
        return isPlain ? text : quoted(text)
    }

    /// A text in single quotes, which mean the same to all three but for the quote itself.
    package static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
