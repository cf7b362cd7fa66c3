import LibraryModel

extension PINGuesses {
    /// Where they came from, harmless on a terminal.
    package var place: String { device == nil ? "this machine" : PlainText.neutralized(name ?? "a device") }

    package var sentence: String {
        "\(count == 1 ? "1 wrong PIN was" : "\(count) wrong PINs were") tried on \(place) since the last right one."
    }
}
