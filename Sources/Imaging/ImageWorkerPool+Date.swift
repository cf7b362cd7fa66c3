import ImageWorkerProtocol

extension ImageWorkerPool {
    /// When the library's own picture was taken, by what it carries; its pixels are not decoded. The descriptor is used as in
    /// ``convert(source:photo:thumbnail:)``.
    public func readDate(source: Int32) async throws(ImagingError) -> EmbeddedDate {
        try await ask(.readDate, [source]) { outcome in
            guard case .date(let date) = outcome, date.isPossible else { return nil }
            return date
        }
    }
}
