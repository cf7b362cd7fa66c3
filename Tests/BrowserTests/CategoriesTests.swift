import Browser
import LibraryModel
import Testing

extension BrowserTests {
    @Suite struct CategoriesTests {
        private static let names =
            "[...document.querySelectorAll('.categories .name a')].map((one) => one.textContent).join()"

        @Test func oneIsAddedChangedMovedAndDeleted() async throws {
            let house = House.here
            try await house.inTab(at: "#/categories") { page in
                try await page.click(on: "Add category")
                try await page.write("garden", into: "Name")
                try await page.waits(for: "There is a category with this name already", in: "dialog .fault")
                try await page.write("Pets", into: "Name")
                try await page.click(on: "pink")
                try await page.click(on: "Save")
                try await page.wait(until: "\(Self.names).endsWith(',Pets')")
                #expect(try await house.category("Pets").colorHex == "#E91E63")

                try await page.click(on: "Edit Pets")
                try await page.write("Animals", into: "Name")
                try await page.press("Enter")
                try await page.wait(until: "\(Self.names).endsWith(',Animals')")

                // Up by a key, with the focus on it all the way.
                try await page.focus(on: "Reorder Animals: drag, or use the arrow keys")
                try await page.press("ArrowUp")
                try await page.wait(until: "\(Self.names).endsWith('Animals,Garden')")
                try await page.wait(until: "tests.name(document.activeElement).startsWith('Reorder Animals')")
                try await page.press("ArrowDown")
                try await page.wait(until: "\(Self.names).endsWith('Garden,Animals')")

                try await page.click(on: "Delete Animals")
                try await page.waits(for: "It has no photos", in: "dialog")
                try await page.press("Escape")
                try await page.wait(until: "!document.querySelector('dialog')")
                try await page.click(on: "Delete Animals")
                try await page.click(on: "Delete")
                try await page.wait(until: "!\(Self.names).includes('Animals')")
            }
        }

        @Test func eachHasItsColourAndHowManyPhotosItHas() async throws {
            let house = House.here
            let categories = try await house.call(ListCategories()).categories
            try await house.inTab { page in
                try await page.wait(until: "document.querySelector('.tile.loaded')")
                // Until the daemon has said which there are, the screen says that it waits.
                try await page.hearNothing()
                try await page.click(on: "Categories")
                try await page.waits(for: "Loading", in: "categories-screen [role=status]")
                try await page.hearAgain()
                try await page.wait(until: "document.querySelectorAll('.categories li').length === \(categories.count)")
                #expect(try await page.evaluate("document.querySelector('categories-screen [role=status]').hidden"))
                let shown: [[String]] = try await page.evaluate(
                    """
                    [...document.querySelectorAll('.categories li')].map((one) => [
                      one.querySelector('.name a').textContent, one.style.getPropertyValue('--colour'),
                      one.querySelector('.number').textContent,
                    ])
                    """)
                let counts = categories.map { $0.photoCount == 1 ? "1 photo" : "\($0.photoCount) photos" }
                #expect(shown == zip(categories, counts).map { [$0.displayName, $0.colorHex, $1] })
                // Its name leads to its photos.
                let last = try #require(categories.last)
                try await page.clickWhereSeen("document.querySelector('.categories li:last-child .name a')")
                try await page.wait(
                    until:
                        "location.hash === '#/photos?category=\(last.id)' && tests.has('.count', '\(last.photoCount) photos')"
                )
            }
        }

