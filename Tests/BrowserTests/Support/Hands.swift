import Browser
import Foundation
import ServiceMesh

/// How the window looks.
struct Look: Sendable, Equatable, CustomStringConvertible {
    var width = 1024
    var isDark = false
    var language = "en-GB"
    /// Fingers instead of a mouse.
    var isTouched = false

    var height: Int { width < 600 ? 740 : 900 }
    var description: String { "\(width) \(isDark ? "dark" : "light") \(language.prefix(2))" }
}

/// What a person does with a page: finds a control by what it says, and presses it where it is seen.
extension Page {
    /// In every document of this tab: `tests.control(NAME)` is the control that a screen reader calls so, among those of the
    /// dialog on top where there is one; `tests.saying(KEY, VALUES, SELECTOR)` the one whose name is a sentence of the page's, in
    /// the language that the page speaks, where a value that is not given may be any; `tests.point(ELEMENT)` the middle of an
    /// element, where nothing else covers it.
    private static let hands = #"""
        window.tests = {
          plain: (text) => text.replace(/[\u2066-\u2069]/g, '').replace(/\s+/g, ' ').trim(),
          name(element) {
            const label = element.labels?.[0];
            const said = element.cloneNode(true);
            for (const hidden of said.querySelectorAll('[aria-hidden=true]')) hidden.remove();
            const text = element.getAttribute('aria-label')
              ?? (label ? [...label.childNodes].filter((node) => !node.contains(element)).map((node) => node.textContent).join('')
                : said.textContent);
            return tests.plain(text);
          },
          isSeen: (element) => element.getClientRects().length > 0 && !element.closest('[inert]'),
          find(isMeant, within = ':root') {
            const root = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
            return [...root.querySelectorAll('button, a[href], input, select, textarea')].find((element) => (
              element.closest(within) && tests.isSeen(element) && !element.disabled && isMeant(tests.name(element))));
          },
          control: (name) => tests.find((said) => said === name),
          saying(key, values, within) {
            const parts = tests.plain(tests.t(key, values)).split(/\{\w+\}/);
            const words = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
            const sentence = new RegExp(`^${words.join('.*')}$`, 'u');
            return tests.find((said) => sentence.test(said), within);
          },
          point(element) {
            if (!element || !tests.isSeen(element)) return null;
            element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
            const { x, y, width, height } = element.getBoundingClientRect();
            const point = { x: x + width / 2, y: y + height / 2 };
            const top = document.elementFromPoint(point.x, point.y);
            return width > 0 && top && (element.contains(top) || top.contains(element)) ? point : null;
          },
          /// The same once nothing moves it any more: what is read fills the screen, and a hand is slower than that.
          async still(find) {
            for (let before; ; ) {
              await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)));
              const now = tests.point(find());
              if (now && before && now.x === before.x && now.y === before.y) return now;
              before = now;
            }
          },
          has: (selector, text) => [...document.querySelectorAll(selector)].some((one) => tests.plain(one.textContent).includes(text)),
        };
        """#

    func bringHands() async throws {
        try await send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(Self.hands)])
    }

    func take(_ look: Look) async throws {
        try await emulate(width: look.width, height: look.height, dark: look.isDark, touch: look.isTouched)
        try await speak(look.language)
    }

    // MARK: Controls

    /// Presses the control with this name, once it is there and nothing covers it.
    func click(on name: String, _ modifiers: Modifiers = []) async throws {
        try await clickWhereSeen("tests.control(\(Self.literal(name)))", modifiers)
    }

    /// Presses the control whose name is one of the page's sentences, in whatever language the page speaks.
    /// - Parameters:
    ///   - key: of the sentence, in `assets/text`.
    ///   - name: what the sentence has as its `name`; without one, any.
    ///   - selector: of what the control is in, where several have the same name.
    func click(onSaying key: String, name: String? = nil, within selector: String = ":root") async throws {
        // The module that the page has loaded, and with it the sentences of its language.
        try await run("tests.t ??= (await import('/assets/core/text.js')).t")
        let values = name.map { "{ name: \(Self.literal($0)) }" } ?? "{}"
        try await clickWhereSeen("tests.saying(\(Self.literal(key)), \(values), \(Self.literal(selector)))")
    }

    /// Presses an element, an expression of JavaScript, once it is there and nothing covers it.
    func clickWhereSeen(_ element: String, _ modifiers: Modifiers = []) async throws {
        try await wait(until: "tests.point(\(element))")
        let point: Point = try await evaluate("tests.still(() => \(element))")
        try await drag([point], modifiers)
    }

    /// Puts the focus on a control, once it is there: looked for and taken at once, since what is there now may be another one,
    /// or behind a dialog, a moment later.
    func focus(on name: String) async throws {
        let control = "tests.control(\(Self.literal(name)))"
        try await wait(until: "(\(control).focus(), document.activeElement === \(control))")
    }

    /// Replaces what a field holds, as somebody who selects all of it and types.
    func write(_ text: String, into name: String) async throws {
        try await focus(on: name)
        try await run("document.activeElement.select()")
        try await type(text)
    }

    /// Chooses an option by its text.
    func choose(option: String, in name: String) async throws {
        let (field, text) = (Self.literal(name), Self.literal(option))
        let wanted = "[...tests.control(\(field)).options].find((one) => one.text === \(text))"
        try await wait(until: wanted)
        try await run(
            """
            const field = tests.control(\(field));
            field.value = \(wanted).value;
            field.dispatchEvent(new Event('input', { bubbles: true }));
            field.dispatchEvent(new Event('change', { bubbles: true }));
            """)
    }

    /// Presses a key again and again until a condition holds: how somebody without a mouse gets somewhere.
    func press(_ key: String, _ modifiers: Modifiers = [], until condition: String, atMost times: Int = 60) async throws
    {
        for _ in 0..<times {
            if try await evaluate("Boolean(\(condition))") { return }
            try await press(key, modifiers)
        }
        try await wait(until: condition)
    }

    /// Drags a file from elsewhere over the window, and drops it once the page says that it takes it.
    func drop(_ file: String) async throws {
        for type in ["dragEnter", "dragOver", "drop"] {
            try await send(
                "Input.dispatchDragEvent",
                [
                    "type": .string(type), "x": 400, "y": 400,
                    "data": ["items": [], "files": [.string(file)], "dragOperationsMask": 1],
                ])
            if type == "dragEnter" { try await wait(until: "document.querySelector('.drop-target')") }
        }
    }

    /// Waits until an element that a selector finds has a text in it.
    func waits(for text: String, in selector: String) async throws {
        try await wait(until: "tests.has(\(Self.literal(selector)), \(Self.literal(text)))")
    }

    /// Goes to another place of the page, as a link does.
    func go(to place: String) async throws { try await run("location.hash = \(Self.literal(place))") }

    /// From now on, `window.held` is how many replies to a method are kept from the page; `release()` lets it have them.
    /// - Parameter edit: Statements, which may change what was `told`.
    func holdReplies(to method: String, edit: String = "") async throws {
        try await run(
            """
            const real = window.fetch;
            const released = new Promise((resolve) => (window.release = resolve));
            window.held = 0;
            window.fetch = async (path, options) => {
              const reply = await real(path, options);
              if (!options?.body?.includes?.(\(Self.literal("\"\(method)\"")))) return reply;
              const told = await reply.json();
              \(edit);
              window.held += 1;
              await released;
              return new Response(JSON.stringify(told), { status: reply.status, headers: reply.headers });
            };
            """)
    }

    /// From now on the page is told nothing, as a tab that nobody sees, until ``hearAgain()``.
    func hearNothing() async throws {
        try await run(
            """
            window.EventSourceOfPage = window.EventSource;
            window.EventSource = class extends EventTarget {
              constructor() {
                super();
                window.hearsNothing = true;
              }
              close() {}
            };
            document.dispatchEvent(new Event('visibilitychange'));
            """)
        try await wait(until: "window.hearsNothing")
    }

    func hearAgain() async throws {
        try await run(
            "window.EventSource = window.EventSourceOfPage; document.dispatchEvent(new Event('visibilitychange'))")
    }

    /// Returns once the page has asked the daemon something three times, one after the other: what it was given before has
    /// been shown.
    func asksSomethingElse() async throws {
        try await run(
            """
            for (let number = 1; number <= 3; number += 1) {
              const body = JSON.stringify({ jsonrpc: '2.0', id: `else ${number}`, method: 'rpc.ping', params: {} });
              await (await fetch('/rpc', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).text();
            }
            """)
    }

    // MARK: What went wrong

    /// Exceptions, and what the content security policy has refused. That a server does not answer, which the console says
    /// too, is what several tests are about.
    var faults: [String] { complaints.filter { !$0.contains("Failed to load resource") && !$0.contains("net::ERR_") } }

    /// Requests that leave the machine, or go to another program on it.
    func foreignRequests(than address: String) -> [String] {
        requests.map(\.url).filter {
            !$0.hasPrefix(address + "/") && !$0.hasPrefix("blob:" + address) && !$0.hasPrefix("data:")
        }
    }

    /// A picture of the window for whoever wants to look at what the tests saw: into the folder that
    /// `SMILEPILE_BROWSER_PICTURES` names, where it is set.
    func picture(_ name: String) async {
        guard let folder = ProcessInfo.processInfo.environment["SMILEPILE_BROWSER_PICTURES"] else { return }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = name.map { $0.isLetter || $0.isNumber ? $0 : "-" }
        try? await screenshot().write(to: URL(fileURLWithPath: folder + "/" + String(file) + ".png"))
    }
}
