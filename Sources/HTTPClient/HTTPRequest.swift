import Foundation
import ServiceMesh

/// One request. Made by ``get(_:headers:)``, ``post(_:body:headers:)`` or ``delete(_:headers:)``, so that none has a body
/// where HTTP gives it no meaning.
public struct HTTPRequest: Sendable {
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    /// What a POST brings.
    public enum Body: Sendable {
        case none
        /// Held in memory, so not for pictures.
        case bytes(Data, type: ContentType)
        /// `multipart/form-data`: the fields in their order, then the file.
        case form([FormField], file: FormFile?)
    }

    public let method: Method
    public let url: HTTPURL
    public let headers: [HTTPHeader]
    public let body: Body

    /// Asks for something, and changes nothing.
    public static func get(_ url: HTTPURL, headers: [HTTPHeader] = []) -> HTTPRequest {
        HTTPRequest(method: .get, url: url, headers: headers, body: .none)
    }

    /// Brings something. Sent once at most: where the connection ends before an answer, nobody knows whether it arrived,
    /// and the caller decides.
    public static func post(_ url: HTTPURL, body: Body, headers: [HTTPHeader] = []) -> HTTPRequest {
        HTTPRequest(method: .post, url: url, headers: headers, body: body)
    }

    public static func delete(_ url: HTTPURL, headers: [HTTPHeader] = []) -> HTTPRequest {
        HTTPRequest(method: .delete, url: url, headers: headers, body: .none)
    }
}

/// A header of a request, which cannot end its line and begin another one.
///
/// The value may be a secret: it has no description.
public struct HTTPHeader: Sendable, Hashable, CustomStringConvertible {
    public enum Fault: Sendable, Hashable, CaseIterable {
        /// Empty, longer than ``HTTPHeader/longestName``, or with other characters than RFC 9110's `token`.
        case badName
        /// Longer than ``HTTPHeader/longestValue``, or with a control character.
        case badValue
        /// The client writes it itself: `Host`, `Content-Length`, `Range`, …
        case ownedByClient
        /// More than ``HTTPClientLimits/requestHeaders``.
        case tooMany
    }

    /// In bytes.
    public static let longestName = 128
    public static let longestValue = 8_192

    public let name: String
    public let value: String

    /// - Parameter value: without spaces and tabs around it, which are taken off.
    /// - Throws: ``HTTPClientError/badHeader(_:)``.
    public init(_ name: String, _ value: String) throws(HTTPClientError) {
        guard (1...Self.longestName).contains(name.utf8.count), name.utf8.allSatisfy(Self.isToken) else {
            throw .badHeader(.badName)
        }
        guard !Self.owned.contains(name.lowercased()) else { throw .badHeader(.ownedByClient) }
        guard value.utf8.count <= Self.longestValue, Self.isPlain(value) else { throw .badHeader(.badValue) }
        self.name = name
        self.value = value.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    }

    public var description: String { name }

    /// What decides how a message is cut into pieces, where it goes, and how its body is written.
    private static let owned: Set = [
        "host", "connection", "content-length", "content-type", "transfer-encoding", "accept-encoding", "range", "te",
        "trailer", "upgrade", "expect", "keep-alive", "proxy-authorization", "proxy-connection",
    ]

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// No control characters but the tab.
    static func isPlain(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

/// What the bytes of a body are: `application/json`, `image/jpeg`.
public struct ContentType: Sendable, Hashable {
    public let text: String

    /// - Parameter text: 1…128 visible ASCII characters and spaces, with one `/` or more.
    /// - Throws: ``HTTPClientError/badHeader(_:)``.
    public init(_ text: String) throws(HTTPClientError) {
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        guard (3...128).contains(text.utf8.count), isPlain, text.contains("/"), !text.hasPrefix(" ") else {
            throw .badHeader(.badValue)
        }
        self.text = text
    }

    private init(known text: String) { self.text = text }

    public static let json = ContentType(known: "application/json")
    public static let jpeg = ContentType(known: "image/jpeg")
    public static let bytes = ContentType(known: "application/octet-stream")
}

/// A field of a form that is a text.
public struct FormField: Sendable, Hashable {
    public let name: String
    public let value: String

    /// - Parameters:
    ///   - name: 1…128 bytes without control characters.
    ///   - value: any text.
    /// - Throws: ``HTTPClientError/badHeader(_:)``: the name stands in a header of its part.
    public init(_ name: String, _ value: String) throws(HTTPClientError) {
        try Self.check(name, longest: HTTPHeader.longestName)
        self.name = name
        self.value = value
    }

    static func check(_ name: String, longest: Int) throws(HTTPClientError) {
        guard (1...longest).contains(name.utf8.count), HTTPHeader.isPlain(name) else { throw .badHeader(.badName) }
    }
}

/// A field of a form that is a file.
///
/// It is read by positions, so that the file's own position stays where it is. It must stay as it is until the request has
/// ended: one that has become shorter ends it with ``HTTPClientError/fileChanged``.
public struct FormFile: Sendable {
    /// In bytes: what file systems allow.
    public static let longestFileName = 255

    public let name: String
    public let fileName: String
    public let type: ContentType
    public let file: OwnedFile
    /// The first byte that is sent, and how many are.
    public let offset: Int64
    public let count: Int64

    /// - Parameters:
    ///   - name: of the field: 1…128 bytes without control characters.
    ///   - fileName: as the other side is to know it: 1…255 bytes without control characters.
    ///   - file: open for reading.
    ///   - offset: 0 or more.
    ///   - count: 0 or more.
    /// - Throws: ``HTTPClientError/badHeader(_:)`` for the names, ``HTTPClientError/disk(_:)`` with `EINVAL` for numbers.
    public init(
        _ name: String, fileName: String, type: ContentType, file: OwnedFile, from offset: Int64 = 0, count: Int64
    ) throws(HTTPClientError) {
        try FormField.check(name, longest: HTTPHeader.longestName)
        try FormField.check(fileName, longest: Self.longestFileName)
        guard offset >= 0, count >= 0, !offset.addingReportingOverflow(count).overflow else { throw .disk(EINVAL) }
        self.name = name
        self.fileName = fileName
        self.type = type
        self.file = file
        self.offset = offset
        self.count = count
    }
}
