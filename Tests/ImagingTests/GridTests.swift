import Foundation
import ImageWorkerProtocol
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Pictures of tiles, decoded a row of tiles at a time.
@Suite struct GridTests {
    private func grid(_ file: [UInt8]) throws -> HEIFGrid? {
        try file.withUnsafeBytes { try HEIFGrid(HEIFContainer(ByteView($0))) }
    }

    @Test(arguments: [false, true])
    func tilesAreOnePicture(_ isDescriptionInFile: Bool) throws {
        var maker = try GridMaker()
        maker.isDescriptionInFile = isDescriptionInFile
        let found = try #require(try grid(maker.file()), "no tile would be decoded by itself")
        #expect(found.tiles == [2, 3, 4, 5] && found.flags.count == 4 && found.orientation == .upright)
        let folder = try TemporaryFolder("grid")
        let converted = try convertHere(maker.file(), folder)
        #expect(converted.width == 128 && converted.height == 128 && converted.sourceMediaType == "image/avif")
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(seen.quadrants, Pictures.quadrants) <= 8)
    }

    /// The last tiles reach beyond the picture, as they do on every phone.
    @Test func whatReachesBeyondThePictureIsNotSeen() throws {
        var maker = try GridMaker()
        maker.size = PixelSize(width: 67, height: 65)
        let folder = try TemporaryFolder("grid")
        let converted = try convertHere(maker.file(), folder)
        #expect(converted.width == 67 && converted.height == 65)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference([seen.quadrants[0]], [Pictures.quadrants[0]]) <= 8)
    }

    /// By turns to the left and mirrors, in both orders: where each quadrant is seen.
    @Test(
        arguments: [
            ([GridMaker.turned(1)], [1, 3, 0, 2]), ([GridMaker.turned(2)], [3, 2, 1, 0]),
            ([GridMaker.turned(3)], [2, 0, 3, 1]), ([GridMaker.mirrored(1)], [1, 0, 3, 2]),
            ([GridMaker.mirrored(0)], [2, 3, 0, 1]),
            ([GridMaker.turned(1), GridMaker.mirrored(1)], [3, 1, 2, 0]),
            ([GridMaker.mirrored(1), GridMaker.turned(1)], [0, 2, 1, 3]),
            ([GridMaker.turned(1), GridMaker.mirrored(0)], [0, 2, 1, 3]),
            ([GridMaker.turned(3), GridMaker.turned(3), GridMaker.turned(3)], [1, 3, 0, 2]),
        ] as [([[UInt8]], [Int])])
    func theContainerTurnsIt(_ shown: [[UInt8]], _ expected: [Int]) throws {
        var maker = try GridMaker()
        maker.shown = shown
        // Not square, so that a swap of the sides shows.
        maker.size = PixelSize(width: 128, height: 120)
        let swaps = shown.filter { $0.starts(with: GridMaker.turned(1).dropLast()) && $0.last == 1 }.count % 2 == 1
        let isTurned = swaps || shown.count { $0.last == 3 } % 2 == 1
        #expect(try grid(maker.file()) != nil)
        let folder = try TemporaryFolder("turned-grid")
        let converted = try convertHere(maker.file(), folder)
        #expect(converted.width == (isTurned ? 120 : 128) && converted.height == (isTurned ? 128 : 120))
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(seen.quadrants, expected.map { Pictures.quadrants[$0] }) <= 20)
    }

    @Test func deepTilesAreOnePicture() throws {
        var maker = try GridMaker()
        maker.tiles = try Array(repeating: GridMaker.deepTile(), count: 4)
        #expect(try grid(maker.file()) != nil)
        let folder = try TemporaryFolder("deep-grid")
        _ = try convertHere(maker.file(), folder)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(Pictures.difference(seen.quadrants, Array(repeating: [50, 70, 200], count: 4)) <= 8)
    }

    @Test func theContainerCropsIt() throws {
        var maker = try GridMaker()
        // The bottom right tile and 6 columns of the one beside it; then turned.
        maker.shown = [GridMaker.cropped(PixelSize(width: 70, height: 64), right: 29, down: 32), GridMaker.turned(1)]
        let found = try #require(try grid(maker.file()))
        #expect(found.window == .init(left: 58, top: 64, size: PixelSize(width: 70, height: 64)))
        let folder = try TemporaryFolder("cropped-grid")
        let converted = try convertHere(maker.file(), folder)
        #expect(converted.width == 64 && converted.height == 70)
        let seen = try Pictures.look(atJPEG: folder.file("photo"))
        let last = Pictures.quadrants[3]
        #expect(Pictures.difference(Array(seen.quadrants.prefix(2)), [last, last]) <= 8)
    }

    /// What libheif makes of the whole picture, pixel by pixel, is what comes of the tiles.
    @Test func tilesAreDecodedAsTheWholePictureIs() throws {
        let maker = try GridMaker()
        func thumbnail(_ file: [UInt8]) throws -> Data {
            let folder = try TemporaryFolder("whole-grid")
            _ = try convertHere(file, folder)
            return try folder.bytes("photo")
        }
        // An item that lies in two pieces is libheif's to read.
        let whole = Self.describedInTwoPieces(maker.file())
        #expect(try grid(whole) == nil)
        #expect(try thumbnail(whole) == thumbnail(maker.file()))
    }

    /// The first item of `iloc`, the grid's description, as two extents of 8 and 4 bytes.
    private static func describedInTwoPieces(_ file: [UInt8]) -> [UInt8] {
        var bytes = file
        func place(_ type: String) -> Int {
            bytes.indices.dropLast(4).first { bytes[$0..<$0 + 4].elementsEqual(type.utf8) } ?? 0
        }
        func lengthen(_ type: String) {
            let at = place(type) - 4
            let length = (0..<4).reduce(0) { $0 << 8 | Int(bytes[at + $1]) } + 8
            for index in 0..<4 { bytes[at + index] = UInt8(length >> (24 - 8 * index) & 255) }
        }
        // Its entry: item 1, in the container's data, no other file, one extent.
        let entry = place("iloc") + 4 + 8
        bytes[entry + 7] = 2
        bytes[entry + 15] = 8
        bytes.insert(contentsOf: [0, 0, 0, 8, 0, 0, 0, 4], at: entry + 16)
        lengthen("iloc")
        lengthen("meta")
        // What follows the container is 8 bytes further on.
        for item in 0..<4 {
            let offset = entry + 24 + item * 16 + 8
            let moved = (0..<4).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) } + 8
            for index in 0..<4 { bytes[offset + index] = UInt8(moved >> (24 - 8 * index) & 255) }
        }
        return bytes
    }

    /// Each through a real worker, which says so itself.
    @Test func gridsThatContradictThemselvesAreRefused() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        for (name, change) in Self.lies {
            var maker = try GridMaker()
            try change(&maker)
            let folder = try TemporaryFolder("hostile-grid")
            do {
                _ = try await convert(pool, folder.write(maker.file()), folder)
                Issue.record("\(name): taken")
            } catch {
                switch error as? ImagingError {
                case .damaged, .needsMemory, .tooLarge: break
                default: Issue.record("\(name): \(error)")
                }
            }
        }
        #expect(pool.statistics.crashed == 0)
        await pool.shutDown()
    }

    static let lies: [(String, @Sendable (inout GridMaker) throws -> Void)] = [
        ("a tile too few", { $0.parts = [2, 3, 4] }), ("a tile too many", { $0.parts = [2, 3, 4, 5, 5] }),
        ("no tiles", { $0.parts = [] }), ("a tile that is not there", { $0.parts = [2, 3, 4, 99] }),
        ("a grid of itself", { $0.parts = [1, 1, 1, 1] }),
        ("a grid with itself as a tile", { $0.parts = [2, 3, 4, 1] }),
        ("tiles that are grids", { $0.tileType = "grid" }), ("tiles that are copies", { $0.tileType = "iden" }),
        (
            "tiles that are made from the grid",
            {
                $0.tileType = "iden"
                $0.furtherReferences = [(2, [1]), (3, [2]), (4, [3]), (5, [4])]
            }
        ),
        ("coded tiles that are said to be made from the grid", { $0.furtherReferences = [(2, [1])] }),
        ("tiles that do not cover it", { $0.size = PixelSize(width: 129, height: 128) }),
        ("60,000 x 60,000 pixels", { $0.size = PixelSize(width: 60_000, height: 60_000) }),
        ("4,294,967,295 pixels of width", { $0.size = PixelSize(width: 0xFFFF_FFFF, height: 8) }),
        ("no pixels", { $0.size = PixelSize(width: 0, height: 0) }),
        ("a description that is cut off", { $0.descriptionBytes = 7 }),
        ("another tile's size", { $0.tiles[3] = try GridMaker.tile([1, 2, 3], PixelSize(width: 32, height: 64)) }),
        ("a tile of more bits than the first", { $0.tiles[3] = try GridMaker.deepTile() }),
        ("a tile of fewer bits than the first", { $0.tiles[0] = try GridMaker.deepTile() }),
        ("a tile without data", { $0.tiles[3].data = [] }),
        ("a tile that breaks off", { $0.tiles[2].data.removeLast(9) }),
        (
            "a tile that is larger than it says",
            { $0.tiles[1].data = try GridMaker.tile([1, 2, 3], PixelSize(width: 128, height: 64)).data }
        ),
    ]

    @Test func turnsAddUp() {
        let all = (1...8).map { Orientation(exif: $0) }
        for first in all {
            #expect(first.followed(by: .upright) == first && Orientation.upright.followed(by: first) == first)
            #expect(Set(all.map { first.followed(by: $0).rawValue }).count == 8, "every one of them can be had")
            for second in all {
                #expect(first.followed(by: second).swapsSides == (first.swapsSides != second.swapsSides))
            }
        }
        #expect(Orientation.turnedLeft.followed(by: .turnedLeft) == .turned180)
        #expect(Orientation.turnedLeft.followed(by: .turnedRight) == .upright)
        #expect(Orientation.mirrored.followed(by: .turnedLeft) == .transposed)
    }
}
