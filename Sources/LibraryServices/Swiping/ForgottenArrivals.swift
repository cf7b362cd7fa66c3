import LibraryStorage

extension Catalogue {
    /// Forgets what came from another machine, as far as nothing here rests on it. Looked for by readers, as old decisions are, and
    /// each part is a transaction of its own. Again does the rest.
    package func forgetArrived(from source: String) async throws {
        for kind in ArrivedKind.allCases {
            var last = Int64.min
            while true {
                try Task.checkCancellation()
                let start = last
                let numbers = try await read {
                    try $0.reviews.arrived(kind, from: source, after: start, limit: SwipeSessionRecorder.batch)
                }
                guard let end = numbers.last else { break }
                try await write { try $0.reviews.forget(kind, numbers, from: source) }
                last = end
            }
        }
    }
}
