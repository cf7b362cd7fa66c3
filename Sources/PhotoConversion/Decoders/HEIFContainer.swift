import ImageWorkerProtocol

/// What a HEIC or AVIF says of how its primary picture is put together (ISO/IEC 23008-12): its items, what they are made
/// from, and how the picture is cropped and turned. Nothing is decoded.
///
/// Beside libheif's own reading, because that decodes a picture of tiles only as a whole. Everything is bounded by the
/// bytes that are there; what this does not know is left to libheif.
struct HEIFContainer {
    typealias ItemID = UInt32

    struct Item {
        var type: String
        /// Where its flags stand in the file, the lowest of which says that it is hidden.
        var flags: Int
    }

    private(set) var primary: ItemID = 0
    private(set) var items: [ItemID: Item] = [:]
    /// What an item is derived from, in order.
    private(set) var parts: [ItemID: [ItemID]] = [:]
    /// Items that belong to another, as its opacity does.
    private(set) var auxiliaries: [ItemID: [ItemID]] = [:]
    private var locations: [ItemID: Extent] = [:]
    /// Bodies of the properties, by type, in the file's order.
    private var properties: [(type: String, body: ByteView)] = []
    /// The primary picture's properties: places in ``properties``, from 1.
    private var primaryProperties: [Int] = []
    private var itemData = ByteView(UnsafeRawBufferPointer(start: nil, count: 0))
    private let bytes: ByteView

    /// One stretch of bytes, in the file or in the container's own item data.
    private struct Extent {
        var isInItemData: Bool
        var offset: Int
        var count: Int
    }

    /// - Throws: ``ImagingError/damaged(_:)`` where pictures are made from each other in a ring.
    init(_ bytes: ByteView) throws(ImagingError) {
        self.bytes = bytes
        let metas = BoxList(bytes).filter { $0.type == "meta" }
        // Which of several counts is anybody's guess.
        guard metas.count == 1, let meta = metas.first else { return }
        // Properties belong to the primary picture, so that has to be known first.
        let boxes = Array(BoxList(meta.body.part(from: 4), at: meta.start + 4))
        for box in boxes where box.type == "pitm" {
            primary = box.version == 0 ? UInt32(box.body.bigEndian16(at: 4)) : box.body.bigEndian32(at: 4)
        }
        for box in boxes {
            switch box.type {
            case "iinf": readItems(box)
            case "iref": readReferences(box)
            case "iprp": readProperties(box)
            case "iloc": readLocations(box)
            case "idat": itemData = box.body
            default: break
            }
        }
        try refuseRings()
    }

    /// The properties of the primary picture in the order in which they apply.
    var propertiesOfPrimary: [(type: String, body: ByteView)] {
        primaryProperties.compactMap { properties.indices.contains($0 - 1) ? properties[$0 - 1] : nil }
    }

    /// The content of an item that lies in one piece; nil of others.
    func content(of item: ItemID) -> ByteView? {
        guard let extent = locations[item] else { return nil }
        let whole = extent.isInItemData ? itemData : bytes
        guard extent.offset >= 0, extent.offset <= whole.count else { return nil }
        return whole.part(from: extent.offset, count: extent.count == 0 ? .max : extent.count)
    }

    // MARK: Boxes

    private mutating func readItems(_ box: Box) {
        let entries = box.version == 0 ? 6 : 8
        for entry in BoxList(box.body.part(from: entries), at: box.start + entries) where entry.type == "infe" {
            guard entry.version >= 2 else { continue }
            let isWide = entry.version > 2
            let item = isWide ? entry.body.bigEndian32(at: 4) : UInt32(entry.body.bigEndian16(at: 4))
            guard items[item] == nil else { continue }
            items[item] = Item(
                type: entry.body.text(at: isWide ? 10 : 8, count: 4), flags: entry.start + 3)
        }
    }

    private mutating func readReferences(_ box: Box) {
        for reference in BoxList(box.body.part(from: 4), at: box.start + 4) {
            guard reference.type == "dimg" || reference.type == "auxl" else { continue }
            let width = box.version == 0 ? 2 : 4
            func item(_ offset: Int) -> ItemID {
                width == 2
                    ? UInt32(reference.body.bigEndian16(at: offset)) : reference.body.bigEndian32(at: offset)
            }
            let count = min(
                Int(reference.body.bigEndian16(at: width)), max(0, reference.body.count - width - 2) / width)
            let targets = (0..<count).map { item(width + 2 + $0 * width) }
            if reference.type == "dimg" {
                // The first one, as libheif takes it.
                if parts[item(0)] == nil { parts[item(0)] = targets }
            } else {
                for target in targets { auxiliaries[target, default: []].append(item(0)) }
            }
        }
    }

    private mutating func readProperties(_ box: Box) {
        for part in BoxList(box.body, at: box.start) {
            if part.type == "ipco", properties.isEmpty {
                properties = BoxList(part.body, at: part.start).map { ($0.type, $0.body) }
            } else if part.type == "ipma" {
                readAssociations(part)
            }
        }
    }

