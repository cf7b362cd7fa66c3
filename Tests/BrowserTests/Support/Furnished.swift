import Browser
import Testing

/// Something to look at for all tests of a suite, which change nothing: it is put there before the first one, and the house
/// is tidied after the last one instead of after each. The suite has one tab at a time, so that the sights of one view in
/// several looks share a load: loading it for each of them took most of the time of these tests.
struct Furnished: SuiteTrait, TestScoping {
    let furnish: @Sendable (House) async throws -> Void
    /// Takes away what tidying leaves.
    let clear: @Sendable (House) async throws -> Void

    func provideScope(
        for _: Test, testCase _: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let house = House.here
        let viewer = Viewer(house)
        let outcome = await InAHouse.outcome(of: {
            try await furnish(house)
            try await Viewer.$current.withValue(viewer) { try await function() }
        })
        do {
            try await viewer.close()
            try await clear(house)
            try await house.tidy()
        } catch {
            Issue.record(error, "what is left of the suite stays")
        }
        try outcome.get()
    }
}

extension Trait where Self == Furnished {
    static func furnished(
        _ furnish: @escaping @Sendable (House) async throws -> Void,
        clear: @escaping @Sendable (House) async throws -> Void = { _ in }
    ) -> Self { Furnished(furnish: furnish, clear: clear) }
}

/// The tab of a suite's sights. Tests of the page run one after the other, so that nobody looks at two at once.
actor Viewer {
    /// The one of the suite that runs, where it is ``Furnished``.
    @TaskLocal static var current: Viewer?

    /// The one of the test that runs.
    static var here: Viewer {
        guard let current else { preconditionFailure("only in a suite with .furnished") }
        return current
    }

    private let house: House
    private var tab: (page: Page, look: Look, isForStrangers: Bool)?
    /// The view that the tab shows.
    private var shown: String?

    init(_ house: House) { self.house = house }

    /// Shows a sight and has it looked at. As in every tab, nothing may have been thrown in the page, and nothing may have
    /// been asked of another machine.
    func look(at sight: Sight, _ body: @Sendable (Page) async throws -> Void) async throws {
        let page = try await page(for: sight)
        do {
            if shown == sight.view.name {
                try await page.take(sight.look)
                try await page.run(
                    "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            } else {
                shown = nil
                try await page.take(sight.look)
                try await show(sight.view, in: page)
                shown = sight.view.name
            }
            try await body(page)
        } catch {
            await page.picture("failed \(sight.testDescription)")
            for complaint in page.faults { Issue.record("\(complaint)") }
            // The next sight gets a tab in which nothing has gone wrong.
            try? await close()
            throw error
        }
        #expect(page.faults == [])
        #expect(page.foreignRequests(than: house.address) == [])
        page.forgetLog()
    }

    func close() async throws {
        guard let page = tab?.page else { return }
        (tab, shown) = (nil, nil)
        try await page.close()
    }

    private func page(for sight: Sight) async throws -> Page {
        if let tab, tab.look.canBecome(sight.look), tab.isForStrangers == sight.view.isForStrangers { return tab.page }
        try await close()
        let page = try await sight.view.isForStrangers ? house.stranger(sight.look) : house.tab(sight.look)
        tab = (page, sight.look, sight.view.isForStrangers)
        return page
    }

    private func show(_ view: View, in page: Page) async throws {
        // An address of its own, so that nothing is left of the view before.
        let query = view.name.filter(\.isLetter)
        try await page.navigate(house.address + "/?" + query + view.place(house))
        try await page.wait(until: view.isReady)
        for control in view.pressed {
            switch control {
            case .saying(let key, let name, let selector):
                try await page.click(onSaying: key, name: name, within: selector)
            case .element(let element): try await page.clickWhereSeen(element)
            }
        }
        try await page.wait(until: view.isThen)
        try await page.wait(until: "[...document.images].every((one) => one.complete || one.loading === 'lazy')")
    }
}
