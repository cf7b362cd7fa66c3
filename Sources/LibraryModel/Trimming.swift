import Foundation

extension String {
    /// Without white space and line breaks at either end.
    public var trimmingWhitespace: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
