import LibraryModel
import ServiceMesh

// What may be asked of the importer.

extension ImportPhotos: HandledJob {
    public typealias Service = PhotoImporter
    public static var resumption: JobResumption { .onward }

    public static func needsAttention(_ outcome: String) -> Bool {
        ImportOutcome(rawValue: outcome)?.needsAttention ?? true
    }

    public func complete(on service: PhotoImporter) async throws -> ImportPhotos { try await service.complete(self) }

    public func prepare(on service: PhotoImporter) async throws { try await service.check(self) }

    public func prepareAgain(on service: PhotoImporter, job: Job) async throws {
        try await service.checkAgain(self, job)
    }

    public func run(on service: PhotoImporter, job: Job) async throws -> ImportReceipt {
        try await service.run(self, job: job)
    }

    public func receipt(on service: PhotoImporter, failing job: Job) async -> ImportReceipt? {
        await service.end(self, failing: job)
    }
}

extension CollectImportPaths: HandledMessage {
    public func perform(on service: PhotoImporter) async throws -> ImportPathList { try await service.collect(self) }
}
