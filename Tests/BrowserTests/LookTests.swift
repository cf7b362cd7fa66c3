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

extension Trait where Self == ConditionTrait {
    fileprivate static var needsAxe: Self { .enabled(if: Axe.script != nil, "needs axe: Scripts/setup --tests") }
}

/// How screens look: for eyes of every kind, in small and large windows, in long words. Each test looks at one view in one look.
extension BrowserTests {
    @Suite(.needsAxe, .furnished(FullHouse.furnish, clear: FullHouse.clear)) struct ParentLookTests {
        @Test(arguments: Sight.all(View.ofAParent, in: Looks.all))
        func everyScreenIsForEveryEye(_ sight: Sight) async throws { try await Looks.check(sight) }
    }

    @Suite(.needsAxe, .furnished { _ in }) struct StrangerLookTests {
        @Test(arguments: Sight.all(View.ofAStranger, in: Looks.all))
        func soIsThePairingScreen(_ sight: Sight) async throws { try await Looks.check(sight) }
    }

    @Suite(.needsAxe, .furnished(KidsHouse.furnish, clear: KidsHouse.clear)) struct KidsLookTests {
        @Test(arguments: Sight.all(View.ofAChild, in: Looks.all))
        func soIsKidsMode(_ sight: Sight) async throws { try await Looks.check(sight) }
    }

    /// Texts that are as long as the library takes them, without a place to break, and with marks that turn directions.
    @Suite(.furnished(LongTexts.write, clear: LongTexts.clear)) struct LongTextLookTests {
        @Test(arguments: Sight.all(View.ofLongTexts, in: [Look(width: 320, isTouched: true), Look(width: 1440)]))
        func staysWhereItIs(_ sight: Sight) async throws {
            try await Viewer.here.look(at: sight) { page in
                try await Looks.check("long", sight, in: page)
                // A card that fills window after window is no card.
                #expect(
                    try await page.evaluate(
                        "[...document.querySelectorAll('.categories li, .groups li, .trash-grid li, .device, dialog header')].every((one) => one.offsetHeight < 420)"
                    ))
                let turned: [String] = try await page.evaluate(Looks.turned)
                for text in turned { Issue.record("\(text) is turned around") }
            }
        }
    }
}

/// How a view has to look in every look.
enum Looks {
    /// Where SMILEPILE_LOOKS is `few`, one for each thing that looks differ in: for every change.
    static let all =
        ProcessInfo.processInfo.environment["SMILEPILE_LOOKS"] == "few"
        ? [
            Look(width: 320, language: "de-DE", isTouched: true), Look(width: 360, isDark: true, isTouched: true),
            Look(width: 1440),
        ] : every

    private static let every = [
        Look(width: 320, isTouched: true), Look(width: 360, isTouched: true),
        Look(width: 360, isDark: true, isTouched: true),
        Look(width: 320, language: "de-DE", isTouched: true),
        Look(width: 360, isDark: true, language: "de-DE", isTouched: true),
        Look(width: 1440), Look(width: 1440, isDark: true),
    ]

    static func check(_ sight: Sight) async throws {
        try await Viewer.here.look(at: sight) { page in try await check("", sight, in: page) }
    }

    /// What axe and a ruler find in a page as it is now; a picture of it.
    static func check(_ prefix: String, _ sight: Sight, in page: Page) async throws {
        if let script = Axe.script {
            if try await !page.evaluate("Boolean(window.axe)") { try await page.run(script) }
            let found: [String] = try await page.evaluate(violations)
            for violation in found { Issue.record("\(violation)") }
        }
        let wide: [String] = try await page.evaluate(overflowing)
        for fault in wide { Issue.record("\(fault)") }
        let language: String = try await page.evaluate("document.documentElement.lang")
        #expect(language == String(sight.look.language.prefix(2)))
        let name = [prefix, sight.view.name, sight.look.description].filter { !$0.isEmpty }
        await page.picture(name.joined(separator: " "))
    }

    /// Its report, in a form that says what to look at.
    private static let violations = """
        axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => (
          violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join(' | ')))))
        """

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
    static let turned = """
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
}
