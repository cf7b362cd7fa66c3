/// Why the browser did not do what it was told: a sentence for whoever reads a test's report.
public struct BrowserFault: Error, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
