import CLinux
import Glibc
import ImageWorkerProtocol
import Testing

@testable import PhotoConversion

/// What a worker draws on a page of a contact sheet.
@Suite struct SheetDrawingTests {
    private static let font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

    /// A file in memory.
    private final class Memory {
        let descriptor = clinux_memory_file("test")

        init(_ bytes: [UInt8] = []) {
            _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        }

        deinit { close(descriptor) }

        var bytes: [UInt8] {
            var status = stat()
            fstat(descriptor, &status)
            var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
            _ = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
            return bytes
        }
    }

    /// Draws on a white page, and decodes what came of it.
    private func drawn(_ page: SheetPage, fonts: [Int32] = []) throws -> [UInt8] {
        let paper = Memory([UInt8](repeating: 255, count: page.width * page.height * 3))
        let layout = Memory(try #require(WorkerProtocol.line(page)))
        let (file, pixels) = (Memory(), Memory())
        let converter = PhotoConverter()
        let count = try converter.drawSheet(
            page: paper.descriptor, layout: layout.descriptor, fonts: fonts, into: file.descriptor)
        #expect(file.bytes.count == count)
        let size = PixelSize(width: page.width, height: page.height)
        _ = try converter.pixels(source: file.descriptor, within: size, into: pixels.descriptor)
        return pixels.bytes
    }

    private func page(_ texts: [SheetPage.Text], _ boxes: [SheetPage.Box] = []) -> SheetPage {
        SheetPage(width: 200, height: 100, resolution: 200, format: .png, boxes: boxes, texts: texts)
    }

    /// Columns in which there is anything but paper.
    private func inked(_ rgb: [UInt8]) -> [Int] {
        (0..<200).filter { x in (0..<100).contains { y in rgb[(y * 200 + x) * 3] < 128 } }
    }

    @Test func wordsStandWhereTheyShouldAndEndWithTheirRoom() throws {
        let descriptor = clinux_open(Self.font, O_RDONLY, 0)
        defer { close(descriptor) }
        // On a machine without that font, gd's own letters stand there.
        for fonts in [descriptor < 0 ? [] : [descriptor], []] {
            func columns(_ text: String, _ alignment: SheetPage.Text.Alignment) throws -> [Int] {
                inked(
                    try drawn(
                        page([.init(text, x: 50, baseline: 60, width: 100, size: 24, colour: 0, alignment: alignment)]),
                        fonts: fonts))
            }
            let left = try columns("ab", .left)
            let right = try columns("ab", .right)
            #expect(left.first.map { (48...56).contains($0) } == true && left.last.map { $0 < 100 } == true)
            #expect(right.last.map { (140...152).contains($0) } == true && right.first.map { $0 > 100 } == true)
            // Far too long, and nothing of it stands outside.
            let long = try columns(String(repeating: "Ж漢w\u{1F389}", count: 200), .left)
            #expect(long.count > 40 && long.allSatisfy { (48...152).contains($0) })
        }
    }

    /// A letter that no font has shows as something all the same.
    @Test(arguments: ["漢", "\u{1F389}", "\u{E000}", "é"]) func everyLetterIsSeen(_ letter: String) throws {
        #expect(!inked(try drawn(page([.init(letter, x: 50, baseline: 60, width: 100, size: 32, colour: 0)]))).isEmpty)
    }

    @Test func whatIsOutsideOfThePageIsNotDrawn() throws {
        let boxes = [
            SheetPage.Box(x: -10, y: -10, width: 15, height: 15, colour: 0x00FF00),
            .init(x: 190, y: 90, width: .max, height: .max, colour: 0x00FF00),
            .init(x: .max, y: .max, width: .max, height: .max, colour: 0),
            .init(x: 5, y: 5, width: -4, height: 9, colour: 0),
            .init(x: .min, y: .min, width: .max, height: 5, colour: 0),
        ]
        let texts = [
            SheetPage.Text("x", x: .max, baseline: 5, width: 5, size: 20, colour: 0),
            .init("x", x: 5, baseline: .min, width: 5, size: 20, colour: 0),
            .init("x", x: 5, baseline: 5, width: .max, size: 20, colour: 0),
            .init("x", x: 5, baseline: 50, width: 50, size: .max, colour: 0),
            .init("wide", x: 195, baseline: 99, width: 400, size: 200, colour: 0x00FF00),
        ]
        let rgb = try drawn(page(texts, boxes))
        #expect(rgb.count == 200 * 100 * 3 && rgb[0] == 0 && rgb[1] == 255)
        #expect(rgb[(50 * 200 + 100) * 3] == 255)
    }

    @Test func pagesThatAreNoneAreRefused() throws {
        let converter = PhotoConverter()
        let (file, white) = (Memory(), Memory([UInt8](repeating: 255, count: 300)))
        func layout(_ width: Int, _ height: Int) throws -> Memory {
            Memory(
                try #require(
                    WorkerProtocol.line(SheetPage(width: width, height: height, resolution: 72, format: .jpeg))))
        }
        for layout in [
            Memory(), Memory(Array("{}".utf8)), try layout(0, 100), try layout(.max, .max), try layout(11, 10),
            try layout(SheetPage.mostSide + 1, 1), Memory([UInt8](repeating: 0x20, count: SheetPage.mostBytes + 1)),
        ] {
            #expect(throws: ImagingError.self) {
                try converter.drawSheet(
                    page: white.descriptor, layout: layout.descriptor, fonts: [], into: file.descriptor)
            }
        }
        // What is no font is passed over.
        let good = try layout(10, 10)
        let nonsense = Memory(Array("no font".utf8))
        #expect(
            try converter.drawSheet(
                page: white.descriptor, layout: good.descriptor, fonts: [nonsense.descriptor, Memory().descriptor],
                into: file.descriptor) > 0)
    }
}
