@testable import PhotoConversion

/// A DNG, not compressed: a mosaic of red, green, green, blue, in which each quadrant has one colour; with JPEGs inside
/// or without.
struct DNGMaker {
    var size = PixelSize(width: 64, height: 48)
    /// What the main directory says of the samples' size, where that is not true.
    var said: PixelSize?
    var orientation = 1
    /// In the main directory; the mosaic's own is below it then.
    var preview: [UInt8]?
    /// In a directory of its own, below the main one.
    var further: [UInt8]?
    var make = "SmilePile"
    var compression = 1
    var isDNG = true

    func file() -> [UInt8] {
        let samples = samples()
        var places = Places()
        var bytes: [UInt8] = []
        // Once for the places of what stands behind, once with them.
        for _ in 0..<2 {
            let mosaic = mosaic(at: places.samples, samples.count)
            let links = (preview == nil ? [] : [places.mosaic]) + (further == nil ? [] : [places.further])
            var main = camera(links)
            if let preview {
                main += [
                    .long(0x00FE, 1), .long(0x0100, 1600), .long(0x0101, 1200), .short(0x0103, 7), .short(0x0106, 6),
                    .long(0x0111, places.preview), .short(0x0115, 3), .long(0x0117, preview.count),
                ]
            } else {
                main += mosaic
            }
            bytes = ExifMaker.block(
                main: main, photo: [.text(0x9003, "2019:06:12 14:05:33"), .text(0x9011, "+02:00")])
            places.mosaic = bytes.count
            if preview != nil { ExifMaker.append(mosaic.sorted { $0.tag < $1.tag }, next: 0, to: &bytes) }
            places.further = bytes.count
            if let further {
                ExifMaker.append(
                    [
                        .long(0x00FE, 1), .short(0x0103, 6), .long(0x0201, places.furtherData),
                        .long(0x0202, further.count),
                    ],
                    next: 0, to: &bytes)
            }
            for (place, content) in [
                (\Places.samples, samples), (\Places.preview, preview ?? []), (\Places.furtherData, further ?? []),
            ] {
                places[keyPath: place] = bytes.count
                bytes += content
            }
        }
        return bytes
    }

    private struct Places {
        var mosaic = 0
        var further = 0
        var samples = 0
        var preview = 0
        var furtherData = 0
    }

    private func camera(_ links: [Int]) -> [ExifMaker.Entry] {
        // Of linear sRGB, so that the sensor's colours are the screen's.
        let matrix = [3.2406, -1.5372, -0.4986, -0.9689, 1.8758, 0.0415, 0.0557, -0.2040, 1.0570]
        var entries: [ExifMaker.Entry] = [
            .text(0x010F, make), .text(0x0110, "Test Camera"), .short(0x0112, orientation),
            .init(
                tag: 0xC621, type: 10, count: 9,
                data: matrix.flatMap { ExifMaker.bytes32(Int($0 * 10_000)) + ExifMaker.bytes32(10_000) }),
            .fractions(0xC628, [(1, 1), (1, 1), (1, 1)]), .short(0xC65A, 21),
        ]
        if isDNG {
            entries += [
                .init(tag: 0xC612, type: 1, count: 4, data: [1, 4, 0, 0]), .text(0xC614, "SmilePile Test Camera"),
            ]
        }
        if !links.isEmpty {
            entries.append(
                .init(tag: 0x014A, type: 4, count: UInt32(links.count), data: links.flatMap(ExifMaker.bytes32)))
        }
        return entries
    }

    private func mosaic(at place: Int, _ count: Int) -> [ExifMaker.Entry] {
        let said = said ?? size
        return [
            .long(0x00FE, 0), .long(0x0100, said.width), .long(0x0101, said.height), .short(0x0102, 16),
            .short(0x0103, compression), .short(0x0106, 32_803), .long(0x0111, place), .short(0x0115, 1),
            .long(0x0116, said.height), .long(0x0117, count), .short(0x011C, 1),
            .init(tag: 0x828D, type: 3, count: 2, data: [0, 2, 0, 2]),
            .init(tag: 0x828E, type: 1, count: 4, data: [0, 1, 1, 2]), .short(0xC61A, 0), .long(0xC61D, Self.white),
        ]
    }

    private static let white = 16_000

    /// Of each quadrant's colour as light.
    private func samples() -> [UInt8] {
        func light(_ value: Int) -> Int {
            let part = Double(value) / 255
            var power = (part + 0.055) / 1.055
            // To 2.4, without a library for it: near enough to 2.5 less a little.
            power = power * power * (0.4 * power + 0.6)
            return Int((part <= 0.04045 ? part / 12.92 : power) * Double(Self.white))
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.pixels * 2)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let colour = Pictures.quadrants[(y < size.height / 2 ? 0 : 2) + (x < size.width / 2 ? 0 : 1)]
                bytes += ExifMaker.bytes16(light(colour[y % 2 + x % 2]))
            }
        }
        return bytes
    }
}
