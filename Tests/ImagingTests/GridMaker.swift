import Foundation
import ImageWorkerProtocol
import Testing

@testable import PhotoConversion

/// A picture of tiles as phones write them, here with AV1 in it, and every way to say it wrongly.
struct GridMaker {
    /// One coded picture, and what its container says of it.
    struct Tile {
        var type = "av01"
        var data: [UInt8]
        /// Whole boxes: `av1C` or `hvcC`, `ispe`, `colr`.
        var properties: [[UInt8]]
    }

    var columns = 2
    var rows = 2
    /// What the description of the grid says; nil for all of the tiles.
    var size: PixelSize?
    var tileSize = PixelSize(width: 64, height: 64)
    var tiles: [Tile]
    /// Boxes that belong to the grid, in their order: `irot`, `imir`, `clap`.
    var shown: [[UInt8]] = []
    /// The items that the grid is made from; nil for its tiles, which are numbered from 2.
    var parts: [UInt16]?
    /// What all tiles are said to be, whatever they are.
    var tileType: String?
    /// Items that are made from others too.
    var furtherReferences: [(from: UInt16, to: [UInt16])] = []
    /// Changes the description of the grid.
    var descriptionBytes: Int?
    /// Whether the description stands among the items' data in the file, or in the container.
    var isDescriptionInFile = false

    /// Four tiles in the colours of ``Pictures/quadrants``.
    init() throws {
        tiles = try Pictures.quadrants.map { try Self.tile($0, PixelSize(width: 64, height: 64)) }
    }

    /// A tile of one colour.
    static func tile(_ colour: [Int], _ size: PixelSize) throws -> Tile {
        try tile(of: Array(Pictures.plain(.avif, size, colour)), "av01")
    }

    /// One of 64 x 64 pixels with 10 bits a sample, which gd does not write: one colour, by x265.
    static func deepTile() throws -> Tile {
        let file = try #require(Data(base64Encoded: deepFile.filter { $0 != " " }))
        return try tile(of: Array(file), "hvc1")
    }

    private static let deepFile = """
        AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAUBtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA \
        AA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAFkAAEAAAAAAAAAHAAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEA \
        AGh2YzEAAAAAwGlwcnAAAACiaXBjbwAAAHZodmNDAQQIAAAAAAAAAAAAHvAA/P36+gAADwMgAAEAF0ABDAH//wQIAAADAJ24AAAD \
        AAAeugJAIQABACpCAQEECAAAAwCduAAAAwAAHqAggQTZbqSSmubgQEDAgAAAAwCAAAADAIQiAAEAB0QBwXKwIkAAAAAUaXNwZQAA \
        AAAAAABAAAAAQAAAABBwaXhpAAAAAAMKCgoAAAAWaXBtYQAAAAAAAAABAAEDgQKDAAAAJG1kYXQAAAAYKAGvE4DlM+G///W4or/3 \
        AfV/1LqrVAz8
        """

    /// The picture of a whole file.
    static func tile(of file: [UInt8], _ type: String) throws -> Tile {
        try file.withUnsafeBytes { raw in
            let view = ByteView(raw)
            let container = try HEIFContainer(view)
            let data = try #require(container.content(of: container.primary)).array
            let kept = container.propertiesOfPrimary.filter { ["av1C", "hvcC", "ispe", "colr"].contains($0.type) }
            return Tile(type: type, data: data, properties: kept.map { Self.box($0.type, $0.body.array) })
        }
    }

