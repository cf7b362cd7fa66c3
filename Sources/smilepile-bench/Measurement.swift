import BenchSupport
/// One subcommand that measures: it says what it takes, and answers with figures.
protocol Measurement: Sendable {
    static var name: String { get }
    /// One line for `--help`.
    static var summary: String { get }
    static var options: [Arguments.Option] { get }
    /// Arguments for a first look: small sizes, few runs.
    static var quick: [String] { get }
    init(_ arguments: Arguments) throws
    /// Measures. Whatever it writes goes into `work`, which is removed afterwards.
    func figures(in work: WorkFolder) async throws -> [Figure]
}
