import Foundation
import ServiceMesh

/// One line from the server, taken apart.
enum ResponseLine {
    /// With how many open files came beside it.
    case result(id: UInt64, Data, descriptors: Int)
    case error(id: UInt64?, MeshError)
    case update(request: UInt64, ControlUpdate<Data>)

    private struct ErrorObject: Decodable {
        let code: Int
        let message: String
        let data: [String: JSONValue]?
    }

    private struct Update: Decodable {
        let request: UInt64
        let sequence: UInt64
        let overflow: Bool?
    }

    /// - Throws: ``ControlError/protocolViolation(_:)``.
    init(_ line: Span<UInt8>) throws(ControlError) {
        let members = try Self.members(line)
        func data(_ range: Range<Int>) -> Data {
            line.extracting(range).withUnsafeBufferPointer { Data(buffer: $0) }
        }
        let id = members["id"].flatMap { UInt64(String(decoding: data($0), as: UTF8.self)) }
        if let result = members["result"] {
            guard let id else { throw ControlError.protocolViolation("a result came without its request's id") }
            let descriptors = members["descriptors"].map { String(decoding: data($0), as: UTF8.self) }
            guard let count = Int(descriptors ?? "0"), (0...OwnedFiles.maximumCount).contains(count) else {
                throw ControlError.protocolViolation("a result came with a number of descriptors that none has")
            }
            self = .result(id: id, data(result), descriptors: count)
        } else if let error = members["error"] {
            guard let object = try? JSONDecoder().decode(ErrorObject.self, from: data(error)) else {
                throw ControlError.protocolViolation("an error came without code and message")
            }
            self = .error(id: id, Self.meshError(object))
        } else if let params = members["params"], members["method"] != nil {
            let inner = line.extracting(params)
            guard let value = try Self.members(inner)["value"],
                let update = try? JSONDecoder().decode(Update.self, from: data(params))
            else { throw ControlError.protocolViolation("a notification came without request, sequence and value") }
            let bytes = inner.extracting(value).withUnsafeBufferPointer { Data(buffer: $0) }
            self = .update(
                request: update.request,
                ControlUpdate(sequence: update.sequence, value: bytes, overflowed: update.overflow ?? false))
        } else {
            throw ControlError.protocolViolation("a line came that is neither reply nor notification")
        }
    }

    private static func members(_ text: Span<UInt8>) throws(ControlError) -> [String: Range<Int>] {
        var members: [String: Range<Int>] = [:]
        do {
            try JSONSyntax.members(of: text) { name, value in
                members[String(decoding: JSONSyntax.text(of: name, in: text), as: UTF8.self)] = value
            }
        } catch {
            throw ControlError.protocolViolation("a line came that is not JSON: \(error.reason)")
        }
        return members
    }

    private static func meshError(_ object: ErrorObject) -> MeshError {
        var details = object.data ?? [:]
        let named = details.removeValue(forKey: "status")?.stringValue.flatMap(MeshStatus.init(rawValue:))
        details["retryable"] = nil
        let status = named ?? MeshStatus.allCases.first { $0.code == object.code } ?? .internal
        return MeshError(status, object.message, details: details)
    }
}
