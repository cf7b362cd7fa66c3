import Browser
import ControlSocket
import EndToEndSupport
import LibraryModel
import Testing

extension BrowserTests {
    @Suite struct KidsTests {
        /// Sends a message from the page, as a script in it would; the name of what it is refused with, or nothing.
        static func refusals(of methods: [String]) -> String {
            """
            Promise.all(\(literal(methods)).map(async (method) => {
              const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} });
              const reply = await fetch('/rpc', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
              return (await reply.json()).error?.data?.status === 'permission_denied' ? method : '';
            })).then((refused) => refused.filter(Boolean))
            """
        }

        /// With which status an observation ends that a page asks for; with none for as long as it goes on.
        private static func endOfObservation(_ method: String) -> String {
            """
            new Promise((ended) => {
              const query = new URLSearchParams({ observe: JSON.stringify({ id: 'x', method: '\(method)', params: {} }) });
              const source = new EventSource(`/events?${query}`);
              const end = (status) => (source.close(), ended(status));
              source.addEventListener('failed', ({ data }) => end(JSON.parse(data).error.data.status));
              source.addEventListener('change', () => end('changes'));
              source.addEventListener('error', () => end('an error'));
            })
            """
        }

        private static func literal(_ texts: [String]) -> String {
            "[" + texts.map(Page.literal).joined(separator: ",") + "]"
        }

        @Test func aChildSeesPhotosAndNothingElseUntilThePIN() async throws {
            let house = House.here
            try await house.inTab(Look(width: 360, isTouched: true), at: "#/photos") { page in
                // The way is in the navigation; without a PIN it leads to where one is set.
                try await page.click(on: "More")
                try await page.click(on: "Kids mode")
                try await page.click(on: "Set a PIN")
                try await page.write(House.pin, into: "New PIN")
                try await page.write(House.pin, into: "New PIN, once more")
                try await page.press("Enter")
                try await page.waits(for: "PIN saved", in: "toast-list")
                try await page.wait(until: "!document.querySelector('dialog[open]')")
                try await page.click(on: "More")
                try await page.click(on: "Kids mode")
                try await page.wait(until: "document.querySelector('dialog[open] .button.primary')")
                try await page.click(on: "Start kids mode")
                try await page.wait(until: "document.querySelectorAll('kids-screen .kids-categories img').length === 3")
                #expect(try await page.evaluate("document.querySelector('nav').hidden"))
                let colour: String = try await page.evaluate(
                    "document.querySelector('.kids-categories a').style.getPropertyValue('--colour')")
                #expect(try await house.call(ListCategories()).categories.map(\.colorHex).contains(colour))
                await page.picture("kids")

                // Hidden is one thing: the daemon refuses all that is a parent's.
                let methods = try await house.call(Discover()).methods
                let called = methods.filter { $0.kind != .observation }.map(\.name)
                let refused: [String] = try await page.evaluate(Self.refusals(of: called))
                // Pairing and tokens are the page's program's own, whoever asks.
                let documented = try DocumentedRoles.kids()
                    .subtracting(["device.pair", "device.authenticate"])
                #expect(Set(called).subtracting(refused) == documented.intersection(called))
                let observed = Set(methods.map(\.name)).subtracting(called)
                for method in observed.subtracting(documented) {
                    let status: String = try await page.evaluate(Self.endOfObservation(method))
                    #expect(status == "permission_denied", "\(method)")
                }

                // What a parent changes elsewhere is seen.
                try await house.smilepile(withPIN: "categories", "edit", "Family", "--name", "Our family")
                try await page.waits(for: "Our family", in: ".kids-categories")
                try await house.smilepile(withPIN: "categories", "edit", "Our family", "--name", "Family")
                try await page.waits(for: "Family", in: ".kids-categories")

                // Into a category, and from photo to photo by a finger.
                try await page.clickWhereSeen("[...document.querySelectorAll('.kids-categories a')][1]")
                try await page.clickWhereSeen("document.querySelector('kids-screen .tile.loaded a')")
                try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
                let first: String = try await page.evaluate("location.hash")
                await page.picture("kids photo")
                let middle = try await page.middle(of: "zoom-surface")
                try await page.swipe((0...5).map { Page.Point(x: middle.x + 120 - 48 * Double($0), y: middle.y) })
                try await page.wait(
                    until: "location.hash !== \(Page.literal(first)) && location.hash.startsWith('#/kids/')")

                // Back is back: what was left does not come again by the browser's own key.
                let category = first.split(separator: "?").last.map { "#/kids?" + $0 } ?? ""
                try await page.click(on: "Back")
                try await page.wait(until: "location.hash === \(Page.literal(category))")
                try await page.click(on: "Back")
                try await page.wait(until: "document.querySelector('.kids-categories')")
                let _: Bool = try await page.evaluate("(history.back(), true)")
                try await page.wait(until: "!location.hash.startsWith('#/kids')")
                #expect(try await page.evaluate("document.querySelector('.kids-categories') !== null"))

                // Neither an address nor the key of another screen leads out.
                try await page.go(to: "#/settings")
                try await page.wait(until: "document.querySelector('.kids-categories')")
                #expect(
                    try await page.evaluate("!document.querySelector('settings-screen, photo-view, timeline-screen')"))
                try await page.reload()
                try await page.wait(until: "document.querySelector('.kids-categories')")

                try await page.click(on: "For parents")
                try await page.write("1111", into: "PIN")
                try await page.click(on: "Unlock")
                try await page.wait(until: "document.querySelector('dialog .fault')?.textContent")
                try await page.write(House.pin, into: "PIN")
                try await page.click(on: "Unlock")
                try await page.wait(until: "document.querySelector('.tile.loaded')")
                try await page.waits(for: "Unlocked on this device", in: ".unlocked")
                await page.picture("unlocked")
                try await page.go(to: "#/settings")
                try await page.click(on: "Leave kids mode")
                try await page.waits(for: "Kids mode is off", in: "toast-list")
                try await page.wait(until: "document.querySelector('.unlocked').hidden")
                try await page.click(on: "Remove PIN")
                try await page.write(House.pin, into: "PIN")
                try await page.click(on: "Remove PIN")
                try await page.waits(for: "PIN removed", in: "toast-list")
            }
            #expect(try await house.call(GetMode()).mode == .parent)
        }

        @Test func aDaemonThatGoesAndComesLeavesAChildAChild() async throws {
            let house = House.here
            _ = try await house.call(SetPIN(pin: PIN(House.pin)))
            _ = try await house.call(SetMode(mode: .kids))
            try await house.inTab(at: "#/photos") { page in
                try await page.wait(until: "document.querySelectorAll('.kids-categories img').length === 3")
                try await house.smilepile("down")
                try await page.wait(until: "tests.point(document.querySelector('.away'))")
                try await house.place.up()
                try await page.wait(until: "document.querySelector('.away').hidden")
                #expect(try await page.evaluate("Boolean(document.querySelector('.kids-categories'))"))
                // As soon as a parent ends it, the whole page is back.
                try await house.smilepile(withPIN: "mode", "parent")
                try await page.reload()
                try await page.wait(until: "document.querySelector('.tile.loaded')")
            }
            _ = try await house.call(ClearPIN(pin: PIN(House.pin)))
        }
    }
}
