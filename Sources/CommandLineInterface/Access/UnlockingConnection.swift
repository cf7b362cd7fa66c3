import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

/// A connection that unlocks itself: where a request is refused because the library is in kids mode, the PIN is fetched, and
/// the request sent once more.
///
/// Here and not in each command, so that every command is the same in either mode.
package struct UnlockingConnection: LibraryConnection {
    /// How often a person may slip.
    private static let tries = 3

    package let connection: any LibraryConnection
    package let pins: PINEntry
    package let console: Console

    package init(connection: any LibraryConnection, pins: PINEntry, console: Console) {
        self.connection = connection
        self.pins = pins
        self.console = console
    }

    package func call(_ method: String, params: Data) async throws -> Data {
        do {
            return try await connection.call(method, params: params)
        } catch CommandFailure.refused(let error) where error.yieldsToPIN {
            try await unlock(after: error)
            return try await connection.call(method, params: params)
        }
    }

    package func callForFiles(_ method: String, params: Data) async throws -> ControlReply {
        do {
            return try await connection.callForFiles(method, params: params)
        } catch CommandFailure.refused(let error) where error.yieldsToPIN {
            try await unlock(after: error)
            return try await connection.callForFiles(method, params: params)
        }
    }

    package func watch(
        _ method: String, params: Data, onUpdate: @escaping @Sendable (ObservedUpdate) async throws -> Void
    ) async throws -> Data {
        do {
            return try await connection.watch(method, params: params, onUpdate: onUpdate)
        } catch CommandFailure.refused(let error) where error.yieldsToPIN {
            try await unlock(after: error)
            return try await connection.watch(method, params: params, onUpdate: onUpdate)
        }
    }

    package func close() async { await connection.close() }

    private func unlock(after refusal: MeshError) async throws {
        for attempt in 1...Self.tries {
            guard let pin = try await pins.existing("This is a parent's. PIN: ") else {
                throw CommandFailure.refused(
                    MeshError(
                        .permissionDenied,
                        "This is a parent's, and the library is in kids mode. Run it on a terminal, which asks for the PIN, or "
                            + "name a file that has it: --pin-file PATH",
                        details: refusal.details))
            }
            do {
                let reply = try await connection.call(Unlock.method, params: JSONText.encode(Unlock(pin: pin)))
                let guesses = (try? JSONDecoder().decode(Unlocked.self, from: reply))?.guesses ?? []
                // A wrong PIN from this machine may be a slip of the person who sits here, in this very command.
                for guess in guesses where guess.device != nil { console.message(guess.sentence) }
                return pins.remember(pin)
            } catch CommandFailure.refused(let error) where error.status == .unauthenticated {
                let mustWait = error.details["retryAfterMs"] != nil
                guard pins.mayAskAgain, !mustWait, attempt < Self.tries else { throw CommandFailure.refused(error) }
                pins.forget()
                console.message(PlainText.neutralized(error.message))
            }
        }
    }
}

extension MeshError {
    /// Whether somebody who knows the PIN would not have been refused.
    fileprivate var yieldsToPIN: Bool { neededRole == .looker || neededRole == .parent }
}
