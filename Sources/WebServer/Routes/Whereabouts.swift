import Foundation
import ServiceMesh
import Synchronization

/// Where devices reach the page, as it is told to a device that lets another one in. It changes with the machine's addresses.
public final class Whereabouts: Sendable {
    public struct Facts: Sendable, Equatable {
        /// `https://192.168.1.5:8468`, the likeliest first; none where only this machine reaches the page, or nobody has said.
        public var addresses: [String]
        /// Where a device gets the certificate first, `http://192.168.1.5:8469`; none where it needs none, or brings its own.
        public var doors: [String]
        /// Of that certificate, as people compare it.
        public var fingerprint: String?

        public init(addresses: [String] = [], doors: [String] = [], fingerprint: String? = nil) {
            self.addresses = addresses
            self.doors = doors
            self.fingerprint = fingerprint
        }
    }

    private let facts: Mutex<Facts>

    public init(_ facts: Facts = Facts()) { self.facts = Mutex(facts) }

    public var current: Facts { facts.withLock { $0 } }

    public func change(to facts: Facts) { self.facts.withLock { $0 = facts } }
}

/// `GET /whereabouts`: for the page, whose own address may be one that only this machine reaches.
extension Router {
    func telling(_ visitor: Visitor) -> Intake {
        .ask(bodyBytes: 0) { [whereabouts] _ in
            await Response.of {
                _ = try await visitor.session()
                let facts = whereabouts.current
                var members: [String: JSONValue] = [
                    "addresses": .array(facts.addresses.map(JSONValue.string)),
                    "doors": .array(facts.doors.map(JSONValue.string)),
                ]
                if let fingerprint = facts.fingerprint { members["fingerprint"] = .string(fingerprint) }
                return .json(200, .object(members))
            }
        }
    }
}
