import Browser
import LibraryModel
import Testing

extension BrowserTests {
    /// Looking at photos, and doing something with some of them.
    @Suite struct PhotosTests {
        private static let tiles = "document.querySelectorAll('.tile.loaded').length"

        @Test func filtersLiveInTheAddress() async throws {
            let house = House.here
            let photo = try await house.photos()[3]
            try await house.smilepile("photos", "caption", String(photo.id), "Grandma’s garden")
            try await house.smilepile("photos", "favorite", String(photo.id))
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                try await page.write("grandma", into: "Search names and captions")
                try await page.wait(until: "\(Self.tiles) === 1")
                #expect(try await page.evaluate("location.hash") == "#/photos?text=grandma")
                try await page.reload()
                try await page.wait(until: "\(Self.tiles) === 1")
                try await page.write("nobody has this", into: "Search names and captions")
                try await page.waits(for: "No photo matches", in: ".notice h2")
                try await page.clickWhereSeen("document.querySelector('.notice button')")
                try await page.wait(until: "\(Self.tiles) > 8")
                try await page.click(on: "Favourites")
                try await page.wait(until: "\(Self.tiles) === 1")
                try await page.click(on: "Favourites")
                try await page.clickWhereSeen("document.querySelector('filter-bar category-picker button')")
                let chip =
                    "[...document.querySelectorAll('dialog[open] .chip')].find((one) => one.innerText.includes('Holidays'))"
                try await page.wait(until: chip)
                let looks: String = try await page.evaluate("\(chip).innerText.replaceAll(/\\s+/g, ' ')")
                #expect(looks == "Holidays 8", "its name, and how many photos it has")
                let colour: String = try await page.evaluate(
                    "\(chip).querySelector('.swatch').style.getPropertyValue('--colour')")
                #expect(try await colour == house.category("Holidays").colorHex)
                func border(_ chip: String) async throws -> String {
                    try await page.evaluate("getComputedStyle(\(chip)).borderColor")
                }
                let chosen = "document.querySelector('dialog[open] .chip[aria-pressed=true]')"
                #expect(try await border(chip) != border(chosen), "the chosen one stands out")
                await page.picture("categories to choose from")
                try await page.clickWhereSeen(chip)
                try await page.wait(until: "tests.has('.count', '8 photos')")
                try await page.waits(for: "Holidays", in: "filter-bar category-picker [aria-pressed=true]")
                try await page.run("history.back()")
                try await page.wait(until: "tests.has('.count', '24 photos')")
            }
            try await house.smilepile("photos", "unfavorite", String(photo.id))
            _ = try await house.call(SetCaption(id: photo.id, caption: nil))
        }

        @Test func onePhotoAfterTheOtherByKeysAndWhatIsKnownOfThem() async throws {
            let house = House.here
            let photos = try await house.photos()
            try await house.inTab { page in
                try await page.clickWhereSeen("document.querySelector('.tile.loaded a[href*=\"\(photos[0].uuid)\"]')")
                try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
                try await page.wait(until: "!document.querySelector('photo-view .next').disabled")
                try await page.press("ArrowRight")
                try await page.wait(until: "location.hash.includes('\(photos[1].uuid)')")
                try await page.press("f")
                try await page.wait(until: "document.querySelector('photo-view [aria-pressed=true]')")
                #expect(try await house.call(GetPhoto(id: photos[1].id)).isFavorite)
                try await page.press("i")
                try await page.write("At the lake", into: "Caption")
                try await page.press("Tab")
                try await page.waits(for: "At the lake", in: "photo-view h1")
                #expect(try await house.call(GetPhoto(id: photos[1].id)).caption == "At the lake")
                try await page.choose(option: "Garden", in: "Category")
                try await page.waits(for: "Moved to Garden", in: "toast-list")
                try await page.press("z", .control, until: "tests.has('toast-list', 'Undone')", atMost: 1)
                // In a field the keys are the field's.
                try await page.press("Tab")
                try await page.press("Escape")
                // Back where one came from, with the focus on the photo that one has seen last.
                try await page.wait(until: "!document.querySelector('photo-view')")
                try await page.wait(
                    until: "document.activeElement.closest('.tile a')?.href.includes('\(photos[1].uuid)')")
            }
            let after = try await house.call(GetPhoto(id: photos[1].id))
            #expect(after.categoryId == photos[1].categoryId)
            _ = try await house.call(SetCaption(id: after.id, caption: nil))
            _ = try await house.call(SetFavorite(ids: [after.id], isFavorite: false))
        }

