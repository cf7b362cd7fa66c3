import CommandLineInterface

extension CommandTable {
    /// Commands that belong together, under a heading of the overview.
    struct Chapter {
        let title: String
        /// First words of its commands, in the order in which they are shown.
        let words: [String]

        var commands: [Command] {
            words.flatMap { word in CommandTable.all.filter { $0.words.first == word } }
        }
    }

    /// All of them; each command's first word is in one.
    static let chapters = [
        Chapter(
            title: "The daemon", words: ["up", "down", "status", "ping", "doctor", "metrics", "config", "service"]),
        Chapter(title: "Bringing photos in", words: ["import", "watch-folder", "migrate"]),
        Chapter(title: "Photos", words: ["photos", "categories", "trash"]),
        Chapter(title: "Reviewing", words: ["swipe"]),
        Chapter(title: "Showing and sharing", words: ["web", "links", "groups"]),
        Chapter(title: "Keeping safe", words: ["backup", "storage", "keys"]),
        Chapter(title: "Kids mode and settings", words: ["mode", "pin", "settings"]),
        Chapter(title: "Long work", words: ["jobs", "watch"]),
        Chapter(title: "For programs", words: ["mcp", "call", "completions", "man-page", "version", "help"]),
    ]
}
