import Executors
import Foundation
import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh
import TextFolding

/// The sealed fields of photos, and the keys that they are sealed with. It calls no other service.
///
/// What is sealed is opened here, in memory, for the one request that asks for it; it is part of no photo, event or log.
/// Single values are opened where they are asked for, which takes microseconds; whatever opens many does it on a pool.
public actor SealedFieldStore: MeshService {
    public static let serviceName = "SealedFieldStore"
    public static var messages: MessageList<SealedFieldStore> {
        GetPhotoDetail.self
        GetPhotoSidecar.self
        SetPhotoDetail.self
        SearchPhotoDetails.self
        SealLocation.self
        GetKeyStatus.self
        ExportKeys.self
        ImportKeys.self
        RotateKeys.self
        ErasePhotoDetails.self
    }

    /// Values that are opened at once: 60 MB where all are as long as they may be.
    package static let batch = 256

    let catalogue: any Catalogue
    let fields: SealedFields
    let pool: BlockingPool
    let deriver: KeyDeriver
    let discards: DiscardedFiles

    package init(
        catalogue: any Catalogue, fields: SealedFields, discards: DiscardedFiles, pool: BlockingPool,
        deriver: KeyDeriver
    ) {
        self.catalogue = catalogue
        self.fields = fields
        self.discards = discards
        self.pool = pool
        self.deriver = deriver
    }

    // MARK: One photo

    func detail(of id: Int64) async throws -> PhotoDetail {
        let rows = try await catalogue.read {
            try $0.sealedFields.values(of: $0.photos.require(.id(id)).uuid)
        }
        guard !rows.isEmpty else { return PhotoDetail(photoId: id) }
        return DetailText.detail(ofPhoto: id, rows, try await fields.keyring())
    }

    func set(_ request: SetPhotoDetail) async throws -> PhotoDetail {
        let change = try DetailChange(request)
        let id = request.id
        // Before anything else: a photo that is not there is no reason to make a key.
        _ = try await catalogue.read { try $0.photos.require(.id(id)) }
        for _ in 0..<3 {
            let keyring =
                change.values.isEmpty ? try await fields.keyring() : try await fields.keyringMakingOne()
            let rows = try await catalogue.write { transaction -> [SealedRow]? in
                // A rotation that has begun since would not come to a value under the old key.
                guard try transaction.sealedFields.activeKey() == keyring?.active.description else { return nil }
                let uuid = try transaction.photos.require(.id(id)).uuid
                try change.apply(to: uuid, keyring, in: transaction)
                return try transaction.sealedFields.values(of: uuid)
            }
            if let rows { return DetailText.detail(ofPhoto: id, rows, keyring) }
            fields.forget()
        }
        throw MeshError(.unavailable, "The keys of the sealed fields are being changed. Try again in a moment.")
    }

    func seal(_ request: SealLocation) async throws -> SealedLocation {
        do {
            let keyring = try await fields.keyringMakingOne()
            let place = SealedFields.place(.init(uuid: request.uuid, field: SealedField.location.rawValue))
            let sealed = keyring.seal(Array(request.position.text.utf8), at: place)
            return SealedLocation(sealed: Data(sealed), problem: nil)
        } catch {
            try Task.checkCancellation()
            let why = MeshError(describing: error).message
            return SealedLocation(sealed: nil, problem: "where it was taken is not kept: \(why)")
        }
    }

    // MARK: Search

    func search(_ request: SearchPhotoDetails) async throws -> DetailMatches {
        guard let text = try SearchText(request.text) else {
            throw MeshError(.invalidArgument, "Say what to look for in 'text'.")
        }
        let limit = try PageLimit.validated(request.limit)
        var matches = PhotoMatches(end: try request.after.map(PhotoPlace.init), limit: limit)
        let wanted = Set((request.fields ?? SealedField.allCases).map(\.rawValue))
        let keyring = try await fields.keyring()
        var last: SealedRow.Name?
        while true {
            try Task.checkCancellation()
            let place = last
            let page = try await catalogue.read { try $0.sealedFields.page(after: place, limit: Self.batch) }
            guard let end = page.last else { break }
            let found = try await pool.run {
                Self.look(for: text, in: page.filter { wanted.contains($0.name.field) }, keyring)
            }
            let uuids = matches.unseen(found.uuids)
            matches.unreadable += found.unreadable
            matches.add(try await catalogue.read { try $0.sealedFields.places(of: uuids) })
            last = end.name
        }
        let (shown, hasMore) = (matches.shown, matches.hasMore)
        let photos = try await catalogue.read { try $0.photos.findReadable(shown.map { .id($0.id) }) }
        return DetailMatches(
            photos: photos, next: hasMore ? shown.last?.text : nil, total: matches.total,
            unreadable: matches.unreadable)
    }

    /// - Returns: the photos whose values have the text, in order, and how many values do not open.
    private static func look(
        for text: SearchText, in rows: [SealedRow], _ keyring: Keyring?
    ) -> (uuids: [String], unreadable: Int) {
        var uuids: [String] = []
        var unreadable = 0
        for row in rows {
            guard let texts = DetailText.opened(row, keyring) else {
                unreadable += 1
                continue
            }
            guard uuids.last != row.name.uuid, texts.contains(where: { $0.searchFolded.contains(text.folded) }) else {
                continue
            }
            uuids.append(row.name.uuid)
        }
        return (uuids, unreadable)
    }
}

/// The photos that a search has found so far: those of its page, and how many there are on all.
private struct PhotoMatches {
    /// Photos of the page stand before it.
    let end: PhotoPlace?
    let limit: Int
    private(set) var total = 0
    var unreadable = 0
    /// The first of the page in the order of lists, and one more that tells whether there is a next page.
    private var places: [PhotoPlace] = []
    private var last: String?

    init(end: PhotoPlace?, limit: Int) {
        self.end = end
        self.limit = limit
    }

    var shown: [PhotoPlace] { Array(places.prefix(limit)) }
    var hasMore: Bool { places.count > limit }

    /// Without the one that the batch before ended with: a photo's values may be in two batches.
    mutating func unseen(_ uuids: [String]) -> [String] {
        let new = uuids.first == last ? Array(uuids.dropFirst()) : uuids
        last = uuids.last ?? last
        return new
    }

    /// - Parameter found: nil for photos that are not in the library.
    mutating func add(_ found: [PhotoPlace?]) {
        for place in found.compactMap({ $0 }) {
            total += 1
            guard end.map({ place < $0 }) ?? true else { continue }
            if places.count > limit, let least = places.last, place < least { continue }
            places.insert(place, at: places.firstIndex { $0 < place } ?? places.endIndex)
            if places.count > limit + 1 { places.removeLast() }
        }
    }
}

extension GetPhotoDetail: HandledMessage {
    public func perform(on service: SealedFieldStore) async throws -> PhotoDetail { try await service.detail(of: id) }
}

extension SetPhotoDetail: HandledMessage {
    public func perform(on service: SealedFieldStore) async throws -> PhotoDetail { try await service.set(self) }
}

extension SealLocation: HandledMessage {
    public func perform(on service: SealedFieldStore) async throws -> SealedLocation { try await service.seal(self) }
}

extension SearchPhotoDetails: HandledMessage {
    public func perform(on service: SealedFieldStore) async throws -> DetailMatches { try await service.search(self) }
}
