import LibraryModel
import ServiceMesh

/// How the line of an imported photo tells that it is shown smaller than it came.
enum Reduction {
    private static let shown = "shown at "

    /// - Parameter keepsOriginal: whether the library has the source besides.
    static func text(width: Int, height: Int, shownWidth: Int, shownHeight: Int, keepsOriginal: Bool) -> String {
        "\(width) x \(height) \(keepsOriginal ? "kept" : "not kept"), \(shown)\(shownWidth) x \(shownHeight)"
    }

    /// Counted by what the lines say, because they are all that is left of a run that was broken off.
    static func isTold(in line: ReceiptLine) -> Bool {
        line.outcome == ImportOutcome.imported.rawValue && line.detail?.contains(shown) == true
    }
}
