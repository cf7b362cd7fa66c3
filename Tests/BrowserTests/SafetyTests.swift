import Browser
import EndToEndSupport
import Foundation
import LibraryModel
import ServiceMesh
import Testing

extension BrowserTests {
    /// Other people's pages in a browser that is paired, and the way to it.
    @Suite struct SafetyTests {
        /// A page that does what pages of strangers try. The browser sends the family's cookie along: to a browser, another
        /// port of a machine is the same site.
        private static let evil = """
            <!doctype html><title>Win a prize</title>
            <form id="form" method="post" enctype="text/plain" target="frame"><input name="text"></form>
            <iframe name="frame"></iframe>
            <script>
            const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'category.add', params: { displayName: 'Stolen' } });
            const outcome = (promise) => promise.then((reply) => reply.type === 'opaque' ? 'unreadable' : `${reply.status}`, () => 'refused');
            function picture(address) {
              return new Promise((done) => {
                const image = new Image();
                image.onload = () => done('seen');
                image.onerror = () => done('refused');
                image.src = address;
              });
            }
            function events(address) {
              return new Promise((done) => {
                const source = new EventSource(address, { withCredentials: true });
                source.onopen = () => done('seen');
                source.onerror = () => (source.close(), done('refused'));
              });
            }
            async function attempts(house, uuid) {
              const all = { credentials: 'include' };
              const outcomes = {};
              for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
                outcomes[type] = await outcome(fetch(`${house}/rpc`, { ...all, method: 'POST', mode: 'no-cors', headers: { 'Content-Type': type }, body }));
              }
              outcomes.json = await outcome(fetch(`${house}/rpc`, { ...all, method: 'POST', headers: { 'Content-Type': 'application/json' }, body }));
              outcomes.read = await outcome(fetch(`${house}/photos/${uuid}/photo`, all));
              outcomes.upload = await outcome(fetch(`${house}/upload`, { ...all, method: 'POST', mode: 'no-cors' }));
              outcomes.unpair = await outcome(fetch(`${house}/unpair`, { ...all, method: 'POST', mode: 'no-cors' }));
              outcomes.picture = await picture(`${house}/photos/${uuid}/thumbnail`);
              outcomes.events = await events(`${house}/events?observe=` + encodeURIComponent('{"id":"a","method":"category.observe","params":{}}'));
              // A form whose text is a message: `{…,"x":"="}`.
              const [field] = form.elements;
              field.name = body.slice(0, -1) + ',"x":"';
              field.value = '"}';
              form.action = `${house}/rpc`;
              const loaded = new Promise((done) => (document.querySelector('iframe').onload = done));
              form.submit();
              await loaded;
              return Object.entries(outcomes).map(([name, one]) => `${name} ${one}`);
            }
            </script>
            """

        @Test(arguments: ["127.0.0.1", "localhost"]) func aStrangersPageGetsNothing(_ host: String) async throws {
            let house = House.here
            let photo = try await house.photos()[0]
            let folder = house.place.folder.file("evil")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(Self.evil.utf8).write(to: URL(fileURLWithPath: folder + "/index.html"))
            let server = try ReadProgram(
                "/usr/bin/python3",
                ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder],
                environment: house.place.environment)
            var port: String?
            for await line in server.lines {
                // Serving HTTP on 127.0.0.1 port 43210 (http://127.0.0.1:43210/) ...
                let words = line.split(separator: " ")
                guard let index = words.firstIndex(of: "port"), index + 1 < words.count else { continue }
                port = String(words[index + 1])
                break
            }
            let page = try await house.tabForStrangersPage()
            try await page.navigate("http://\(host):\(try #require(port))/")
            let outcomes: [String] = try await page.evaluate(
                "attempts(\(Page.literal(house.address)), \(Page.literal(photo.uuid)))")
            // Not even what a page may send without being let read the answer: that is for this origin alone too.
            #expect(
                outcomes == [
                    "text/plain refused", "application/x-www-form-urlencoded refused", "json refused", "read refused",
                    "upload refused", "unpair refused", "picture refused", "events refused",
                ])
            try await page.close()
            kill(server.pid, SIGKILL)
            let names = try await house.call(ListCategories()).categories.map(\.displayName)
            #expect(Set(names) == Set(House.categories))
            #expect(try await house.call(ListDevices()).devices.contains { $0.name == "Tablet in the kitchen" })
            // The page itself is as it was.
            try await house.inTab { try await $0.wait(until: "document.querySelector('.tile.loaded')") }
        }

        /// What another device does first, and where it then goes: not where this browser is, on the machine itself.
        @Test func aHomesPageSaysWhereAnotherDeviceGetsIn() async throws {
            try await House.withoutPhotos(beside: House.here, options: { _ in ["--home"] }) { place, page, address in
                let status = try await place.smilepile("web", "status", "--json").output
                let facts = try JSONDecoder().decode(JSONValue.self, from: Data(status.utf8))["home"]
                let door = try #require(facts?["doors"]?.arrayValue?.first?.stringValue)
                let fingerprint = try #require(facts?["fingerprint"]?.stringValue)
                try await page.go(to: "#/devices")
                try await page.click(on: "Add device")
                try await page.click(on: "Next")
                try await page.waits(for: "#pair=", in: "dialog .qr-code ~ pre")
                let dialog: String = try await page.evaluate("document.querySelector('dialog').textContent")
                let invitation: String = try await page.evaluate(
                    "document.querySelector('dialog .qr-code ~ pre').textContent")
                #expect(dialog.contains(door) && dialog.contains(fingerprint))
                #expect(invitation.hasPrefix(address + "/#pair="))
                await page.picture("invitation into a home")
            }
        }

        /// From pairing to a photo over TLS, with a cookie that no page and no other way has.
        @Test func overTLSTheCookieIsForThatAlone() async throws {
            let house = House.here
            func certificate(_ place: Installation) async throws -> [String] {
                let (certificate, key) = (place.folder.file("house.pem"), place.folder.file("house.key"))
                let made = try await place.run(
                    "/usr/bin/openssl",
                    [
                        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                        "2",
                        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                        certificate,
                    ])
                try #require(made.status == 0, "\(made.errors)")
                return ["--tls-cert", certificate, "--tls-key", key]
            }
            try await House.withoutPhotos(beside: house, options: certificate) { place, page, address in
                #expect(address.hasPrefix("https://"))
                let cookies = try await page.send("Network.getCookies")["cookies"]?.arrayValue ?? []
                let cookie = try #require(cookies.first)
                #expect(cookies.count == 1 && cookie["name"]?.stringValue?.hasPrefix("__Host-") == true)
                #expect(cookie["secure"] == true && cookie["httpOnly"] == true && cookie["sameSite"] == "Strict")
                #expect(try await page.evaluate("document.cookie") == "")
                let photo = place.folder.file("sorted.jpg")
                try FileManager.default.copyItem(atPath: try #require(try house.photoFile()), toPath: photo)
                _ = try await place.smilepile("import", photo)
                // Told over the stream of events.
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length === 1")
                // The notice that there are none goes with the first one.
                try await page.wait(
                    until:
                        "![...document.querySelectorAll('.empty')].some(tests.isSeen) && tests.has('.count', '1 photo')"
                )
                // A worker is not kept for a certificate that nobody vouches for; the page does without.
                #expect(page.faults.filter { !$0.contains("certificate error") } == [])
            }
        }
    }
}
