import BenchSupport
/// `smilepile-bench all`: every measurement, one after the other, and one table of all their figures.
///
/// One that fails is a line of the table; the others go on.
enum AllCommand {
    static let name = "all"
    static let summary = "everything, in one table"
    static let options = [Arguments.Option("quick", nil, "small sizes: a look, not a verdict")]

    static func figures(_ arguments: Arguments, in work: WorkFolder) async -> [Figure] {
        var figures: [Figure] = []
        for type in BenchmarkProgram.measurements {
            do {
                let own = try Arguments(arguments.isSet("quick") ? type.quick : [], options: type.options)
                figures += try await type.init(own).figures(in: work)
            } catch {
                note("\(type.name): \(error)")
                figures.append(Figure(type.name, ours: "failed", holds: false))
            }
        }
        return figures
    }
}
