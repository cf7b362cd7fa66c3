import Foundation
import ServiceMesh

/// What is wrong with a document, in words for whoever has it and did not write it.
struct JSONFault: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        guard let error = error as? DecodingError else {
            description = "\(error)"
            return
        }
        description =
            switch error {
            case .keyNotFound(let key, let context):
                "'\((context.codingPath + [key]).fieldPath)' is missing"
            case .valueNotFound(_, let context): "'\(context.codingPath.fieldPath)' has no value"
            case .typeMismatch(let type, let context):
                "'\(context.codingPath.fieldPath)' is not \(Self.name(of: type))"
            case .dataCorrupted(let context) where context.codingPath.isEmpty:
                "it is not JSON, or not whole, or has a number that is too large\(Self.why(context))"
            case .dataCorrupted(let context):
                "'\(context.codingPath.fieldPath)' has a value that is not valid\(Self.why(context))"
            @unknown default: "\(error)"
            }
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is any FixedWidthInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is any Collection.Type: "a list"
        default: "of the form that is expected"
        }
    }

    private static func why(_ context: DecodingError.Context) -> String {
        let cause =
            (context.underlyingError as? JSONShapeFault)?.description
            ?? (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"] as? String
        // Swift's own words name its types and cases, which a document has not.
        return cause.map { " (\($0.prefix(200)))" } ?? ""
    }
}
