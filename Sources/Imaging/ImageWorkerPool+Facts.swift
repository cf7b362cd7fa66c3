import ImageWorkerProtocol

extension ImageWorkerPool {
    /// When the library's own picture was taken and with what, by what it carries; its pixels are not decoded. The descriptor is used as in
    /// ``convert(source:photo:thumbnail:within:)``.
    public func readFacts(source: Int32) async throws(ImagingError) -> EmbeddedFacts {
        try await ask(.readFacts, by: .working) {
            Attempt(descriptors: [source]) { outcome in
                guard case .facts(let facts) = outcome, facts.isPossible else { return nil }
                return facts
            }
        }
    }
}
