/// A piece of a text as the table's details are written: lines that follow one another are one paragraph; blank lines part
/// them, and indented ones stand by themselves.
enum Prose: Equatable {
    case paragraph(String)
    /// A line by itself, with its spaces before it; a blank line is one with none.
    case line(String, indent: Int)

    static func pieces(_ text: String) -> [Prose] {
        var pieces: [Prose] = []
        var paragraph: [Substring] = []
        func end() {
            if !paragraph.isEmpty { pieces.append(.paragraph(paragraph.joined(separator: " "))) }
            paragraph = []
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let indent = line.prefix { $0 == " " }.count
            if !line.isEmpty, indent == 0 {
                paragraph.append(line)
            } else {
                end()
                pieces.append(.line(String(line.dropFirst(indent)), indent: indent))
            }
        }
        end()
        return pieces
    }
}
