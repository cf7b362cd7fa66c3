import Foundation
import ServiceMesh

/// The daemon's methods as it names them itself, and what a run does about each: a method that came after this program
/// was written is asked all the same where its params are none or a job's id.
struct DiscoveredMethods: Sendable {
    struct Method: Sendable {
        let name: String
        let isObservation: Bool
        let takesJob: Bool

        func params(_ job: JobID?) -> Data {
            Data((takesJob ? "{\"job\":\"\(job ?? "import-000000")\"}" : "{}").utf8)
        }
    }

    /// Those that no ``StressOperation`` covers and that can be asked.
    let methods: [Method]
    /// Those that cannot, and why.
    let leftOut: [String: String]

    /// What a run must not do, whatever its params.
    private static let unwanted = [
        "job.pause": "a paused job never ends; asked together with job.resume by the tests of jobs"
    ]

    init(_ descriptions: [MessageDescription], known: Set<String>) {
        var methods: [Method] = []
        var leftOut: [String: String] = [:]
        for description in descriptions where !known.contains(description.name) {
            if let reason = Self.unwanted[description.name] {
                leftOut[description.name] = reason
                continue
            }
            let required: [String] =
                if case .array(let names)? = description.params["required"] {
                    names.compactMap(\.stringValue)
                } else {
                    []
                }
            let isJobs = required == ["job"]
            if isJobs || (required.isEmpty && description.kind != .write && description.kind != .job) {
                methods.append(
                    Method(
                        name: description.name, isObservation: description.kind == .observation, takesJob: isJobs))
            } else {
                leftOut[description.name] = "newer than this program, and it needs \(required.joined(separator: ", "))"
            }
        }
        self.methods = methods
        self.leftOut = leftOut
    }
}
