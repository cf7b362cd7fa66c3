import Foundation

@testable import ZipArchive

/// Every structural lie about an archive that we could think of, each alone: what a field may hold, in the directory,
/// in the local header, in both.
struct Mutants {
    struct Mutant: Sendable {
        let what: String
        let bytes: [UInt8]
    }

    private enum Side: CaseIterable {
        case central, local, both

        var isCentral: Bool { self != .local }
        var isLocal: Bool { self != .central }
    }

    private let good: TakenApart
    private static let chosen = 1
    private(set) var all: [Mutant] = []

    init(of archive: [UInt8]) {
        good = TakenApart(archive)
        numbers()
        extraFields()
        attributes()
        dataDescriptors()
        compressedData()
        ends()
    }

    private mutating func add(_ what: String, _ change: (inout TakenApart) -> Void) {
        var archive = good
        change(&archive)
        all.append(Mutant(what: what, bytes: archive.bytes))
    }

    private mutating func addEachSide(_ what: String, _ change: (inout TakenApart.Part, Bool, Bool) -> Void) {
        for side in Side.allCases {
            add("\(what), \(side)") { change(&$0.parts[Self.chosen], side.isCentral, side.isLocal) }
        }
    }

    private mutating func numbers() {
        let fields: [(name: String, central: Int, local: Int, values: [UInt16])] = [
            (
                "version", 6, 4,
                [0, 9, 10, 21, 45, 46, 47, 50, 51, 52, 60, 61, 62, 63, 64, 70, 100, 255, 0x0314, 0xFFFF]
            ),
            ("flags", 8, 6, [0] + (0..<16).map { 1 << $0 | 1 << 11 }), ("method", 10, 8, [1, 8, 9, 12, 14, 93, 99]),
            ("time", 12, 10, [0, 0xBF7D, 0xFFFF]), ("date", 14, 12, [0, 0x01E0, 0xFFFF]),
        ]
        for field in fields {
            for value in field.values {
                addEachSide("\(field.name) \(value)") { part, isCentral, isLocal in
                    if isCentral { part.central.put(value, at: field.central) }
                    if isLocal { part.local.put(value, at: field.local) }
                }
            }
        }
        for (name, offset) in [("checksum", 14), ("compressed size", 18), ("size", 22)] {
            for value: UInt32 in [0, 1, .max, 1 << 31] {
                addEachSide("\(name) \(value)") { part, isCentral, isLocal in
                    if isCentral { part.central.put(value, at: offset + 2) }
                    if isLocal { part.local.put(value, at: offset) }
                }
            }
        }
        for (name, offset) in [("disk", 34), ("internal attributes", 36)] {
            for value: UInt16 in [1, 2, 0xFFFF] {
                add("\(name) \(value)") { $0.parts[1].central.put(value, at: offset) }
            }
        }
        for error in [-1, 1, 2, 5, 0x4000] {
            add("extra length \(error), central") { $0.parts[1].centralExtraError = error }
            add("extra length \(error), local") { $0.parts[1].localExtraError = error }
        }
    }