    private mutating func readAssociations(_ box: Box) {
        let isWide = box.flags & 1 != 0
        var offset = 8
        for _ in 0..<box.body.bigEndian32(at: 4) {
            guard offset < box.body.count else { return }
            let item = box.version == 0 ? UInt32(box.body.bigEndian16(at: offset)) : box.body.bigEndian32(at: offset)
            offset += box.version == 0 ? 2 : 4
            let count = Int(box.body[offset])
            offset += 1
            if item == primary, primaryProperties.isEmpty {
                primaryProperties = (0..<count).map { index in
                    isWide
                        ? Int(box.body.bigEndian16(at: offset + index * 2) & 0x7FFF)
                        : Int(box.body[offset + index] & 0x7F)
                }
            }
            offset += isWide ? count * 2 : count
        }
    }

    private mutating func readLocations(_ box: Box) {
        let body = box.body
        let widths = [
            Int(body[4] >> 4), Int(body[4] & 15), Int(body[5] >> 4), box.version == 0 ? 0 : Int(body[5] & 15),
        ]
        guard widths.allSatisfy({ [0, 4, 8].contains($0) }) else { return }
        let isWide = box.version > 1
        var offset = isWide ? 10 : 8
        func number(_ width: Int) -> Int {
            defer { offset += width }
            switch width {
            case 4: return Int(body.bigEndian32(at: offset))
            case 8:
                let value = UInt64(body.bigEndian32(at: offset)) << 32 | UInt64(body.bigEndian32(at: offset + 4))
                return Int(clamping: value)
            default: return 0
            }
        }
        for _ in 0..<(isWide ? body.bigEndian32(at: 6) : UInt32(body.bigEndian16(at: 6))) {
            guard offset < body.count else { return }
            let item = isWide ? body.bigEndian32(at: offset) : UInt32(body.bigEndian16(at: offset))
            offset += isWide ? 4 : 2
            var method: UInt16 = 0
            if box.version > 0 {
                method = body.bigEndian16(at: offset) & 15
                offset += 2
            }
            // Which other file it may be in.
            offset += 2
            let base = number(widths[2])
            let extents = Int(body.bigEndian16(at: offset))
            offset += 2
            guard extents == 1, method < 2, locations[item] == nil else {
                offset += extents * (widths[3] + widths[0] + widths[1])
                continue
            }
            _ = number(widths[3])
            let (place, overflows) = base.addingReportingOverflow(number(widths[0]))
            let count = number(widths[1])
            if !overflows { locations[item] = Extent(isInItemData: method == 1, offset: place, count: count) }
        }
    }

    // MARK: Rings

    /// More pictures than this are never decoded for one: a grid has 65,536 tiles at most.
    private static let mostDecoded = 70_000
    /// Pictures made from pictures made from pictures.
    private static let deepest = 16

    /// Refuses what would be decoded without end, which libheif does not notice before its stack is full.
    private func refuseRings() throws(ImagingError) {
        var counted: [ItemID: Int] = [:]
        _ = try decodings(of: primary, depth: 0, &counted)
    }

    /// How many pictures are decoded for `item`.
    private func decodings(of item: ItemID, depth: Int, _ counted: inout [ItemID: Int]) throws(ImagingError) -> Int {
        if let known = counted[item] { return known }
        guard depth <= Self.deepest else { throw .damaged("its pictures are made from each other without end") }
        var sum = 1
        for part in (parts[item] ?? []) + (auxiliaries[item] ?? []) {
            sum += try decodings(of: part, depth: depth + 1, &counted)
            guard sum <= Self.mostDecoded else { throw .damaged("its picture is made from too many others") }
        }
        counted[item] = sum
        return sum
    }
}

/// One box of an ISO base media file.
struct Box {
    let type: String
    let body: ByteView
    /// Where ``body`` begins in the file.
    let start: Int

    /// Of a box that has them: its first four bytes.
    var version: UInt8 { body[0] }
    var flags: UInt32 { body.bigEndian32(at: 0) & 0xFF_FFFF }
}

/// The boxes that follow each other in some bytes, up to the first that cannot be one.
struct BoxList: Sequence, IteratorProtocol {
    private let bytes: ByteView
    private let start: Int
    private var offset = 0

    init(_ bytes: ByteView, at start: Int = 0) {
        self.bytes = bytes
        self.start = start
    }

    mutating func next() -> Box? {
        guard offset + 8 <= bytes.count else { return nil }
        var header = 8
        var length = Int(bytes.bigEndian32(at: offset))
        if length == 1 {
            guard bytes.bigEndian32(at: offset + 8) == 0 else { return nil }
            length = Int(bytes.bigEndian32(at: offset + 12))
            header = 16
        } else if length == 0 {
            length = bytes.count - offset
        }
        guard length >= header else { return nil }
        defer { offset += length }
        return Box(
            type: bytes.text(at: offset + 4, count: 4),
            body: bytes.part(from: offset + header, count: length - header), start: start + offset + header)
    }
}
