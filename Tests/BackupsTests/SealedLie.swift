import Foundation
import LibraryTestSupport
import Testing

/// Something that is wrong with the sealed values of a backup.
struct SealedLie: Sendable {
    private typealias Object = EditedBackup.Object

    let name: String
    /// The document with it.
    let change: @Sendable (Data) throws -> Data
    /// Values that are taken over all the same; nil where the backup is refused.
    let taken: Int?

    /// The values of the document, changed.
    private static func values(_ change: @escaping @Sendable (inout [Object]) -> Void)
        -> @Sendable (Data) throws -> Data
    {
        { bytes in
            var document = try #require(try JSONSerialization.jsonObject(with: bytes) as? Object)
            var values = try #require(document["values"] as? [Object])
            change(&values)
            document["values"] = values
            return try JSONSerialization.data(withJSONObject: document)
        }
    }

    private static func bytes(_ value: Object) -> Data {
        Data(base64Encoded: value["sealed"] as? String ?? "") ?? Data()
    }

    static let all: [SealedLie] = [
        SealedLie(
            name: "two values swapped",
            change: values { values in
                (values[0]["sealed"], values[1]["sealed"]) = (values[1]["sealed"], values[0]["sealed"])
            }, taken: 5),
        SealedLie(
            name: "a value truncated",
            change: values { $0[0]["sealed"] = bytes($0[0]).dropLast().base64EncodedString() }, taken: 6),
        SealedLie(name: "a value of no bytes", change: values { $0[0]["sealed"] = "" }, taken: 6),
        SealedLie(
            name: "one flipped bit",
            change: values { values in
                var sealed = bytes(values[2])
                sealed[sealed.count - 20] ^= 1
                values[2]["sealed"] = sealed.base64EncodedString()
            }, taken: 6),
        SealedLie(
            name: "a key that nobody has",
            change: values { values in
                var sealed = bytes(values[0])
                sealed.replaceSubrange(1..<17, with: Data(repeating: 0xAB, count: 16))
                values[0]["sealed"] = sealed.base64EncodedString()
            }, taken: 6),
        SealedLie(name: "a field of another time", change: values { $0[0]["field"] = "shoeSize" }, taken: 6),
        SealedLie(
            name: "a photo that is not there",
            change: values { $0[0]["uuid"] = "0b1c2d3e-0000-4000-8000-000000000001" }, taken: 6),
        SealedLie(name: "a later version", change: { _ in Data(#"{"version": 2, "things": []}"#.utf8) }, taken: 0),
        SealedLie(name: "a value twice", change: values { $0.append($0[0]) }, taken: nil),
        SealedLie(name: "no uuid", change: values { $0[0]["uuid"] = "../../x" }, taken: nil),
        SealedLie(
            name: "a huge value",
            change: values { $0[0]["sealed"] = Data(count: 2 << 20).base64EncodedString() }, taken: nil),
        SealedLie(name: "no JSON", change: { $0.dropLast(10) }, taken: nil),
        SealedLie(name: "another shape", change: { _ in Data(#"{"version": 1, "values": {}}"#.utf8) }, taken: nil),
        SealedLie(name: "version 0", change: { _ in Data(#"{"version": 0, "values": []}"#.utf8) }, taken: nil),
        SealedLie(
            name: "nested without an end",
            change: { _ in Data(("{\"version\":1,\"values\":" + String(repeating: "[", count: 100_000)).utf8) },
            taken: nil),
        SealedLie(
            name: "another key's name", change: values { _ in }, taken: nil),
    ]
}
