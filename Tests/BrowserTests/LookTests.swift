import Browser
import Foundation
import LibraryModel
import ServiceMesh
import Testing

/// axe-core, which `Scripts/setup --tests` brings; it is not part of this repository.
enum Axe {
    static let script: String? = {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try? String(contentsOf: root.appendingPathComponent(".build/tests/axe.min.js"), encoding: .utf8)
    }()
}

extension BrowserTests {
    /// How screens look: for eyes of every kind, in small and large windows, in long words.
    @Suite struct LookTests {
        /// A screen, or what opens above one.
        private struct View {
            let name: String
            let place: String
            let isReady: String
            /// Pressed one after the other; elements and not names, which are another language's.
            var pressed: [String] = []
            var isThen = "true"
        }

        private static func views(_ house: House) async throws -> [View] {
            var views: [View] = []
            for screen in Screen.all {
                // A switch by its name is there in one language only.
                let isReady =
                    screen.name == "settings"
                    ? "document.querySelector('settings-screen output')?.textContent" : screen.isReady
                views.append(View(name: screen.name, place: try await screen.place(house), isReady: isReady))
            }
            func first(_ name: String) -> View { views.first { $0.name == name } ?? views[0] }
            func opened(_ name: String, from screen: String, _ pressed: String..., then isThen: String) -> View {
                let below = first(screen)
                return View(name: name, place: below.place, isReady: below.isReady, pressed: pressed, isThen: isThen)
            }
            let dialog = "document.querySelector('dialog[open]')"
            let check = "document.querySelector('.tile .check')"
            func button(_ parent: String, _ number: Int) -> String {
                "document.querySelectorAll('\(parent)')[\(number)]"
            }
            return views + [
                opened(
                    "selection", from: "photos", check,
                    then: "document.querySelectorAll('selection-bar button').length > 5"),
                opened("caption of some", from: "photos", check, button("selection-bar button", 3), then: dialog),
                opened("move", from: "photos", check, button("selection-bar button", 2), then: dialog),
                opened("dates", from: "photos", button("filter-bar > .chip", 1), then: dialog),
                opened(
                    "categories to choose", from: "photos", button("filter-bar category-picker .chip", 0), then: dialog),
                opened(
                    "facts", from: "photo", "document.querySelector('photo-view header').lastElementChild",
                    then: "document.querySelector('photo-facts dd')"),
                opened(
                    "new category", from: "categories", button("categories-screen .screen-header button", 0),
                    then: dialog),
                opened("delete category", from: "categories", button("[data-control=delete]", 0), then: dialog),
                opened("choose backup", from: "backup", button("backup-screen .buttons button", 1), then: dialog),
                opened("schedule", from: "backup", button("backup-schedule button", 0), then: dialog),
                opened("prune", from: "backup", button("made-backups > .buttons > button:last-child", 0), then: dialog),
                opened("new group", from: "groups", button("groups-screen .screen-header button", 0), then: dialog),
                opened(
                    "send", from: "photo", button("photo-view header button", 2),
                    then: "document.querySelector('dialog[open] input[type=radio]')"),
                opened(
                    "large", from: "group", button("group-photo .picture", 0),
                    then: "document.querySelector('dialog.large img')?.naturalWidth > 0"),
                opened("keep", from: "group", button("group-photo > .button", 0), then: dialog),
                opened("rename group", from: "group", button("group-view .screen-header button", 0), then: dialog),
                opened("leave group", from: "group", button("group-view > .buttons > button", 0), then: dialog),
                opened(
                    "invite to group", from: "group", button("group-members .section-header button", 0), then: dialog),
                opened("remove member", from: "group", button("group-members li button", 1), then: dialog),
                opened(
                    "group invitation", from: "group", button("group-members li button", 0),
                    button("dialog .button.danger", 0), then: "document.querySelector('dialog .qr-code')"),
                opened("join group", from: "groups", button("groups-screen .screen-header button", 1), then: dialog),
                opened("forget machine", from: "groups", button("group-hub .buttons button", 1), then: dialog),
                opened("PIN", from: "settings", button("settings-screen .buttons button", 1), then: dialog),
                opened("invite", from: "devices", button("devices-screen .screen-header button", 0), then: dialog),
                opened(
                    "let a machine in", from: "devices", button("review-machines > .buttons > button", 0), then: dialog),
                opened(
                    "join a machine", from: "devices", button("review-machines > .buttons > button", 1), then: dialog),
                opened(
                    "disconnect a machine", from: "devices", button("review-machines li .buttons button", 1),
                    then: dialog),
            ]
        }

