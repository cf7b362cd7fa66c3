import Foundation
import Synchronization

/// An open file as part of a reply: bytes that are handed over without being copied, and without a path.
///
/// In the process it is the descriptor itself, which is this value's own and is closed when the last copy of it goes. Over a socket the
/// descriptor travels beside the line, and the JSON holds its place among those that came (``OwnedFiles``). Where nobody
/// asked for descriptors, the JSON says null; a reply therefore has it as an optional property, and its message says so
/// by ``Message/carriesFiles``. Not for params: what a client opened is no business of the library.
public struct OwnedFile: Sendable {
    private final class Handle: Sendable {
        let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { if descriptor >= 0 { close(descriptor) } }
    }

    private let handle: Handle

    /// - Parameter descriptor: an open one, which is this value's from now on.
    public init(owning descriptor: Int32) { handle = Handle(descriptor) }

    /// Lends the descriptor, which is not to be closed, nor used afterwards.
    public func withDescriptor<Value>(_ body: (Int32) throws -> Value) rethrows -> Value {
        defer { withExtendedLifetime(handle) {} }
        return try body(handle.descriptor)
    }

    /// Another descriptor of the same open file, with the same position: the caller's, to be closed. Close-on-exec.
    /// - Throws: `resource_exhausted` where the process has too many files open.
    public func duplicate() throws -> Int32 {
        let copy = withDescriptor { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        guard copy >= 0 else {
            throw MeshError(.resourceExhausted, "Too many files are open. Close some, or try again later.")
        }
        return copy
    }
}

extension OwnedFile: Equatable {
    /// Whether both are the same open file in this process.
    public static func == (left: OwnedFile, right: OwnedFile) -> Bool { left.handle === right.handle }
}

extension OwnedFile: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let place = try container.decode(Int.self)
        guard let file = (decoder.userInfo[OwnedFiles.key] as? OwnedFiles)?[place] else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no such file came with it")
        }
        self = file
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let files = encoder.userInfo[OwnedFiles.key] as? OwnedFiles else { return try container.encodeNil() }
        guard let place = files.add(self) else {
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "a reply carries \(OwnedFiles.maximumCount) files at most"))
        }
        try container.encode(place)
    }
}

extension OwnedFile: SchemaDescribed {
    public static var jsonSchema: JSONValue { ["type": "integer", "minimum": 0] }
    public static var schemaExample: OwnedFile { OwnedFile(owning: -1) }
}

/// The files beside one reply, in their order: those that its JSON was written with, or those that came with it.
public final class OwnedFiles: Sendable {
    /// In one reply.
    public static let maximumCount = 8
    /// Where an encoder collects them, and a decoder finds them.
    static let key = CodingUserInfoKey(rawValue: "smilepile.ownedFiles")!

    private let files: Mutex<[OwnedFile]>

    public init(_ files: [OwnedFile] = []) { self.files = Mutex(files) }

    public var all: [OwnedFile] { files.withLock { $0 } }

    subscript(place: Int) -> OwnedFile? { files.withLock { $0.indices.contains(place) ? $0[place] : nil } }

    /// Its place; nil where there are too many.
    func add(_ file: OwnedFile) -> Int? {
        files.withLock { files in
            if let place = files.firstIndex(of: file) { return place }
            guard files.count < Self.maximumCount else { return nil }
            files.append(file)
            return files.count - 1
        }
    }

    /// A reply from its JSON, with the files that came beside it.
    public func decode<Value: Decodable>(_ type: Value.Type, from json: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.userInfo[Self.key] = self
        return try decoder.decode(type, from: json)
    }
}