        /// What is written and chosen is shown before it is saved.
        @Test func twelveColoursAreOfferedAndWhatComesOfThemIsShown() async throws {
            let house = House.here
            let palette = [
                "#4CAF50", "#2196F3", "#FF9800", "#9C27B0", "#F44336", "#FF5722", "#795548", "#607D8B", "#E91E63",
                "#009688",
                "#FFEB3B", "#3F51B5",
            ]
            let used = try await house.call(ListCategories()).categories.map(\.colorHex)
            let free = try #require(palette.first { !used.contains($0) })
            let chosen = "document.querySelector('.palette input:checked')"
            let preview = "document.querySelector('dialog .category-chip')"
            let colour = "\(preview).querySelector('.swatch').style.getPropertyValue('--colour')"
            try await house.inTab(at: "#/categories") { page in
                try await page.click(on: "Add category")
                try await page.waits(for: "Add category", in: "dialog h2")
                #expect(
                    try await page.evaluate("[...document.querySelectorAll('.palette input')].map((one) => one.value)")
                        == palette)
                let columns: String = try await page.evaluate(
                    "getComputedStyle(document.querySelector('.palette > div')).gridTemplateColumns")
                #expect(columns.split(separator: " ").count == 6)
                #expect(try await page.evaluate("\(chosen).value") == free)
                #expect(try await page.evaluate("getComputedStyle(\(chosen)).backgroundImage.includes('check.svg')"))
                // Nothing is written yet.
                #expect(try await page.evaluate("\(preview).textContent") == "Name")
                #expect(try await page.evaluate("getComputedStyle(\(preview)).borderRadius") == "16px")
                #expect(
                    try await page.evaluate("getComputedStyle(\(preview).querySelector('.swatch')).borderRadius")
                        == "50%")
                try await page.write("  ", into: "Name")
                try await page.click(on: "teal")
                try await page.click(on: "Save")
                try await page.waits(for: "A category needs a name", in: "dialog")
                try await page.write("Meadow", into: "Name")
                try await page.wait(until: "\(preview).textContent === 'Meadow' && \(colour) === '#009688'")
                try await page.press("Escape")
                try await page.wait(until: "!document.querySelector('dialog')")

                try await page.click(on: "Edit Garden")
                try await page.waits(for: "Edit category", in: "dialog h2")
                #expect(try await page.evaluate("tests.control('Name').value") == "Garden")
                let garden = try await house.category("Garden").colorHex
                #expect(try await page.evaluate("\(chosen).value") == garden)
                try await page.press("Escape")
            }
        }

        @Test func oneIsDraggedToAnotherPlaceAndBack() async throws {
            let house = House.here
            let before = try await house.call(ListCategories()).categories.map(\.id)
            try await house.inTab(at: "#/categories") { page in
                try await page.wait(until: "document.querySelectorAll('.preview img').length > 2")
                let last = try await page.middle(of: ".categories li:last-child .grip")
                let first = try await page.middle(of: ".categories li:first-child .grip")
                try await page.drag([
                    last, Page.Point(x: last.x, y: first.y + 5), Page.Point(x: first.x, y: first.y - 20),
                ])
                try await page.waits(for: "New order saved", in: "toast-list")
                let after = try await house.call(ListCategories()).categories.map(\.id)
                #expect(after == [before[before.count - 1]] + before.dropLast())
                try await page.click(on: "Undo")
                try await page.waits(for: "Undone", in: "toast-list")
            }
            #expect(try await house.call(ListCategories()).categories.map(\.id) == before)
        }

        @Test func photosOfOneThatIsDeletedGoWhereOneSays() async throws {
            let house = House.here
            let photos = try await house.photos()
            try await house.smilepile("categories", "add", "Passing")
            try await house.smilepile("photos", "move", String(photos[0].id), String(photos[1].id), "--to", "Passing")
            try await house.inTab(at: "#/categories") { page in
                try await page.click(on: "Delete Passing")
                try await page.waits(for: "It has 2 photos", in: "dialog")
                try await page.choose(option: "Garden", in: "The category that gets the photos")
                try await page.click(on: "Delete")
                try await page.waits(for: "Passing deleted", in: "toast-list")
            }
            let garden = try await house.category("Garden").id
            for photo in photos[..<2] {
                #expect(try await house.call(GetPhoto(id: photo.id)).categoryId == garden)
                _ = try await house.call(MovePhotos(ids: [photo.id], categoryId: photo.categoryId))
            }
        }
    }
}