        /// Shows one in a page that has its size and its colours.
        private static func show(_ view: View, in page: Page, of house: House) async throws {
            // An address of its own, so that nothing is left of the screen before.
            let query = view.name.filter(\.isLetter)
            try await page.navigate(house.address + "/?" + query + view.place)
            try await page.wait(until: view.isReady)
            for element in view.pressed { try await page.clickWhereSeen(element) }
            try await page.wait(until: view.isThen)
            try await page.wait(until: "[...document.images].every((one) => one.complete || one.loading === 'lazy')")
        }

        /// Something in every list, so that there is something to look at.
        private static func furnish(_ house: House) async throws {
            let photos = try await house.photos()
            _ = try await house.call(SetFavorite(ids: [photos[0].id, photos[4].id], isFavorite: true))
            _ = try await house.call(DeletePhotos(ids: [photos[5].id, photos[6].id]))
            try await house.smilepile(
                "backup", "create", house.place.folder.file("SmilePileBackup_\(UUID().uuidString).zip"))
            try await house.smilepile("backup", "schedule", house.place.folder.path)
            // A machine that keeps groups is needed; that it is this one does not show.
            let invitation = try await house.invite("Ben", to: house.group())
            _ = try await house.call(JoinGroups(address: house.address, token: invitation.token))
            // As is one that has reviews in common.
            let shared = try await house.call(ShareReviews(name: "Laptop"))
            _ = try await house.call(JoinReviews(address: house.address, token: shared.token))
        }

        private static func clear(_ house: House) async throws {
            let favourites = try await house.photos(SearchPhotos(PhotoFilter(favoritesOnly: true))).map(\.id)
            _ = try await house.call(SetFavorite(ids: favourites, isFavorite: false))
            let trashed = try await house.call(ListTrash()).photos.map(\.photo.id)
            _ = try await house.call(RestorePhotos(ids: trashed))
            _ = try await house.call(ScheduleBackups(off: true))
            try await house.endReviewSharing()
        }

        /// Its report, in a form that says what to look at.
        private static let violations = """
            axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => (
              violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join(' | ')))))
            """

