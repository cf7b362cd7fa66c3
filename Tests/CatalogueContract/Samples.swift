import LibraryModel
import LibraryStorage
import ServiceMesh

/// Values for checks, the same for the same numbers.
enum Sample {
    /// 2025-06-15T10:00, on whichever clock.
    static let noon: Int64 = 1_749_981_600_000
    static let day: Int64 = 86_400_000

    static func time(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

    /// 64 hexadecimal digits.
    static func digest(_ kind: Int, _ number: Int) -> String {
        let digits = String(kind, radix: 16) + "a" + String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    static func uuid(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "aaaaaaaa-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    static func photo(
        _ number: Int, in category: Int64, takenAt: Int64? = noon, createdAt: Int64? = nil, name: String? = nil,
        caption: String? = nil, isFavorite: Bool = false, camera: String? = nil, size: Int64 = 100
    ) -> SourcedPhoto {
        SourcedPhoto(
            photo: Photo(
                id: 0, uuid: uuid(number), path: "photos/IMG_\(number).jpg", categoryId: category,
                name: name ?? "picture \(number)", caption: caption, isFromAssets: false,
                createdAt: time(createdAt ?? noon + Int64(number)), fileSize: size, width: 4, height: 3,
                isFavorite: isFavorite, takenAt: takenAt.map(LocalDateTime.init(milliseconds:)), camera: camera,
                contentDigest: digest(1, number), mediaType: "image/jpeg"),
            sourceDigest: digest(2, number), sourceSize: 1000)
    }

    static func details(_ name: String, color: String = "#010203", icon: String? = nil) -> CategoryDetails {
        CategoryDetails(displayName: name, colorHex: color, iconResource: icon)
    }

    static func category(_ name: String) -> CategoryEntry {
        CategoryEntry(details(name), createdAt: time(noon))
    }

    /// What looks like a value that is sealed with a key: a version, the key's id, and the rest.
    /// - Parameter key: one byte, of which the id is made.
    static func sealed(_ key: UInt8, _ rest: [UInt8] = [7]) -> [UInt8] {
        [1] + Array(repeating: key, count: 16) + rest
    }

    /// The id of such a key.
    static func keyID(_ key: UInt8) -> String {
        let digits = String(key, radix: 16)
        return String(repeating: digits.count < 2 ? "0" + digits : digits, count: 16)
    }
}

/// Photos in two categories, as they were entered.
struct Album: Sendable {
    /// The first two categories.
    let family: Int64
    let cars: Int64
    let photos: [Photo]

    var ids: [Int64] { photos.map(\.id) }
}

extension ContractRun {
    /// Enters two categories, and photos into the first of them unless told otherwise.
    /// - Parameter photo: of the photos' numbers, from 0 on.
    @discardableResult
    func album(
        _ count: Int = 0,
        _ photo: @escaping @Sendable (_ number: Int, _ family: Int64, _ cars: Int64) -> SourcedPhoto = {
            number, family, _ in
            Sample.photo(number, in: family)
        }
    ) async throws -> Album {
        try await write { t in
            let family = try t.categories.insert(Sample.category("Family")).id
            let cars = try t.categories.insert(Sample.category("Cars")).id
            let entered = (0..<count).map { photo($0, family, cars) }
            try t.photos.insert(entered)
            return Album(
                family: family, cars: cars, photos: try t.photos.require(entered.map { .uuid($0.photo.uuid) }))
        }
    }
}

extension CatalogueTransaction {
    /// All photos that pass a filter, page by page.
    func all(
        _ filter: PhotoFilter = PhotoFilter(), in scope: CategoryScope? = nil, limit: Int
    ) throws -> [Photo] {
        var photos: [Photo] = []
        var next: String?
        repeat {
            let page = try self.photos.page(PhotoQuery(filter, after: next, limit: limit).within(scope))
            photos += page.photos
            next = page.next
        } while next != nil && photos.count < 10_000
        return photos
    }

    func photo(_ id: Int64) throws -> Photo { try photos.require(.id(id)) }
}