        /// The reply to a question may come after the change that was made since it was asked.
        @Test func aLateReplyDoesNotTakeAChangeBack() async throws {
            let house = House.here
            let photo = try await house.photos()[2]
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                try await page.holdReplies(to: "photo.get")
                try await page.clickWhereSeen("document.querySelector('.tile.loaded a[href*=\"\(photo.uuid)\"]')")
                try await page.wait(until: "window.held > 0 && document.querySelector('photo-view')?.photo")
                try await page.press("f")
                try await page.wait(until: "document.querySelector('photo-view [aria-pressed=true]')")
                try await page.run("window.release()")
                // Only the late reply tells where in the list this is.
                try await page.wait(until: "!document.querySelector('photo-view .next').disabled")
                #expect(try await page.evaluate("document.querySelector('photo-view').photo.isFavorite") == true)
            }
            _ = try await house.call(SetFavorite(ids: [photo.id], isFavorite: false))
        }

        /// Nor does what is told of a photo bring it back when one has gone on.
        @Test func aLateReplyDoesNotBringBackThePhotoBefore() async throws {
            let house = House.here
            let photos = try await house.photos()
            try await house.inTab { page in
                try await page.clickWhereSeen("document.querySelector('.tile.loaded a[href*=\"\(photos[0].uuid)\"]')")
                try await page.wait(until: "!document.querySelector('photo-view .next').disabled")
                // The view does not hear of the step yet, as it would not while the browser is busy.
                try await page.run(
                    "window.addEventListener('hashchange', (event) => event.stopImmediatePropagation(), { capture: true, once: true })"
                )
                try await page.press("ArrowRight")
                try await page.wait(until: "location.hash.includes('\(photos[1].uuid)')")
                _ = try await house.call(SetFavorite(ids: [photos[0].id], isFavorite: true))
                try await page.wait(until: "document.querySelector('timeline-screen').list.photoAt(0).isFavorite")
                #expect(try await page.evaluate("document.querySelector('photo-view').photo.uuid") == photos[1].uuid)
            }
            _ = try await house.call(SetFavorite(ids: [photos[0].id], isFavorite: false))
        }

        /// Photos come and go above the one that is looked at, and it goes itself.
        @Test func whatIsNextIsNextWhenTheLibraryChanges() async throws {
            let house = House.here
            let photos = try await house.photos()
            let shown = "document.querySelector('photo-view').photo.uuid"
            try await house.inTab { page in
                try await page.clickWhereSeen("document.querySelector('.tile.loaded a[href*=\"\(photos[4].uuid)\"]')")
                try await page.wait(until: "!document.querySelector('photo-view .next').disabled")
                _ = try await house.call(DeletePhotos(ids: [photos[0].id, photos[2].id]))
                try await page.wait(until: "document.querySelector('timeline-screen').list.total === 22")
                try await page.press("ArrowRight")
                try await page.wait(until: "\(shown) === '\(photos[5].uuid)'")
                // The one that is looked at: its neighbours are still one step away.
                _ = try await house.call(DeletePhotos(ids: [photos[5].id]))
                try await page.wait(until: "document.querySelector('timeline-screen').list.total === 21")
                try await page.press("ArrowRight")
                try await page.wait(until: "\(shown) === '\(photos[6].uuid)'")
                // By the key, from the middle and from the end.
                try await page.press("Delete")
                try await page.wait(until: "\(shown) === '\(photos[7].uuid)'")
                try await page.wait(until: "document.querySelector('timeline-screen').list.total === 20")
                try await page.press("ArrowLeft")
                try await page.wait(until: "\(shown) === '\(photos[4].uuid)'")
            }
            let trash = try await house.call(ListTrash())
            _ = try await house.call(RestorePhotos(ids: trash.photos.map(\.photo.id)))
            #expect(try await house.photos() == photos)
        }

        /// As where photos went after the months were counted and before the last page was read.
        @Test func aListThatIsShorterThanItWasIsReadToItsEndAndNoFurther() async throws {
            let house = House.here
            try await house.inTab(at: "#/trash") { page in
                try await page.wait(until: "document.querySelector('trash-screen .empty')")
                try await page.run(
                    """
                    const real = window.fetch;
                    window.searches = 0;
                    window.fetch = async (path, options) => {
                      if (options?.body?.includes?.('"photo.search"')) window.searches += 1;
                      const reply = await real(path, options);
                      if (!options?.body?.includes?.('"photo.timeline"')) return reply;
                      const told = await reply.json();
                      for (const one of [told.result.months, told.result.days]) if (one?.length > 0) one.at(-1).count += 5;
                      return new Response(JSON.stringify(told), { status: reply.status, headers: reply.headers });
                    };
                    """)
                try await page.go(to: "#/photos")
                try await page.wait(until: "tests.has('.count', '29 photos') && \(Self.tiles) > 8")
                try await page.run("document.querySelector('photo-timeline').scrollTo({ top: 1e6 })")
                // Where the list says it has photos and there are none, places stay empty.
                try await page.wait(until: "document.querySelectorAll('.tile:not(.loaded)').length === 5")
                // Nothing is asked any more: at once or soon, and not never.
                var (before, searches) = (-1, 0)
                for _ in 1...100 where before != searches {
                    before = searches
                    try await page.asksSomethingElse()
                    searches = try await page.evaluate("window.searches")
                }
                #expect(before == searches)
            }
        }

        @Test func aSelectionWithTheMouseIsPutIntoTheTrashAndTakenBack() async throws {
            let house = House.here
            let photos = try await house.photos()
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                try await page.clickWhereSeen(Self.check(photos[0]))
                try await page.clickWhereSeen(Self.check(photos[4]), .shift)
                try await page.waits(for: "5 selected", in: "selection-bar")
                try await page.click(on: "Move to trash")
                try await page.waits(for: "5 photos moved to the trash", in: "toast-list")
                try await page.wait(until: "tests.has('.count', '19 photos')")
                #expect(try await house.call(ListTrash()).photos.count == 5)
                try await page.click(on: "Undo")
                try await page.wait(until: "tests.has('.count', '24 photos')")
            }
            #expect(try await house.photos() == photos)
        }

        @Test func aZipOfOriginalsHasWhatTheLibraryKnows() async throws {
            let house = House.here
            let photos = try await house.photos()
            try await house.smilepile("photos", "caption", String(photos[1].id), "Am Meer & mehr")
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                // Looked at here, and not put on this machine's disk.
                try await page.run(
                    """
                    URL.createObjectURL = (zip) => { zip.text().then((text) => { window.zip = text; }); return 'about:blank'; };
                    HTMLAnchorElement.prototype.click = function () {};
                    """)
                try await page.clickWhereSeen(Self.check(photos[0]))
                try await page.clickWhereSeen(Self.check(photos[1]))
                try await page.waits(for: "2 selected", in: "selection-bar")
                try await page.click(on: "Download as ZIP")
                try await page.wait(until: "window.zip !== undefined")
                let name = photos[1].name
                #expect(
                    try await page.evaluate("window.zip.split('\(name).jpg.xmp').length") == 3,
                    "here and in the directory")
                #expect(try await page.evaluate("window.zip.includes('Am Meer &amp; mehr')"))
                #expect(try await page.evaluate("window.zip.includes('<smilepile:Category>')"))
            }
            try await house.smilepile("photos", "caption", String(photos[1].id), "--remove")
        }

        @Test func aDayAndAMonthAreSelectedByTheirHeadings() async throws {
            let house = House.here
            let photos = try await house.photos()
            let oldest = try #require(photos.last)
            let date = try #require(oldest.takenAt).description
            let ofDay = photos.filter { $0.takenAt?.description.hasPrefix(date.prefix(10)) == true }.count
            let ofMonth = photos.filter { $0.takenAt?.description.hasPrefix(date.prefix(7)) == true }.count
            #expect(1 < ofDay && ofDay < ofMonth && ofMonth < photos.count)
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                let section =
                    "[...document.querySelectorAll('photo-timeline section')].find((one) => one.querySelector('a[href*=\"\(oldest.uuid)\"]'))"
                let ofTheDay = "\(section).querySelector('.day .check-all')"
                try await page.clickWhereSeen(ofTheDay)
                try await page.waits(for: "\(ofDay) selected", in: "selection-bar")
                #expect(try await page.evaluate("\(ofTheDay).getAttribute('aria-pressed') === 'true'"))
                try await page.clickWhereSeen(
                    "[...document.querySelectorAll('.month:not([hidden]) .check-all')].at(-1)")
                try await page.waits(for: "\(ofMonth) selected", in: "selection-bar")
                try await page.clickWhereSeen(ofTheDay)
                try await page.waits(for: "\(ofMonth - ofDay) selected", in: "selection-bar")
                #expect(try await page.evaluate("\(ofTheDay).getAttribute('aria-pressed') === 'false'"))
                // By a key, for the day of the photo that has the focus.
                try await page.run("document.querySelector('.tile a[href*=\"\(oldest.uuid)\"]').focus()")
                try await page.press("d")
                try await page.waits(for: "\(ofMonth) selected", in: "selection-bar")
            }
        }

        @Test func photosAreSelectedByDrawingOverThem() async throws {
            let house = House.here
            let photos = try await house.photos()
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                func middle(_ photo: Photo) async throws -> Page.Point {
                    try await page.middle(of: ".tile:has(a[href*=\"\(photo.uuid)\"])")
                }
                let (from, over, to) = (
                    try await middle(photos[3]), try await middle(photos[4]), try await middle(photos[6])
                )
                try await page.drag([from, over, to])
                try await page.waits(for: "4 selected", in: "selection-bar")
                #expect(
                    try await page.evaluate(
                        "[...document.querySelectorAll('.tile.selected')].map(({ position }) => position).sort().join()"
                    )
                        == "3,4,5,6")
                #expect(try await page.evaluate("location.hash") == "#/photos", "no photo was opened")
            }
        }

        @Test func keysSearchSelectEverythingAndAreListed() async throws {
            let house = House.here
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                try await page.press("a", .control)
                try await page.waits(for: "24 selected", in: "selection-bar")
                try await page.press("Escape")
                try await page.wait(until: "document.querySelector('selection-bar').hidden")
                try await page.press("?")
                try await page.waits(for: "Keyboard shortcuts", in: "dialog[open] h2")
                try await page.press("Escape")
                try await page.wait(until: "!document.querySelector('dialog[open]')")
                try await page.press("/")
                try await page.wait(until: "document.activeElement.matches('filter-bar input')")
                // There the keys write.
                try await page.press("?")
                try await page.press("a", .control)
                #expect(
                    try await page.evaluate(
                        "document.activeElement.value === '?' && !document.querySelector('dialog[open]')"))
                try await page.press("Backspace")
                try await page.wait(until: "location.hash === '#/photos' && tests.has('.count', '24 photos')")
                // Who presses them by mistake has a switch, which a finger finds too.
                try await page.click(on: "View")
                try await page.click(on: "Keyboard shortcuts")
                try await page.click(on: "Use the keys / and ?")
                try await page.press("Escape")
                try await page.wait(until: "!document.querySelector('dialog[open]')")
                try await page.press("?")
                try await page.press("a", .control)
                try await page.waits(for: "24 selected", in: "selection-bar")
                #expect(try await page.evaluate("!document.querySelector('dialog[open]')"))
                try await page.run("localStorage.removeItem('singleKeys')")
            }
        }

        private static func check(_ photo: Photo) -> String {
            "document.querySelector('.tile.loaded:has(a[href*=\"\(photo.uuid)\"]) .check')"
        }

        /// From the top of the page to photos in another category, without a mouse.
        @Test func aSelectionWithKeysAlone() async throws {
            let house = House.here
            let photos = try await house.photos()
            let garden = try await house.category("Garden")
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                try await page.press("Tab", until: "document.activeElement.closest('.tile')")
                try await page.press("Space")
                try await page.waits(for: "1 selected", in: "selection-bar")
                try await page.press("ArrowRight", .shift)
                try await page.press("ArrowRight", .shift)
                try await page.waits(for: "3 selected", in: "selection-bar")
                try await page.press(
                    "Tab", .shift, until: "document.activeElement.getAttribute('aria-label') === 'Move to category'")
                try await page.press("Enter")
                try await page.wait(until: "document.activeElement.closest('dialog[open]')")
                try await page.press(
                    "Tab",
                    until:
                        "document.activeElement.matches('select, input:checked, [role=radio]') || document.activeElement.closest('label')"
                )
                await page.picture("move with keys")
                try await page.choose(dialogOption: "Garden", with: "ArrowDown")
                try await page.press("Enter")
                try await page.waits(for: "3 photos moved to Garden", in: "toast-list")
                try await page.press("z", .control)
                try await page.waits(for: "Undone", in: "toast-list")
                #expect(try await house.photos() == photos)
                // Delete, and Escape for nothing.
                try await page.press("Tab", until: "document.activeElement.closest('.tile')")
                try await page.press("Space")
                try await page.waits(for: "1 selected", in: "selection-bar")
                try await page.press("Escape")
                try await page.wait(until: "document.querySelector('selection-bar').hidden")
            }
            #expect(try await house.category("Garden").photoCount == garden.photoCount)
        }
    }
}

extension Page {
    /// Walks through the choices of the dialog on top until one is chosen.
    fileprivate func choose(dialogOption text: String, with key: String) async throws {
        let option = Self.literal(text)
        try await press(
            key,
            until: """
                (() => {
                  const { activeElement: one } = document;
                  const said = one.selectedOptions?.[0]?.text ?? tests.plain(one.closest('label')?.textContent ?? one.textContent);
                  return said === \(option) || said.startsWith(\(option));
                })()
                """)
    }
}