    static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        let body = parts.flatMap { $0 }
        return big32(UInt32(8 + body.count)) + Array(type.utf8) + body
    }

    static func turned(_ quarters: UInt8) -> [UInt8] { box("irot", [quarters]) }
    static func mirrored(_ axis: UInt8) -> [UInt8] { box("imir", [axis]) }

    /// So many pixels, their middle so far from the picture's.
    static func cropped(_ size: PixelSize, right: Int = 0, down: Int = 0) -> [UInt8] {
        let numbers = [size.width, 1, size.height, 1, right, 1, down, 1]
        return box("clap", numbers.flatMap { big32(UInt32(bitPattern: Int32($0))) })
    }

    private static func big16(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }

    private static func big32(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    private static func full(_ type: String, _ parts: [UInt8]..., version: UInt8 = 0, flags: UInt8 = 0) -> [UInt8] {
        box(type, [version, 0, 0, flags] + parts.flatMap { $0 })
    }

    func file() -> [UInt8] {
        let type = Self.box("ftyp", Array("avif\0\0\0\0mif1avif".utf8))
        let whole = size ?? PixelSize(width: columns * tileSize.width, height: rows * tileSize.height)
        let description = Array(
            ([0, 1, UInt8(rows - 1), UInt8(columns - 1)] + Self.big32(UInt32(whole.width))
                + Self.big32(UInt32(whole.height))).prefix(descriptionBytes ?? 12))
        let meta = container(whole, description, dataAt: 0)
        let data = tiles.flatMap(\.data) + description
        return type + container(whole, description, dataAt: type.count + meta.count + 8) + Self.box("mdat", data)
    }

    private func container(_ whole: PixelSize, _ description: [UInt8], dataAt start: Int) -> [UInt8] {
        let ids = tiles.indices.map { UInt16($0 + 2) }
        func item(_ id: UInt16, _ type: String, isHidden: Bool) -> [UInt8] {
            Self.full(
                "infe", Self.big16(Int(id)) + [0, 0] + Array(type.utf8) + [0], version: 2, flags: isHidden ? 1 : 0)
        }
        let items =
            [item(1, "grid", isHidden: false)] + zip(ids, tiles).map { item($0, tileType ?? $1.type, isHidden: true) }
        let references = [(from: UInt16(1), to: parts ?? ids)] + furtherReferences
        let made = references.map { reference in
            Self.box(
                "dimg", Self.big16(Int(reference.from)) + Self.big16(reference.to.count),
                reference.to.flatMap { Self.big16(Int($0)) })
        }
        // The grid's own properties, and then those of each tile.
        var properties = [
            Self.full("ispe", Self.big32(UInt32(whole.width)) + Self.big32(UInt32(whole.height)))
        ]
        properties += shown
        var associations = Self.big16(1) + [UInt8(properties.count)] + properties.indices.map { UInt8($0 + 1) }
        for (id, tile) in zip(ids, tiles) {
            let first = properties.count + 1
            properties += tile.properties
            associations +=
                Self.big16(Int(id)) + [UInt8(tile.properties.count)]
                + tile.properties.indices.map { UInt8(first + $0) }
        }
        var locations = Self.big16(1) + Self.big16(isDescriptionInFile ? 0 : 1)
        let dataCount = tiles.reduce(0) { $0 + $1.data.count }
        locations += [0, 0, 0, 1] + Self.big32(UInt32(isDescriptionInFile ? start + dataCount : 0))
        locations += Self.big32(UInt32(description.count))
        var place = start
        for (id, tile) in zip(ids, tiles) {
            locations += Self.big16(Int(id)) + [0, 0, 0, 0, 0, 1] + Self.big32(UInt32(place))
            locations += Self.big32(UInt32(tile.data.count))
            place += tile.data.count
        }
        return Self.full(
            "meta", Self.full("hdlr", [0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13)),
            Self.full("pitm", Self.big16(1)), Self.full("iinf", Self.big16(items.count) + items.flatMap { $0 }),
            Self.full("iref", made.flatMap { $0 }),
            Self.box(
                "iprp", Self.box("ipco", properties.flatMap { $0 }),
                Self.full("ipma", Self.big32(UInt32(items.count)) + associations)),
            Self.box("idat", description),
            Self.full("iloc", [0x44, 0] + Self.big16(items.count) + locations, version: 1))
    }
}