    private mutating func extraFields() {
        let name = good.parts[Self.chosen].name
        let size = UInt64(good.parts[Self.chosen].data.count)
        let checksum = RawArchive.little(ContentDigest(of: name).crc32)
        var fields: [(String, [UInt8])] = (0...7).map { ("\($0) zeros", [UInt8](repeating: 0, count: $0)) }
        fields += (1...5).map { ("\($0) ones", [UInt8](repeating: 0xFF, count: $0)) }
        fields += [("cut time", [0x55, 0x54, 6, 0, 1, 0, 0, 0, 0]), ("cut unknown", [0xFE, 0xCA, 1, 0])]
        for id: UInt16 in [
            0x0001, 0x0009, 0x000A, 0x0017, 0x334D, 0x5455, 0x5855, 0x6375, 0x6C78, 0x7075, 0x756E, 0x7777, 0x7855,
            0x7875, 0x9901, 0xCAFE, 0xD935,
        ] {
            for count in [0, 1, 4, 5, 8, 11, 12, 16, 28] {
                fields.append(("\(String(id, radix: 16)) of \(count)", RawArchive.extra(id, noise(count, seed: 9))))
            }
            fields.append(
                ("\(String(id, radix: 16)) of ones", RawArchive.extra(id, [UInt8](repeating: 1, count: 13))))
        }
        for (what, path) in [
            ("good", name), ("another", Array("other".utf8)), ("empty", []), ("broken", [0x61, 0xFF]),
            ("NUL", [0x61, 0]),
        ] {
            fields.append(("path \(what)", RawArchive.extra(0x7075, [1] + checksum + path)))
            fields.append(("stale path \(what)", RawArchive.extra(0x7075, [1, 0, 0, 0, 0] + path)))
        }
        for (what, extra) in fields {
            addEachSide("extra " + what) { part, isCentral, isLocal in
                if isCentral { part.centralExtra = extra }
                if isLocal { part.localExtra = extra }
            }
        }
        // The sizes left to the ZIP64 field, or the offset too, and the field as long as it likes.
        let right = RawArchive.little(size) + RawArchive.little(size)
        for count in [0, 4, 7, 8, 12, 15, 16, 17, 24, 28, 29, 32] {
            let body = Array((right + [UInt8](repeating: 0, count: 16)).prefix(count))
            for wide in [[1], [0], [0, 1]] {
                addEachSide("ZIP64 of \(count) for \(wide)") { part, isCentral, isLocal in
                    for index in wide {
                        if isCentral { part.central.put(UInt32.max, at: 20 + index * 4) }
                        if isLocal { part.local.put(UInt32.max, at: 18 + index * 4) }
                    }
                    if isCentral { part.centralExtra = RawArchive.extra(1, body) }
                    if isLocal { part.localExtra = RawArchive.extra(1, body) }
                }
            }
            add("ZIP64 of \(count) for the offset") {
                let place = RecordView($0.parts[1].central[...]).u32(42) ?? 0
                $0.parts[1].central.put(UInt32.max, at: 42)
                $0.parts[1].keepsOffset = true
                let body = RawArchive.little(UInt64(place)) + [UInt8](repeating: 0, count: 24)
                $0.parts[1].centralExtra = RawArchive.extra(1, Array(body.prefix(count)))
            }
        }
        for comment in [[0], Array("PK\u{1}\u{2}".utf8), [UInt8](repeating: 0x78, count: 0xFFFF)] {
            add("comment of \(comment.count)") { $0.parts[1].comment = comment }
        }
    }

    private mutating func attributes() {
        for system: UInt16 in [0, 1, 3, 6, 11, 14, 19] {
            for value: UInt32 in [0, 8, 0x10, 0xFFFF] {
                for mode: UInt32 in [0, 0o100644, 0o104755] {
                    add("system \(system), attributes \(value), mode \(String(mode, radix: 8))") {
                        $0.parts[1].central.put(system << 8 | 45, at: 4)
                        $0.parts[1].central.put(mode << 16 | value, at: 38)
                    }
                }
            }
        }
    }

    private mutating func dataDescriptors() {
        let size = good.parts[Self.chosen].data.count
        let checksum = ContentDigest(of: good.parts[Self.chosen].data).crc32
        let (short, long) = (RawArchive.little(UInt32(size)), RawArchive.little(UInt64(size)))
        let signature: [UInt8] = [0x50, 0x4B, 7, 8]
        let right = RawArchive.little(checksum)
        let forms: [(String, [UInt8])] = [
            ("none", []), ("32", signature + right + short + short), ("bare 32", right + short + short),
            ("64", signature + right + long + long), ("bare 64", right + long + long),
            ("cut", signature + right + short + short.dropLast()), ("zeros", [UInt8](repeating: 0, count: 16)),
            ("other checksum", signature + RawArchive.little(checksum ^ 1) + short + short),
            ("other size", signature + right + short + RawArchive.little(UInt32(size + 1))),
        ]
        for (what, behind) in forms {
            for isEmpty in [false, true] {
                addEachSide("descriptor \(what), local fields \(isEmpty ? "empty" : "given")") {
                    part, isCentral, isLocal in
                    if isCentral { part.central.put(UInt16(1 << 11 | 1 << 3), at: 8) }
                    if isLocal { part.local.put(UInt16(1 << 11 | 1 << 3), at: 6) }
                    if isEmpty { for field in [14, 18, 22] { part.local.put(UInt32(0), at: field) } }
                    part.behind = behind
                }
            }
        }
    }

