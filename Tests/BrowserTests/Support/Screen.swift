import Browser
import LibraryModel
import Testing

/// A screen of the page, and what every one of them must do. All conditions are expressions of JavaScript.
struct Screen: Sendable, CustomTestStringConvertible {
    let name: String
    /// Where it is, of a house.
    let place: @Sendable (House) async throws -> String
    /// When it is there, with what the house has.
    let isReady: String
    /// A change on the command line; what the screen shows then and did not show before; and how to take it back.
    let change: @Sendable (House) async throws -> Void
    let hasChanged: String
    let changeBack: @Sendable (House) async throws -> Void

    var testDescription: String { name }

    private init(
        _ name: String, at place: @escaping @Sendable (House) async throws -> String, isReady: String,
        change: @escaping @Sendable (House) async throws -> Void, hasChanged: String,
        changeBack: @escaping @Sendable (House) async throws -> Void
    ) {
        (self.name, self.place, self.isReady) = (name, place, isReady)
        (self.change, self.hasChanged, self.changeBack) = (change, hasChanged, changeBack)
    }

    private init(
        _ name: String, isReady: String, change: @escaping @Sendable (House) async throws -> Void, hasChanged: String,
        changeBack: @escaping @Sendable (House) async throws -> Void
    ) {
        self.init(
            name, at: { _ in "#/" + name }, isReady: isReady, change: change, hasChanged: hasChanged,
            changeBack: changeBack)
    }

    private static let addPets: @Sendable (House) async throws -> Void = {
        try await $0.smilepile("categories", "add", "Pets")
    }
    private static let deletePets: @Sendable (House) async throws -> Void = {
        try await $0.smilepile("categories", "delete", "Pets", "--yes")
    }
    private static let deleteNewest: @Sendable (House) async throws -> Void = {
        try await $0.smilepile("photos", "delete", String($0.photos()[0].id))
    }
    private static let emptyTrash: @Sendable (House) async throws -> Void = { house in
        for entry in try await house.call(ListTrash(limit: 1000)).photos {
            try await house.smilepile("trash", "restore", String(entry.photo.id))
        }
    }
    private static let favourNewest: @Sendable (House) async throws -> Void = {
        try await $0.smilepile("photos", "favorite", String($0.photos()[0].id))
    }
    private static let unfavourAll: @Sendable (House) async throws -> Void = { house in
        for photo in try await house.photos(SearchPhotos(PhotoFilter(favoritesOnly: true), limit: 1000)) {
            try await house.smilepile("photos", "unfavorite", String(photo.id))
        }
    }

    /// All that a parent has; what a child has is a mode, in ``KidsTests``.
    static let all = [
        Screen(
            "photos", isReady: "document.querySelectorAll('.tile.loaded').length > 8",
            change: favourNewest, hasChanged: "document.querySelector('.tile.favourite')", changeBack: unfavourAll),
        Screen(
            "photo", at: { try await "#/photo/" + $0.photos()[0].uuid },
            isReady: "document.querySelector('zoom-surface img')?.naturalWidth > 0",
            change: favourNewest,
            hasChanged: "document.querySelector('photo-view [aria-label=Favourite][aria-pressed=true]')",
            changeBack: unfavourAll),
        Screen(
            "categories", isReady: "document.querySelectorAll('.categories .preview img').length > 2",
            change: addPets, hasChanged: "tests.has('.categories', 'Pets')", changeBack: deletePets),
        Screen(
            "review", at: { try await "#/review?category=\($0.category("Family").id)" },
            isReady: "document.querySelector('swipe-card img')?.naturalWidth > 0",
            change: { try await $0.smilepile("categories", "edit", "Family", "--name", "Relatives") },
            hasChanged: "tests.has('review-screen category-picker', 'Relatives')",
            changeBack: { try await $0.smilepile("categories", "edit", "Relatives", "--name", "Family") }),
        Screen(
            "import", isReady: "tests.has('import-screen option', 'Family')",
            change: addPets, hasChanged: "tests.has('import-screen option', 'Pets')", changeBack: deletePets),
        Screen(
            "groups",
            at: { house in
                try await house.group()
                return "#/groups"
            }, isReady: "document.querySelector('.groups .badge.sent')",
            change: { try await $0.smilepile("groups", "create", "Neighbours", "--as", "Ada") },
            hasChanged: "tests.has('.groups', 'Neighbours')",
            changeBack: { try await $0.smilepile("groups", "delete", "Neighbours", "--yes") }),
        Screen(
            "group", at: { try await "#/groups/" + $0.group().id },
            isReady: "document.querySelector('group-photo img')?.naturalWidth > 0",
            change: { try await $0.smilepile("groups", "rename", "Cousins", "All cousins") },
            hasChanged: "tests.has('group-view h1', 'All cousins')",
            changeBack: { try await $0.smilepile("groups", "rename", "All cousins", "Cousins") }),
        Screen(
            "trash", isReady: "document.querySelector('trash-screen h1') && !tests.has('trash-screen', 'Loading')",
            change: deleteNewest, hasChanged: "document.querySelector('.trash-grid li')", changeBack: emptyTrash),
        Screen(
            "jobs", isReady: "document.querySelector('jobs-screen job-card h2')?.textContent",
            change: { try await $0.smilepile("storage", "thumbnails") },
            hasChanged: "tests.has('jobs-screen job-card', 'Making thumbnails')", changeBack: { _ in }),
        Screen(
            "backup", isReady: "document.querySelector('made-backups:not([hidden])')",
            change: { try await $0.smilepile("backup", "create", $0.place.folder.file("one.zip")) },
            hasChanged: "tests.has('backup-screen job-card', 'one.zip') && tests.has('.made-backups', 'one.zip')",
            changeBack: { _ in }),
        Screen(
            "storage",
            isReady: "document.querySelector('.years-chart h3') && document.querySelector('storage-screen .legend')",
            change: deleteNewest,
            hasChanged:
                "[...document.querySelectorAll('.years-chart .number')].reduce((sum, { textContent }) => sum + Number(textContent), 0) === 23",
            changeBack: emptyTrash),
        Screen(
            "devices", isReady: "document.querySelector('.device h2')",
            change: { house in
                let stranger = try await house.stranger()
                try await House.pair(stranger, with: house.startPage().pairing, as: "Visitor")
                try await stranger.close()
            },
            hasChanged: "tests.has('.device h2', 'Visitor')",
            changeBack: { try await $0.smilepile("web", "forget", "Visitor") }),
        Screen(
            "settings", isReady: "tests.control('Keep the original of a photo that is converted on import')",
            change: { try await $0.smilepile("settings", "set", "keepOriginals", "false") },
            hasChanged: "!tests.control('Keep the original of a photo that is converted on import').checked",
            changeBack: { try await $0.smilepile("settings", "set", "keepOriginals", "true") }),
    ]
}
