import Foundation
import LibraryModel

extension View {
    /// The screens that a parent has, and what opens above them, in a house that has something in every list.
    static let ofAParent: [View] = {
        let screens = Screen.all.map { screen in
            // A switch by its name is there in one language only.
            let isReady =
                screen.name == "settings"
                ? "document.querySelector('settings-screen output')?.textContent" : screen.isReady
            return View(screen.name, isReady: isReady, place: screen.place)
        }
        func on(_ name: String) -> View {
            guard let screen = screens.first(where: { $0.name == name }) else {
                preconditionFailure("There is no screen \(name).")
            }
            return screen
        }
        let check = Control.element("document.querySelector('.tile .check')")
        return screens + [
            on("photos").opening(
                "selection", check, then: "document.querySelectorAll('selection-bar button').length > 5"),
            on("photos").opening("caption of some", check, .saying("selection.caption"), then: dialog),
            on("photos").opening("move", check, .saying("selection.move"), then: dialog),
            on("photos").opening("view", .saying("timeline.view"), then: dialog),
            on("photos").opening(
                "keys", .saying("timeline.view"), .saying("keys.title"),
                then: "document.querySelector('dialog.keys[open]')"),
            on("photos").opening(
                "months", .element("document.querySelector('timeline-strip .date')"),
                then: "document.querySelector('dialog.months[open]')"),
            on("photos").opening("dates", .saying("filter.dates"), then: dialog),
            // Its name is two sentences: what it is, and which category it shows.
            on("photos").opening(
                "categories to choose", .element("document.querySelector('filter-bar category-picker button')"),
                then: dialog),
            View("slideshow", isReady: "document.querySelector('slide-show img.seen')?.naturalWidth > 0") { house in
                try await "#/photo/\(house.photos()[1].uuid)?slides=1"
            },
            on("photo").opening("facts", .saying("photo.facts"), then: "document.querySelector('photo-facts dd')"),
            on("categories").opening("new category", .saying("category.add"), then: dialog),
            on("categories").opening("delete category", .saying("category.deleteOne", name: "Family"), then: dialog),
            on("backup").opening("choose backup", .saying("backup.createOther"), then: dialog),
            on("backup").opening("schedule", .saying("backup.scheduleChange"), then: dialog),
            on("backup").opening("prune", .saying("backup.prune"), then: dialog),
            on("groups").opening("new group", .saying("groups.add"), then: dialog),
            on("photo").opening(
                "send", .saying("groups.send"), then: "document.querySelector('dialog[open] input[type=radio]')"),
            on("group").opening(
                "large", .saying("groups.enlarge"),
                then: "document.querySelector('dialog.large img')?.naturalWidth > 0"),
            on("group").opening("keep", .saying("groups.keepOne"), then: dialog),
            on("group").opening("rename group", .saying("groups.rename"), then: dialog),
            on("group").opening("leave group", .saying("groups.leave"), then: dialog),
            on("group").opening("invite to group", .saying("groups.invite"), then: dialog),
            on("group").opening("remove member", .saying("groups.remove", name: "Ben"), then: dialog),
            on("group").opening(
                "group invitation", .saying("groups.again", name: "Cleo"), .saying("groups.againNow"),
                then: "document.querySelector('dialog .qr-code')"),
            on("groups").opening("join group", .saying("groups.join"), then: dialog),
            on("groups").opening("forget machine", .saying("groups.forgetOne"), then: dialog),
            on("settings").opening("PIN", .saying("pin.set"), then: dialog),
            on("devices").opening("invite", .saying("devices.add"), then: dialog),
            on("devices").opening("let a machine in", .saying("machines.share"), then: dialog),
            on("devices").opening("join a machine", .saying("machines.join"), then: dialog),
            // One that this machine has joined; one that it has let in is forgotten by a button of the same name.
            on("devices").opening(
                "disconnect a machine", .saying("machines.endOne", within: "review-machines li .buttons"), then: dialog),
        ]
    }()

    /// What is there before a browser is known.
    static let ofAStranger: [View] = [
        View("pairing", at: "", isReady: "document.querySelector('pairing-screen pre')"),
        View(
            "pairing with a code",
            isReady: "document.querySelector('pairing-screen form') && !document.querySelector('pairing-screen pre')"
        ) { house in
            let address = try await house.startPage().pairing
            return String(address[(address.firstIndex(of: "#") ?? address.endIndex)...])
        },
        View(
            "invited", at: "#join=" + String(repeating: "A", count: 43),
            isReady: "document.querySelector('pairing-screen pre.wrap')"),
    ].map(\.forStrangers)

    /// What a child has, in kids mode.
    static let ofAChild: [View] = {
        let kids = View(
            "kids", at: "#/photos",
            isReady: "document.querySelectorAll('kids-screen .kids-categories img').length === 3")
        return [
            kids, kids.opening("kids PIN", .saying("kids.parents"), then: dialog),
            View("kids photos", isReady: "document.querySelectorAll('kids-screen .tile.loaded').length > 2") { house in
                try await "#/kids?category=\(house.category("Family").id)"
            },
            View("kids photo", isReady: "document.querySelector('zoom-surface img')?.naturalWidth > 0") { house in
                let category = try await house.category("Family").id
                let photo = try await house.photos(SearchPhotos(PhotoFilter(categoryId: category)))[0]
                return "#/kids/\(photo.uuid)?category=\(category)"
            },
        ]
    }()

