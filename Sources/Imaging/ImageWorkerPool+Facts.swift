import ImageWorkerProtocol

extension ImageWorkerPool {
    /// What the library's own picture says of itself; its pixels are not decoded. The descriptor is used as in
    /// ``convert(source:photo:thumbnail:preview:within:)``.
    public func readFacts(source: Int32) async throws(ImagingError) -> PictureFacts {
        try await ask(.readFacts, by: .working) {
            Attempt(descriptors: [source]) { outcome in
                guard case .facts(let facts) = outcome, facts.isPossible else { return nil }
                return facts
            }
        }
    }
}