    private mutating func compressedData() {
        let deflated = RawArchive.Entry("x", good.parts[Self.chosen].data).deflatedAsIs().data
        for (what, data) in [
            ("whole", deflated), ("longer", deflated + [0]), ("much longer", deflated + noise(20, seed: 1)),
            ("without its end", [deflated[0] & ~1] + deflated.dropFirst()),
        ] {
            add("deflated, \(what)") {
                $0.parts[1].central.put(UInt16(8), at: 10)
                $0.parts[1].local.put(UInt16(8), at: 8)
                $0.parts[1].central.put(UInt32(data.count), at: 20)
                $0.parts[1].local.put(UInt32(data.count), at: 18)
                $0.parts[1].data = data
            }
        }
    }

    private mutating func ends() {
        for comment in [
            [0x63], [0], Array("PK\u{5}\u{6}".utf8), Array("PK\u{5}\u{6}".utf8) + [UInt8](repeating: 0, count: 18),
            Array("PK\u{3}\u{4}".utf8), [UInt8](repeating: 0x78, count: 20_000),
            [UInt8](repeating: 0x78, count: 0xFFFF),
        ] {
            add("archive comment of \(comment.count)") { $0.comment = comment }
        }
        add("bytes in front") { $0.prefix = noise(11, seed: 1) }
        add("bytes in front of ZIP64") { ($0.prefix, $0.hasZIP64) = (noise(11, seed: 1), true) }
        add("a gap before the directory") { $0.parts[$0.parts.count - 1].behind = [1, 2, 3] }
        add("a gap between entries") { $0.parts[1].behind = [1, 2, 3] }
        let count = UInt16(good.parts.count)
        for (name, offset) in [("disk", 4), ("directory's disk", 6), ("entries here", 8), ("entries", 10)] {
            for value in [1, count - 1, count + 1, 0xFFFF] {
                for hasZIP64 in [false, true] {
                    add("end: \(name) \(value)\(hasZIP64 ? ", ZIP64" : "")") {
                        ($0.end[offset], $0.hasZIP64) = (RawArchive.little(value), hasZIP64)
                    }
                }
            }
        }
        for isDeferred in [true, false] {
            let ones: [Int: [UInt8]] = isDeferred ? [8: [UInt8](repeating: 0xFF, count: 12)] : [:]
            add("ZIP64, deferred \(isDeferred)") { ($0.hasZIP64, $0.end) = (true, ones) }
            for (offset, width) in [
                (0, 4), (4, 8), (12, 2), (14, 2), (16, 4), (20, 4), (24, 8), (32, 8), (40, 8), (48, 8),
            ] {
                for change: UInt8 in [1, 0x3F, 0x80] {
                    add("ZIP64 record at \(offset) by \(change), deferred \(isDeferred)") {
                        ($0.hasZIP64, $0.end) = (true, ones)
                        $0.zip64[offset] = Self.field(offset, width, of: $0, 56 + 20 + 22).map { $0 ^ change }
                    }
                }
            }
            for (offset, value) in [(0, 1), (4, 1), (8, 0), (16, 0), (16, 2)] as [(Int, UInt32)] {
                add("locator at \(offset) \(value), deferred \(isDeferred)") {
                    ($0.hasZIP64, $0.end, $0.locator) = (true, ones, [offset: RawArchive.little(value)])
                }
            }
            add("ZIP64 with more data, deferred \(isDeferred)") {
                ($0.hasZIP64, $0.end, $0.zip64More) = (true, ones, noise(6, seed: 2))
            }
        }
    }

    /// The bytes of a field of the record that begins so many bytes before the end of the archive.
    private static func field(_ offset: Int, _ width: Int, of archive: TakenApart, _ fromEnd: Int) -> [UInt8] {
        let bytes = archive.bytes
        let start = bytes.count - fromEnd + offset
        // The lowest byte only, so that a size or an offset is a little wrong and no more.
        return Array(bytes[start..<start + 1])
    }
}
