import Foundation
import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh
import TextFolding

/// Erasing what the library knows about a child.
///
/// Values go first, and then what only mentions the child, so that a run that is broken off has done what counts. Photos are
/// named once, at the beginning; what is written about others meanwhile stays.
extension SealedFieldStore {
    /// Photos whose values one transaction erases.
    private static let erasedAtOnce = 100

    /// What a run has done so far.
    private struct Erased {
        var photos = 0
        var values = 0
        var photosWithFiles = 0
        var blanked = 0
        var mentions = 0
        var unreadable = 0
        var isLogEmpty = false

        func receipt(_ ending: JobEnding) -> ErasureReceipt {
            ErasureReceipt(
                photos: photos, values: values, photosWithFiles: photosWithFiles, blanked: blanked, mentions: mentions,
                unreadable: unreadable, isLogEmpty: isLogEmpty, ending: ending)
        }
    }

    /// What is to be erased.
    private struct Subject: Sendable {
        var uuids: [String] = []
        /// Folded; what is said in receipts under these is blanked.
        var names: Set<String> = []
        var unreadable = 0
    }

    func checkErasure(_ request: ErasePhotoDetails) async throws {
        switch (request.ids, request.childName) {
        case (let ids?, nil):
            guard !ids.isEmpty, ids.count <= ErasePhotoDetails.maximumCount else {
                throw MeshError(.invalidArgument, "Name between 1 and \(ErasePhotoDetails.maximumCount) photos.")
            }
            _ = try await catalogue.read { try $0.photos.require(ids.map(PhotoKey.id)) }
        case (nil, let name?):
            guard !name.trimmingWhitespace.searchFolded.isEmpty else {
                throw MeshError(.invalidArgument, "Say which child: 'childName' must not be empty.")
            }
            _ = try await requiredKeyring()
        default: throw MeshError(.invalidArgument, "Name either photos by 'ids', or a child by 'childName'.")
        }
    }

    func erase(_ request: ErasePhotoDetails, _ job: Job) async throws -> ErasureReceipt {
        var erased = Erased()
        do {
            job.begin(phase: "looking")
            let subject = try await subject(of: request, job)
            erased.unreadable = subject.unreadable
            job.begin(phase: "erasing", items: Int64(subject.uuids.count))
            try await eraseValues(subject.uuids, job, &erased)
            if request.files == true {
                job.begin(phase: "removing files", items: Int64(subject.uuids.count))
                try await eraseFiles(subject.uuids, job, &erased)
            }
            job.begin(phase: "blanking receipts")
            // What restores have overwritten may tell of the child too, and must not come back.
            try await catalogue.write { try $0.overwritten.removeAll() }
            try await blank(subject.names, job, &erased)
            erased.mentions = try await mentions(subject.names)
            erased.isLogEmpty = try await catalogue.eraseDeleted()
        } catch  where job.isCancelled {
            return erased.receipt(.cancelled)
        }
        return erased.receipt(erased.unreadable > 0 || !erased.isLogEmpty ? .completeWithProblems : .complete)
    }

    // MARK: What it is about

    private func subject(of request: ErasePhotoDetails, _ job: Job) async throws -> Subject {
        guard let ids = request.ids else {
            let name = (request.childName ?? "").trimmingWhitespace.searchFolded
            return try await photos(ofChild: name, job)
        }
        let (uuids, values) = try await catalogue.read { transaction in
            let uuids = try transaction.photos.find(ids.map(PhotoKey.id)).compactMap { $0?.uuid }
            return (uuids, try transaction.sealedFields.values(of: uuids))
        }
        // Without the key it is not known what they are called; erasing them needs none.
        let keyring = try? await fields.keyring()
        let names = values.values.joined().filter { $0.name.field == SealedField.childName.rawValue }
            .flatMap { DetailText.opened($0, keyring) ?? [] }
        return Subject(uuids: uuids, names: Set(names.map(\.searchFolded)))
    }

    private func photos(ofChild name: String, _ job: Job) async throws -> Subject {
        let keyring = try await requiredKeyring()
        var subject = Subject(names: [name])
        var last: SealedRow.Name?
        while true {
            try await job.mayContinue()
            let place = last
            let page = try await catalogue.read { try $0.sealedFields.page(after: place, limit: Self.batch) }
            guard let end = page.last else { return subject }
            let names = page.filter { $0.name.field == SealedField.childName.rawValue }
            for row in names {
                guard let texts = DetailText.opened(row, keyring) else {
                    subject.unreadable += 1
                    continue
                }
                if texts.contains(where: { $0.searchFolded == name }) { subject.uuids.append(row.name.uuid) }
            }
            last = end.name
        }
    }

