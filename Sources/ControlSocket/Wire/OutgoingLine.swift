import Foundation
import ServiceMesh

/// The lines that the server writes, each with its LF.
enum OutgoingLine {
    /// - Parameter descriptors: how many open files go with it.
    static func result(_ id: RequestID, _ value: Data, descriptors: Int = 0) -> [UInt8] {
        compose(value.count) { line in
            line += resultBegin
            line += id.token
            line += resultMiddle
            value.withUnsafeBytes { line.append(contentsOf: $0) }
            if descriptors > 0 { line += ",\"descriptors\":\(descriptors)".utf8 }
        }
    }

    static func update(_ method: String, _ id: RequestID, _ update: ObservedUpdate) -> [UInt8] {
        compose(update.value.count) { line in
            line += "{\"jsonrpc\":\"2.0\",\"method\":".utf8
            line += JSONSyntax.quoted(method.utf8)
            line += ",\"params\":{\"request\":".utf8
            line += id.token
            line += ",\"sequence\":\(update.sequence),\"value\":".utf8
            update.value.withUnsafeBytes { line.append(contentsOf: $0) }
            if update.overflowed { line += ",\"overflow\":true".utf8 }
            line.append(UInt8(ascii: "}"))
        }
    }

    static func fault(_ fault: RequestFault) -> [UInt8] {
        self.error(fault.id, fault.code.rawValue, MeshError(fault.code.status, fault.message, details: fault.details))
    }

    static func error(_ id: RequestID?, _ error: MeshError) -> [UInt8] {
        self.error(id, error.status.code, error)
    }

    private struct ErrorObject: Encodable {
        let code: Int
        let message: String
        let data: [String: JSONValue]
    }

    private static func error(_ id: RequestID?, _ code: Int, _ error: MeshError) -> [UInt8] {
        let status = error.status.rawValue
        // What the status says holds, whatever the details are called.
        let data = error.details.merging(
            ["status": .string(status), "retryable": .bool(error.isRetryable)], uniquingKeysWith: { $1 })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let whole = try? encoder.encode(ErrorObject(code: code, message: error.message, data: data))
        // Details that JSON cannot say (a number that is none) are left out rather than the answer.
        let object =
            whole
            ?? Data(
                "{\"code\":\(code),\"message\":".utf8 + JSONSyntax.quoted(error.message.utf8)
                    + ",\"data\":{\"status\":\"\(status)\",\"retryable\":\(error.isRetryable)}}".utf8)
        return compose(object.count) { line in
            line += resultBegin
            line += id?.token ?? null
            line += ",\"error\":".utf8
            object.withUnsafeBytes { line.append(contentsOf: $0) }
        }
    }

    private static let resultBegin = Array("{\"jsonrpc\":\"2.0\",\"id\":".utf8)
    private static let resultMiddle = Array(",\"result\":".utf8)
    private static let null = Array("null".utf8)

    private static func compose(_ size: Int, _ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(size + 128)
        write(&line)
        line.append(UInt8(ascii: "}"))
        line.append(UInt8(ascii: "\n"))
        return line
    }
}
