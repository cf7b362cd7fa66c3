import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// What programs of devices send over WebDAV: each sees what its own device has sent, and what it sends is imported as uploads are.
///
/// It remembers names, sizes, times and digests, and no photos: what a program sees stays as it was, whatever people do to the photos.
/// A program that compares and finds a photo missing that was deleted would send it once more.
///
/// A file that is no photo is refused, and nothing of it is kept: some programs delete what was taken from them.
public actor SentFileStore: MeshService {
    public static let serviceName = "SentFileStore"
    public static var messages: MessageList<SentFileStore> {
        ListSentFiles.self
        BeginSentFile.self
        FinishSentFile.self
        DiscardSentFile.self
        MakeSentFolder.self
        MoveSentFile.self
        OpenSentFile.self
    }

    /// A file on its way.
    struct Begun: Sendable {
        let upload: String
        let device: String
        let place: SentPlace
        let size: Int64
        let modifiedAt: Timestamp?
    }

    /// Of all devices, files whose import is waited for.
    static let mostFinishing = 32

    let catalogue: any Catalogue
    private(set) unowned var mesh: Mesh?
    var begun: [Begun] = []
    var finishing = 0
    /// Sessions of uploads by device, as far as this run of the program knows.
    var sessions: [String: Task<String, any Error>] = [:]
    /// Uploads by device that were waited for in vain: an import that is paused, or others before it, keep a program up once, and not with
    /// each file.
    var waiting: [String: [String]] = [:]
    /// Files and folders of each device that was asked about.
    private var counts: [String: Int] = [:]

    package init(catalogue: any Catalogue) { self.catalogue = catalogue }

    public func start(on mesh: Mesh) { self.mesh = mesh }

    func requireMesh() throws -> Mesh {
        guard let mesh else { throw MeshError(.unavailable, "The library is closing. Try again later.") }
        return mesh
    }

    func device(_ password: String) async throws -> Device {
        try await requireMesh().send(FindDeviceOfPassword(password: password))
    }

    // MARK: Looking

    func list(_ request: ListSentFiles) async throws -> SentFilePage {
        let device = try await device(request.password).id
        let place = try SentPlace(request.path)
        let limit = ListSentFiles.maximumCount
        return try await catalogue.read { transaction in
            guard let file = try Self.find(place, of: device, transaction) else { throw Self.notThere }
            guard file.isFolder, request.withContents != false else {
                return SentFilePage(file: file.shown, contents: [], next: nil)
            }
            let found = try transaction.sentFiles.contents(
                of: place.inside, of: device, after: request.after, limit: limit + 1)
            var contents = found.prefix(limit).map(\.shown)
            let next = found.count > limit ? contents.last?.name : nil
            if place.isTop, next == nil {
                for category in try transaction.categories.all() where SentPlace.isName(category.displayName) {
                    let own = try transaction.sentFiles.find(category.displayName, in: "", of: device)
                    if own == nil { contents.append(Self.folder(of: category).shown) }
                }
            }
            return SentFilePage(file: file.shown, contents: contents, next: next)
        }
    }

    /// What is at a place: what was sent there, or a category that nothing was sent to. Nil for nothing.
    static func find(
        _ place: SentPlace, of device: String, _ transaction: any CatalogueTransaction
    ) throws -> StoredSentFile? {
        if place.isTop {
            return StoredSentFile(
                name: "", size: nil, modifiedAt: Timestamp(milliseconds: 0), sentAt: Timestamp(milliseconds: 0))
        }
        if let found = try transaction.sentFiles.find(place.name, in: place.folder, of: device) { return found }
        guard place.names.count == 1,
            let category = try transaction.categories.find(.displayName(place.name)),
            category.displayName == place.name
        else { return nil }
        return folder(of: category)
    }

    private static func folder(of category: LibraryModel.Category) -> StoredSentFile {
        StoredSentFile(
            name: category.displayName, size: nil, modifiedAt: category.createdAt, sentAt: category.createdAt,
            categoryId: category.id)
    }

    func open(_ request: OpenSentFile) async throws -> OpenedSentFile {
        let device = try await device(request.password).id
        let place = try SentPlace(request.path)
        let found = try await catalogue.read { try Self.find(place, of: device, $0) }
        guard let found else { throw Self.notThere }
        guard let digest = found.digest else { throw Self.isFolder }
        let mesh = try requireMesh()
        guard let photo = try await mesh.send(FindPhotoOfSource(digest: digest)).photo else { throw Self.notKept }
        let kind = photo.companionFilm?.contentDigest == digest ? PhotoFileKind.film : .original
        let opened: OpenedPhoto
        do {
            opened = try await mesh.send(OpenPhoto(uuid: photo.uuid, kind))
        } catch let error as MeshError where [.notFound, .failedPrecondition].contains(error.status) {
            throw Self.notKept
        }
        guard opened.size == found.size else { throw Self.notKept }
        return OpenedSentFile(
            file: found.shown, mediaType: opened.mediaType, offset: opened.offset, content: opened.content)
    }

    // MARK: Folders and names

    func makeFolder(_ request: MakeSentFolder) async throws {
        let device = try await device(request.password).id
        let place = try SentPlace(request.path)
        let there = try await catalogue.read { transaction in
            try Self.requireFolder(place.above, of: device, transaction)
            return try Self.find(place, of: device, transaction)
        }
        guard there == nil else { throw Self.isThere }
        let category = place.names.count == 1 ? try await requireMesh().category(named: place.name).id : nil
        try await requireRoom(of: device)
        let now = Timestamp.now()
        try await store(
            StoredSentFile(name: place.name, size: nil, modifiedAt: now, sentAt: now, categoryId: category),
            at: place, of: device)
    }

    func move(_ request: MoveSentFile) async throws -> MovedSentFile {
        let device = try await device(request.password).id
        let (from, to) = (try SentPlace(request.from), try SentPlace(request.to))
        let isNew = try await catalogue.write { transaction in
            guard var file = try Self.find(from, of: device, transaction) else { throw Self.notThere }
            guard !file.isFolder else { throw Self.foldersStay }
            try Self.requireFolder(to.above, of: device, transaction)
            let there = try Self.find(to, of: device, transaction)
            guard there?.isFolder != true else { throw Self.isFolder }
            guard there == nil || request.replaces else { throw Self.isThere }
            try transaction.sentFiles.remove(from.name, in: from.folder, of: device)
            file.name = to.name
            try transaction.sentFiles.store(file, in: to.folder, of: device)
            return there == nil
        }
        if !isNew, request.from != request.to { counts[device]? -= 1 }
        return MovedSentFile(isNew: isNew)
    }

    /// - Throws: `not_found`, `failed_precondition`.
    static func requireFolder(
        _ place: SentPlace, of device: String, _ transaction: any CatalogueTransaction
    ) throws {
        guard let found = try find(place, of: device, transaction) else {
            throw MeshError(
                .failedPrecondition, "There is no folder '\(place.inside.prefix(200))'. Make it first.")
        }
        guard found.isFolder else {
            throw MeshError(.failedPrecondition, "'\(place.inside.prefix(200))' is a file, and no folder.")
        }
    }

    func requireRoom(of device: String) async throws {
        let count: Int
        if let known = counts[device] {
            count = known
        } else {
            count = try await catalogue.read { try $0.sentFiles.count(of: device) }
            counts[device] = count
        }
        guard count < SentFile.maximumCount else {
            throw MeshError(
                short: .count,
                "This device has sent \(SentFile.maximumCount) files, which is the most that is remembered. Pair it anew, and "
                    + "have the program begin with an empty folder.")
        }
    }

    /// - Returns: whether nothing was there before.
    @discardableResult
    func store(_ file: StoredSentFile, at place: SentPlace, of device: String) async throws -> Bool {
        let isNew = try await catalogue.write { transaction in
            // Forgotten meanwhile: its program is told at its next request.
            guard try transaction.devices.all().contains(where: { $0.device.id == device }) else { return false }
            // A category that was a folder until now by its name alone stays that one from here on.
            if place.names.count > 1, let top = place.names.first,
                try transaction.sentFiles.find(top, in: "", of: device) == nil,
                let category = try transaction.categories.find(.displayName(top))
            {
                try transaction.sentFiles.store(Self.folder(of: category), in: "", of: device)
            }
            let before = try transaction.sentFiles.find(place.name, in: place.folder, of: device)
            try transaction.sentFiles.store(file, in: place.folder, of: device)
            return before == nil
        }
        if isNew { counts[device]? += 1 }
        return isNew
    }

    // MARK: Refusals

    static let notThere = MeshError(.notFound, "This device has sent nothing that is called so.")
    static let isThere = MeshError(.alreadyExists, "Something is called so already.")
    static let isFolder = MeshError(
        .failedPrecondition, "That is a folder, and no file.", details: ["place": "folder"])
    private static let foldersStay = MeshError(
        .permissionDenied, "Folders stay where they are. Call the category otherwise on the page.")
    private static let notKept = MeshError(
        .notFound, "The library has this file no more, or keeps another form of it. Look for the photo on the page.")
}

extension StoredSentFile {
    var shown: SentFile {
        SentFile(name: name, isFolder: isFolder, size: size, modifiedAt: modifiedAt, sentAt: sentAt)
    }
}

extension ListSentFiles: HandledMessage {
    public func perform(on service: SentFileStore) async throws -> SentFilePage { try await service.list(self) }
}

extension OpenSentFile: HandledMessage {
    public func perform(on service: SentFileStore) async throws -> OpenedSentFile { try await service.open(self) }
}

extension MakeSentFolder: HandledMessage {
    public func perform(on service: SentFileStore) async throws -> Done {
        try await service.makeFolder(self)
        return Done()
    }
}

extension MoveSentFile: HandledMessage {
    public func perform(on service: SentFileStore) async throws -> MovedSentFile { try await service.move(self) }
}
