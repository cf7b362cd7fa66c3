import ServiceMesh
import Synchronization

/// The right to change a catalogue, which one process has at a time: its owner. So what the owner keeps in memory stays true, such as
/// who is connected, what observers were told, and where each job stands.
///
/// The program that opens a catalogue takes the right first, or the catalogue does so itself: ``CatalogueIsOwned`` is thrown where
/// another process has it. The right may end while the catalogue is open, because the files were taken away or a lease has run out. From
/// then on the catalogue refuses every commit, and the part that looks after the place (``look()``) has the one observer told.
package final class CatalogueOwnership: Sendable {
    private struct State {
        var observer: @Sendable (String?) -> Void = { _ in }
        /// What it was told last.
        var told: String?
    }

    private let end: @Sendable () -> String?
    private let state = Mutex(State())

    /// - Parameter fault: why the owner may change nothing at this moment, in a sentence that says what to do next; nil while it may.
    ///   Asked before each commit, on the catalogue's own thread, so it takes microseconds. Unless told, the right ends with
    ///   ``Catalogue/close()`` alone, as for a file that no other program knows.
    package init(fault: @escaping @Sendable () -> String? = { nil }) { end = fault }

    /// Why nothing may be changed now; nil while the right holds. It can come back: a disk is plugged in again.
    package var fault: String? { end() }

    /// From now on, `observer` is told when the right ends, with the reason, and with nil when it is back. There is one: a second one
    /// takes its place. The observer returns at once, and does not look itself.
    package func observe(_ observer: @escaping @Sendable (String?) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// Looks whether the right holds, and has the observer told where that is something else than at the last look. Called from time to
    /// time, since nobody writes for hours, and at once by the part that learns of an end.
    package func look() {
        // Under the lock, so that of two looks at once the later one is told last.
        state.withLock { state in
            let fault = end()
            guard fault != state.told else { return }
            state.told = fault
            state.observer(fault)
        }
    }
}

/// Why a catalogue is not opened: somebody else may change it.
package struct CatalogueIsOwned: MeshErrorConvertible {
    /// `failed_precondition`.
    package let meshError: MeshError

    /// - Parameters:
    ///   - sentence: who has it, and what to do next.
    ///   - details: the same for programs.
    package init(_ sentence: String, details: [String: JSONValue] = [:]) {
        meshError = MeshError(.failedPrecondition, sentence, details: details)
    }
}