    /// Where ``LongTexts`` are to be seen.
    static let ofLongTexts: [View] = {
        func photo(_ number: Int) -> @Sendable (House) async throws -> String {
            { try await "#/photo/" + $0.photos()[number].uuid }
        }
        let groups = View("groups", at: "#/groups", isReady: "tests.has('.groups', 'WWWW')")
        let group = View("group", isReady: "document.querySelector('group-photo img')?.naturalWidth > 0") { house in
            try await "#/groups/" + house.group(withoutPhoto: LongTexts.faces).id
        }
        let caption = View("caption", isReady: "tests.has('photo-view h1', 'MMMM')", place: photo(1))
        let faces = View("faces", isReady: "document.title.startsWith('👩‍👩‍👧‍👦')", place: photo(0))
        let categories = View("categories", at: "#/categories", isReady: "tests.has('.categories', 'WWWW')")
        let devices = View("devices", at: "#/devices", isReady: "tests.has('.device h2', '👵🏽')")
        return [
            groups, group, group.opening("leave", .saying("groups.leave"), then: dialog),
            caption.opening("send", .saying("groups.send"), then: "tests.has('dialog', '👩‍👩‍👧‍👦')"),
            View("photos", at: "#/photos", isReady: "document.querySelector('.tile.loaded')"),
            View("of a category", isReady: "document.querySelector('.tile.loaded')") { house in
                try await "#/photos?category=\(LongTexts.category(house).id)"
            },
            faces.opening("faces", .saying("photo.facts"), then: "tests.has('photo-facts', '👩‍👩‍👧‍👦')"),
            caption.opening("caption", .saying("photo.facts"), then: "document.querySelector('photo-facts dd')"),
            categories,
            categories.opening("delete one", .saying("category.deleteOne", name: LongTexts.twisted), then: dialog),
            View("review", isReady: "document.querySelector('swipe-card img')?.naturalWidth > 0") { house in
                try await "#/review?category=\(LongTexts.category(house).id)"
            },
            View("import", at: "#/import", isReady: "tests.has('import-screen option', 'WWWW')"),
            View("trash", at: "#/trash", isReady: "tests.has('.trash-grid', 'MMMM')"),
            devices, devices.opening("forget", .saying("devices.forget", name: LongTexts.device), then: dialog),
        ]
    }()
}

/// A house that has something in every list, so that there is something to look at.
enum FullHouse {
    static func furnish(_ house: House) async throws {
        let photos = try await house.photos()
        _ = try await house.call(SetFavorite(ids: [photos[0].id, photos[4].id], isFavorite: true))
        _ = try await house.call(DeletePhotos(ids: [photos[5].id, photos[6].id]))
        try await house.smilepile(
            "backup", "create", house.place.folder.file("SmilePileBackup_\(UUID().uuidString).zip"))
        try await house.smilepile("backup", "schedule", house.place.folder.path)
        // Her invitation is made anew by a view, which ends the one before.
        _ = try await house.invite("Cleo", to: house.group())
        // A machine that keeps groups is needed; that it is this one does not show.
        let invitation = try await house.invite("Ben", to: house.group())
        _ = try await house.call(JoinGroups(address: house.address, token: invitation.token))
        // As is one that has reviews in common.
        let shared = try await house.call(ShareReviews(name: "Laptop"))
        _ = try await house.call(JoinReviews(address: house.address, token: shared.token))
    }

    /// Takes away what tidying leaves.
    static func clear(_ house: House) async throws { try await house.endReviewSharing() }
}

/// A house whose names and captions are as long as they may be.
enum LongTexts {
    static let faces = String(repeating: "👩‍👩‍👧‍👦", count: 60)
    static let twisted = "\u{202E}\u{2067}" + String(repeating: "W", count: 190)
    /// 100 units of UTF-16, as many as the field takes.
    static let device = String(repeating: "👵🏽", count: 25)

    static func category(_ house: House) async throws -> Category { try await house.category(twisted) }

    static func write(in house: House) async throws {
        let photos = try await house.photos()
        _ = try await house.call(EditPhoto(id: photos[0].id, name: faces))
        for photo in [photos[1], photos[2]] {
            _ = try await house.call(SetCaption(id: photo.id, caption: String(repeating: "M", count: 2000)))
        }
        _ = try await house.call(DeletePhotos(ids: [photos[2].id]))
        let category = try await house.call(AddCategory(displayName: twisted))
        _ = try await house.call(MovePhotos(ids: [photos[1].id], categoryId: category.id))
        let guest = try await house.stranger()
        try await House.pair(guest, with: house.startPage().pairing, as: device)
        try await guest.close()
        _ = try await house.group(faces, as: String(repeating: "W", count: 100))
        _ = try await house.call(ShareReviews(name: String(repeating: "W", count: 100)))
    }

    /// Takes away what tidying leaves.
    static func clear(_ house: House) async throws {
        for other in try await house.call(ListDevices()).devices where other.name == device {
            _ = try await house.call(ForgetDevice(id: other.id))
        }
        try await house.endReviewSharing()
    }
}

/// A house in kids mode.
enum KidsHouse {
    static func furnish(_ house: House) async throws {
        _ = try await house.call(SetPIN(pin: PIN(House.pin)))
        _ = try await house.call(SetMode(mode: .kids))
    }

    static func clear(_ house: House) async throws {
        try await house.smilepile(withPIN: "mode", "parent")
        _ = try await house.call(ClearPIN(pin: PIN(House.pin)))
    }
}
