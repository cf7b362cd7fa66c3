import Browser
import Testing

/// The page as a family meets it: Chromium in front of the real programs. All suites share one ``House``.
///
/// Nothing here waits for a time: a test waits until the page shows what it expects (`Page.wait(until:)`), and gives up
/// after thirty seconds. With `SMILEPILE_BROWSER_PICTURES=FOLDER` the tests of how screens look leave pictures there.
@Suite(
    .serialized, .timeLimit(.minutes(3)), .enabled(if: Browser.program != nil, "needs Chromium: Scripts/setup --tests"),
    .inAHouse
)
enum BrowserTests {}
