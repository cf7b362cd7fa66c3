import CSQLite
import Foundation
import FuzzSupport
import ServiceMesh
import Synchronization

@testable import ControlSocket

/// Bytes from a client, from their arrival in pieces to the request that is taken or refused; and the same bytes as
/// the lines of a server, to a client.
///
/// The first byte says how long the pieces are. Second opinions: cutting lines all at once; Foundation, which must take
/// all JSON that is taken here; and SQLite, which must not take what is refused.
@main
enum RequestLines: FuzzTarget {
    private static let limit = 2048

    static func seeds() -> [[UInt8]] {
        [
            #"{"jsonrpc":"2.0","id":1,"method":"rpc.ping"}"#,
            #"{"jsonrpc":"2.0","id":"a\ud83d\ude00\u00e9","method":"photo.list","params":{"limit":10,"after":null}}"#,
            #"{"jsonrpc":"2.0","id":-12,"method":"x","params":{"a":[1,2.5e-3,true,{"b":{}}]},"deadlineMs":250}"#,
            #"{"jsonrpc":"2.0","method":"rpc.cancel","params":{"id":"a"}}"#,
            #"{"jsonrpc":"2.0","id":4,"result":{"text":"été"}}"#,
            #"{"jsonrpc":"2.0","id":4,"error":{"code":-32003,"message":"no","data":{"status":"not_found"}}}"#,
            #"{"jsonrpc":"2.0","method":"m","params":{"request":4,"sequence":2,"value":[1],"overflow":true}}"#,
            #"[1,2]"#, #""text""#, #" { "id" : 0.5 } "#,
        ].map { [7] + Array($0.utf8) + [0x0A] } + [
            [1] + Array("{}\r\n\r\n[]\n{\"id\":1}".utf8), [255] + Array(repeating: UInt8(ascii: "["), count: 70),
        ]
    }

    static func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let bytes = Array(input.dropFirst())
        let lines = cut(bytes, pieces: Int(first) + 1)
        for line in lines {
            check(line)
        }
    }

    /// The lines as ``LineBuffer`` finds them, held against those that splitting at once finds.
    private static func cut(_ bytes: [UInt8], pieces: Int) -> [[UInt8]] {
        var expected: [[UInt8]] = []
        var isTooLong = false
        let parts = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            // A last line without its end keeps its CR, and is none where there is nothing of it.
            let line = !isLast && part.last == 0x0D ? Array(part.dropLast()) : Array(part)
            if isLast ? line.count > limit + 1 : line.count > limit {
                isTooLong = true
                break
            }
            if !isLast || !line.isEmpty { expected.append(line) }
        }
        var found: [[UInt8]] = []
        var buffer = LineBuffer(limit: limit)
        // Every third line stops the reader for a while, as a connection does that has too many requests under way.
        func take(_ line: Span<UInt8>) -> Bool {
            found.append(line.withUnsafeBufferPointer { Array($0) })
            return found.count % 3 != 0
        }
        func resume(_ first: LineBuffer.Outcome) -> Bool {
            var outcome = first
            while outcome == .paused { outcome = buffer.resume(take) }
            return outcome == .drained
        }
        var isRefused = false
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let piece = Array(bytes[start..<min(bytes.count, start + pieces)])
            guard resume(buffer.add(piece.span, take)) else {
                isRefused = true
                break
            }
        }
        if !isRefused { _ = resume(buffer.finish(take)) }
        require(isRefused == isTooLong, "in pieces of \(pieces): refused \(isRefused), too long \(isTooLong)")
        require(found == expected, "in pieces of \(pieces): other lines than at once")
        return found
    }

    private static func check(_ line: [UInt8]) {
        do throws(RequestFault) {
            let request = try RequestLine(line.span)
            require(isJSON(line), "a request that Foundation does not take for JSON")
            require(request.params.isEmpty || isObject(Array(request.params)), "params that are no object")
            if let id = request.id { checkID(id, of: line) }
        } catch {
            require(isObject(OutgoingLine.fault(error)), "an answer that is no JSON: \(error)")
            if let id = error.id { checkID(id, of: line) }
            // SQLite looks at no byte of a string beyond ASCII, nests deeper, and ends at a NUL.
            if error.code == .parse, !line.contains(0), !line.contains(where: { $0 >= 0x80 }),
                !["levels deep", "surrogate", "control character"].contains(where: error.message.contains)
            {
                require(!isValidForSQLite(line), "SQLite takes what is refused: \(error.message)")
            }
        }
        _ = try? ResponseLine(line.span)
    }

    /// An id goes back as it came: as JSON of its own, the same again when it is read.
    private static func checkID(_ id: RequestID, of line: [UInt8]) {
        require(isJSON(id.token), "an id that is no JSON")
        let again = RequestID(0..<id.token.count, in: id.token.span)
        // Longer than it came, where escapes were not needed before.
        require(again == id || id.token.count > RequestID.maximumBytes, "an id that is another when it comes back")
    }

    private static func isObject(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(withShortNumbers(bytes)))) is [String: Any]
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(withShortNumbers(bytes)), options: .fragmentsAllowed)) != nil
    }

    /// The same without what makes a number too large: JSON has no greatest number, Foundation takes none beyond those of a
    /// Double. Exponents keep two digits and other runs of digits 20; an escape in a text needs no more than it keeps.
    private static func withShortNumbers(_ bytes: [UInt8]) -> [UInt8] {
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { (48...57).contains($0) } ?? false }
        var short: [UInt8] = []
        var (digits, limit) = (0, 20)
        for (index, byte) in bytes.enumerated() {
            let previous = index > 0 ? bytes[index - 1] : nil
            if isDigit(byte) {
                digits += 1
                if digits > limit { continue }
            } else {
                let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                let isExponent = byte | 0x20 == UInt8(ascii: "e") && isDigit(previous)
                let goesOn = isSign && limit == 2 && digits == 0
                (digits, limit) = (0, isExponent || goesOn ? 2 : 20)
            }
            short.append(byte)
        }
        return short
    }

    private static func isValidForSQLite(_ bytes: [UInt8]) -> Bool {
        sqlite.withLock { statement in
            // Bound without a copy: the bytes must stay until the statement lets go of them.
            bytes.withUnsafeBytes { text in
                sqlite3_bind_text(
                    statement.handle, 1, text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(text.count), nil)
                defer {
                    sqlite3_reset(statement.handle)
                    sqlite3_clear_bindings(statement.handle)
                }
                return sqlite3_step(statement.handle) == SQLITE_ROW && sqlite3_column_int(statement.handle, 0) == 1
            }
        }
    }

    private static let sqlite = Mutex(Statement())

    private struct Statement {
        private(set) var handle: OpaquePointer?

        init() {
            var database: OpaquePointer?
            sqlite3_open(":memory:", &database)
            sqlite3_prepare_v2(database, "SELECT json_valid(?1)", -1, &handle, nil)
        }
    }
}
