/// What a family does every day, in a library that has grown.
struct DailyMeasurement: Measurement {
    static let name = "daily"
    static let summary = "sealed fields: sealing, opening, a text search through all of them"
    static let options = [
        Arguments.Option("notes", "N", "photos with sealed notes (100000)"),
        Arguments.Option("runs", "N", "runs of each, medians are shown (5)"),
    ]
    static let quick = ["--notes", "5000", "--runs", "3"]

    let notes: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        notes = try arguments.number("notes", in: 1000...1_000_000) ?? 100_000
        runs = try arguments.number("runs", in: 1...1000) ?? 5
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        try await SealedRows(notes: notes, runs: runs).figures(in: work)
    }
}