        /// What axe and a ruler find in a page as it is now, in each of these looks; it is left in the first of them.
        private static func check(_ name: String, _ looks: [Look], in page: Page) async throws {
            try await check(name, looks[0], in: page)
            guard looks.count > 1 else { return }
            for look in looks.dropFirst() {
                try await page.take(look)
                try await page.run(
                    "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                try await check(name, look, in: page)
            }
            try await page.take(looks[0])
        }

        /// The same in one look; a picture of it.
        private static func check(_ name: String, _ look: Look, in page: Page) async throws {
            if let script = Axe.script {
                if try await !page.evaluate("Boolean(window.axe)") { try await page.run(script) }
                let found: [String] = try await page.evaluate(Self.violations)
                for violation in found { Issue.record("\(name), \(look): \(violation)") }
            }
            let wide: [String] = try await page.evaluate(Self.overflowing)
            for fault in wide { Issue.record("\(name), \(look): \(fault)") }
            #expect(try await page.evaluate("document.documentElement.lang") == String(look.language.prefix(2)))
            await page.picture("\(name) \(look)")
        }

        /// A page is loaded in the first of each, and changes to the others: a window gets wider, a room dark. To load it for
        /// each of them took most of the time that all these tests take.
        private static let looks = [
            [
                Look(width: 320, isTouched: true), Look(width: 360, isTouched: true),
                Look(width: 360, isDark: true, isTouched: true),
            ],
            [
                Look(width: 320, language: "de-DE", isTouched: true),
                Look(width: 360, isDark: true, language: "de-DE", isTouched: true),
            ],
            [Look(width: 1440), Look(width: 1440, isDark: true)],
        ]

        @Test(.enabled(if: Axe.script != nil, "needs axe: Scripts/setup --tests"), arguments: looks)
        func everyScreenIsForEveryEye(_ looks: [Look]) async throws {
            let house = House.here
            try await Self.furnish(house)
            let views = try await Self.views(house)
            try await house.inTab(looks[0]) { page in
                for view in views {
                    try await Self.show(view, in: page, of: house)
                    try await Self.check(view.name, looks, in: page)
                }
            }
            try await Self.clear(house)
        }

        /// What is there before a browser is known, and what a child has.
        @Test(.enabled(if: Axe.script != nil, "needs axe: Scripts/setup --tests"), arguments: looks)
        func soAreThePairingScreenAndKidsMode(_ looks: [Look]) async throws {
            let house = House.here
            let stranger = try await house.stranger(looks[0])
            try await stranger.navigate(house.address)
            try await stranger.wait(until: "document.querySelector('pairing-screen pre')")
            try await Self.check("pairing", looks, in: stranger)
            try await stranger.navigate(house.startPage().pairing)
            try await stranger.wait(
                until: "document.querySelector('pairing-screen form') && !document.querySelector('pairing-screen pre')")
            try await Self.check("pairing with a code", looks, in: stranger)
            try await stranger.navigate(
                "\(house.address)/?invited#join=" + String(repeating: "A", count: 43))
            try await stranger.wait(until: "document.querySelector('pairing-screen pre.wrap')")
            try await Self.check("invited", looks, in: stranger)
            #expect(stranger.faults == [])
            try await stranger.close()

            let category = try await house.category("Family")
            let photo = try await house.photos(SearchPhotos(PhotoFilter(categoryId: category.id)))[0]
            _ = try await house.call(SetPIN(pin: PIN(House.pin)))
            _ = try await house.call(SetMode(mode: .kids))
            try await house.inTab(looks[0]) { page in
                try await page.wait(until: "document.querySelectorAll('kids-screen .kids-categories img').length === 3")
                try await page.wait(until: "[...document.images].every((one) => one.complete)")
                try await Self.check("kids", looks, in: page)
                try await page.clickWhereSeen("document.querySelector('kids-screen .lock')")
                try await page.wait(until: "document.querySelector('dialog[open]')")
                try await Self.check("kids PIN", looks, in: page)
                try await page.press("Escape")
                try await page.wait(until: "!document.querySelector('dialog')")
                try await page.go(to: "#/kids?category=\(category.id)")
                try await page.wait(until: "document.querySelectorAll('kids-screen .tile.loaded').length > 2")
                try await Self.check("kids photos", looks, in: page)
                try await page.go(to: "#/kids/\(photo.uuid)?category=\(category.id)")
                try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
                try await Self.check("kids photo", looks, in: page)
            }
            try await house.smilepile(withPIN: "mode", "parent")
            _ = try await house.call(ClearPIN(pin: PIN(House.pin)))
        }

        /// What sticks out of the window, or of a box that does not scroll sideways; and texts that are cut off.
        private static let overflowing = """
            (() => {
              const wide = [];
              if (document.documentElement.scrollWidth > innerWidth) wide.push(`the page: ${document.documentElement.scrollWidth}`);
              for (const one of document.querySelectorAll('body *')) {
                const style = getComputedStyle(one);
                const { left, right, width, height } = one.getBoundingClientRect();
                if (width <= 1 || height <= 1 || style.visibility === 'hidden' || !tests.isSeen(one)) continue;
                const says = `${one.localName}.${one.className?.baseVal ?? one.className}: ${one.textContent.slice(0, 40)}`;
                const clipped = one.closest('photo-timeline, zoom-surface, swipe-card, .unseen, .words, option');
                if (!clipped && (right > innerWidth + 1 || left < -1)) wide.push(`${says} from ${left} to ${right}`);
                if (['auto', 'scroll'].includes(style.overflowX) && one.scrollWidth > one.clientWidth + 1) wide.push(`${says} scrolls sideways`);
                if (one.localName === 'button' && one.scrollWidth > one.clientWidth + 1) wide.push(`${says} is cut off`);
              }
              return wide;
            })()
            """

        /// Words of the page's own whose letters do not go on to the right: a name has turned them.
        private static let turned = """
            (() => {
              const own = /[A-Za-z ]{4,}/g, names = /[WM]{20}|\\p{Extended_Pictographic}/u, found = [];
              const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
              for (let text; (text = texts.nextNode());) {
                if (!tests.isSeen(text.parentElement)) continue;
                for (const { 0: word, index } of text.data.matchAll(own)) {
                  if (names.test(word)) continue;
                  const range = document.createRange();
                  const boxes = [...word].map((_, letter) => {
                    range.setStart(text, index + letter);
                    range.setEnd(text, index + letter + 1);
                    return range.getBoundingClientRect();
                  });
                  if (boxes.some((box, letter) => letter > 0 && box.top === boxes[letter - 1].top && box.left < boxes[letter - 1].left)) found.push(word);
                }
              }
              return found;
            })()
            """

        /// Texts that are as long as the library takes them, without a place to break, and with marks that turn directions.
        @Test(arguments: [Look(width: 320, isTouched: true), Look(width: 1440)])
        func longAndTwistedTextsStayWhereTheyAre(_ look: Look) async throws {
            let house = House.here
            let photos = try await house.photos()
            let faces = String(repeating: "👩‍👩‍👧‍👦", count: 60)
            let twisted = "\u{202E}\u{2067}" + String(repeating: "W", count: 190)
            _ = try await house.call(EditPhoto(id: photos[0].id, name: faces))
            for photo in [photos[1], photos[2]] {
                _ = try await house.call(SetCaption(id: photo.id, caption: String(repeating: "M", count: 2000)))
            }
            _ = try await house.call(DeletePhotos(ids: [photos[2].id]))
            let category = try await house.call(AddCategory(displayName: twisted))
            _ = try await house.call(MovePhotos(ids: [photos[1].id], categoryId: category.id))
            let guest = try await house.stranger(look)
            try await House.pair(guest, with: house.startPage().pairing, as: String(repeating: "👵🏽", count: 50))
            try await guest.close()
            let group = try await house.group(faces, as: String(repeating: "W", count: 100))
            _ = try await house.call(ShareReviews(name: String(repeating: "W", count: 100)))
            let dialog = "document.querySelector('dialog[open]')"
            let views = [
                View(name: "groups", place: "#/groups", isReady: "tests.has('.groups', 'WWWW')"),
                View(
                    name: "group", place: "#/groups/" + group.id,
                    isReady: "document.querySelector('group-photo img')?.naturalWidth > 0"),
                View(
                    name: "leave", place: "#/groups/" + group.id, isReady: "document.querySelector('group-photo')",
                    pressed: ["document.querySelector('group-view > .buttons > button')"], isThen: dialog),
                View(
                    name: "send", place: "#/photo/" + photos[1].uuid, isReady: "tests.has('photo-view h1', 'MMMM')",
                    pressed: ["document.querySelectorAll('photo-view header button')[2]"],
                    isThen: "tests.has('dialog', '👩‍👩‍👧‍👦')"),
                View(name: "photos", place: "#/photos", isReady: "document.querySelector('.tile.loaded')"),
                View(
                    name: "of a category", place: "#/photos?category=\(category.id)",
                    isReady: "document.querySelector('.tile.loaded')"),
                View(
                    name: "faces", place: "#/photo/" + photos[0].uuid, isReady: "document.title.startsWith('👩‍👩‍👧‍👦')",
                    pressed: ["document.querySelector('photo-view header').lastElementChild"],
                    isThen: "tests.has('photo-facts', '👩‍👩‍👧‍👦')"),
                View(
                    name: "caption", place: "#/photo/" + photos[1].uuid, isReady: "tests.has('photo-view h1', 'MMMM')",
                    pressed: ["document.querySelector('photo-view header').lastElementChild"],
                    isThen: "document.querySelector('photo-facts dd')"),
                View(name: "categories", place: "#/categories", isReady: "tests.has('.categories', 'WWWW')"),
                View(
                    name: "delete one", place: "#/categories", isReady: "tests.has('.categories', 'WWWW')",
                    pressed: ["[...document.querySelectorAll('[data-control=delete]')].at(-1)"], isThen: dialog),
                View(
                    name: "review", place: "#/review?category=\(category.id)",
                    isReady: "document.querySelector('swipe-card img')?.naturalWidth > 0"),
                View(name: "import", place: "#/import", isReady: "tests.has('import-screen option', 'WWWW')"),
                View(name: "trash", place: "#/trash", isReady: "tests.has('.trash-grid', 'MMMM')"),
                View(name: "devices", place: "#/devices", isReady: "tests.has('.device h2', '👵🏽')"),
                View(
                    name: "forget", place: "#/devices", isReady: "tests.has('.device h2', '👵🏽')",
                    pressed: [
                        "[...document.querySelectorAll('.device')].find((one) => one.textContent.includes('👵🏽')).querySelector('button')"
                    ],
                    isThen: dialog),
            ]
            try await house.inTab(look) { page in
                for view in views {
                    try await Self.show(view, in: page, of: house)
                    try await Self.check("long \(view.name)", look, in: page)
                    // A card that fills window after window is no card.
                    #expect(
                        try await page.evaluate(
                            "[...document.querySelectorAll('.categories li, .groups li, .trash-grid li, .device, dialog header')].every((one) => one.offsetHeight < 420)"
                        ), "\(view.name), \(look)")
                    let turned: [String] = try await page.evaluate(Self.turned)
                    for text in turned { Issue.record("\(view.name), \(look): \(text) is turned around") }
                }
            }
            for device in try await house.call(ListDevices()).devices where device.name.contains("👵🏽") {
                _ = try await house.call(ForgetDevice(id: device.id))
            }
            try await house.endReviewSharing()
            _ = try await house.call(RestorePhotos(ids: [photos[2].id]))
            for photo in photos[..<3] {
                _ = try await house.call(
                    EditPhoto(id: photo.id, name: photo.name, caption: "", categoryId: photo.categoryId))
            }
            _ = try await house.call(DeleteCategory(id: category.id))
        }
    }
}