    // MARK: Erasing

    private func eraseValues(_ uuids: [String], _ job: Job, _ erased: inout Erased) async throws {
        for start in stride(from: 0, to: uuids.count, by: Self.erasedAtOnce) {
            try await job.mayContinue()
            let some = Array(uuids[start..<min(start + Self.erasedAtOnce, uuids.count)])
            let removed = try await catalogue.write { try $0.sealedFields.removeAll(of: some) }
            erased.values += removed.values
            erased.photos += removed.photos
            job.advance(items: Int64(some.count))
        }
    }

    private func eraseFiles(_ uuids: [String], _ job: Job, _ erased: inout Erased) async throws {
        for uuid in uuids {
            try await job.mayContinue()
            let discarded = try await catalogue.writeFreeingSpace { transaction -> [StoredName] in
                guard var photo = try transaction.photos.find(.uuid(uuid)) else { return [] }
                if photo.originalPath != photo.path, !photo.isFilm { photo.dropOriginal() }
                photo.sidecars = []
                return try transaction.photos.setFiles(of: photo, line: nil, of: nil)
            }
            if !discarded.isEmpty {
                erased.photosWithFiles += 1
                await discards.remove(discarded)
            }
            job.advance(items: 1)
        }
    }

    private func blank(_ names: Set<String>, _ job: Job, _ erased: inout Erased) async throws {
        let words = NamedChild(names)
        guard !words.isEmpty else { return }
        var place: JobTextPlace? = JobTextPlace()
        while let from = place {
            try await job.mayContinue()
            let step = try await catalogue.write { transaction in
                try transaction.jobs.replaceTexts(from: from, limit: 500) { words.blanked($0) }
            }
            erased.blanked += step.replaced
            place = step.next
        }
        try await forgetSourceNames(saying: words, job, &erased)
    }

    /// Nobody can change what a source was called, as a name or a caption can be changed; so it goes.
    private func forgetSourceNames(saying words: NamedChild, _ job: Job, _ erased: inout Erased) async throws {
        for table in PhotoFileEntry.Place.allCases {
            var last: Int64? = .min
            while let after = last {
                try await job.mayContinue()
                let step = try await catalogue.write { transaction in
                    try transaction.photos.forgetSourceNames(in: table, after: after, limit: 500) {
                        words.blanked($0) != nil
                    }
                }
                erased.blanked += step.forgotten
                last = step.next
            }
        }
    }

    private func mentions(_ names: Set<String>) async throws -> Int {
        var count = 0
        for name in names {
            let query = try PhotoQuery(SearchPhotos(PhotoFilter(text: String(name.prefix(SearchText.maximumLength)))))
            count += try await catalogue.read { try $0.photos.count(query) }
        }
        return count
    }
}

/// Finds a child's name in texts as a word or words of their own: `Al` is not in `metal`.
struct NamedChild: Sendable {
    static let blank = "(erased)"
    /// Folded.
    private let names: [String]

    /// - Parameter names: folded as searches are.
    init(_ names: Set<String>) { self.names = names.filter { !$0.isEmpty }.sorted() }

    var isEmpty: Bool { names.isEmpty }

    /// - Returns: what stands in the text's place; nil where it says none of the names.
    func blanked(_ text: String) -> String? {
        let folded = text.searchFolded
        return names.contains { Self.contains($0, in: folded) } ? Self.blank : nil
    }

    private static func contains(_ name: String, in text: String) -> Bool {
        var rest = text[...]
        while let found = rest.range(of: name) {
            let before = found.lowerBound == text.startIndex ? nil : text[text.index(before: found.lowerBound)]
            let after = found.upperBound == text.endIndex ? nil : text[found.upperBound]
            if !(before?.isLetter ?? false) && !(after?.isLetter ?? false) { return true }
            rest = text[text.index(after: found.lowerBound)...]
        }
        return false
    }
}

extension ErasePhotoDetails: HandledJob {
    public typealias Service = SealedFieldStore
    /// It carries a name, and may be asked for again.
    public static var resumption: JobResumption { .none }

    public func prepare(on service: SealedFieldStore) async throws { try await service.checkErasure(self) }

    public func run(on service: SealedFieldStore, job: Job) async throws -> ErasureReceipt {
        try await service.erase(self, job)
    }
}
