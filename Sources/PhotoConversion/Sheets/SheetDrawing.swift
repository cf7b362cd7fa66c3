import CCell
import CGD
import Glibc
import ImageWorkerProtocol

extension PhotoConverter {
    /// Draws over a page of plain pixels and makes a file of it.
    /// - Parameters:
    ///   - page: rows from the top, red, green and blue in a byte each.
    ///   - layout: what to draw, as JSON.
    ///   - fonts: the machine's, in the order in which they are asked for a letter.
    /// - Returns: the bytes of the file.
    func drawSheet(
        page: Int32, layout: Int32, fonts: [Int32], into target: Int32
    ) throws(ImagingError) -> Int {
        let drawing = try SheetFile.read(layout, most: SheetPage.mostBytes)
        guard let sheet: SheetPage = WorkerProtocol.read(drawing),
            (1...SheetPage.mostSide).contains(sheet.width), (1...SheetPage.mostSide).contains(sheet.height)
        else { throw .io("a page that cannot be drawn") }
        let canvas = try SheetCanvas(sheet, pixels: SheetFile.read(page, most: sheet.width * sheet.height * 3))
        for box in sheet.boxes { canvas.fill(box) }
        let letters = Letters(fonts: fonts)
        for text in sheet.texts { canvas.draw(text, letters) }
        return try canvas.write(to: target)
    }
}

/// A page in gd's memory.
private final class SheetCanvas {
    private static let jpegQuality: Int32 = 92

    private let image: gdImagePtr
    private let sheet: SheetPage

    init(_ sheet: SheetPage, pixels: [UInt8]) throws(ImagingError) {
        cgd_be_quiet()
        guard pixels.count == sheet.width * sheet.height * 3 else { throw .io("a page of another size") }
        guard let image = gdImageCreateTrueColor(Int32(sheet.width), Int32(sheet.height)) else { throw .lackOfMemory }
        self.image = image
        self.sheet = sheet
        for y in 0..<sheet.height {
            guard let line = image.pointee.tpixels[y] else { continue }
            for x in 0..<sheet.width {
                let at = (y &* sheet.width &+ x) &* 3
                line[x] = Int32(pixels[at]) << 16 | Int32(pixels[at + 1]) << 8 | Int32(pixels[at + 2])
            }
        }
    }

    deinit { gdImageDestroy(image) }

    func fill(_ box: SheetPage.Box) {
        let columns = Self.overlap(box.x, box.width, sheet.width)
        for y in Self.overlap(box.y, box.height, sheet.height) {
            guard let line = image.pointee.tpixels[y] else { continue }
            for x in columns { line[x] = Int32(box.colour & 0xFFFFFF) }
        }
    }

    private static func overlap(_ start: Int, _ length: Int, _ limit: Int) -> Range<Int> {
        let first = min(max(0, start), limit)
        let (end, overflow) = start.addingReportingOverflow(length)
        return first..<max(first, min(overflow ? limit : end, limit))
    }

    // MARK: Texts

    func draw(_ text: SheetPage.Text, _ letters: Letters) {
        guard SheetPage.textSizes.contains(text.size), (0...SheetPage.mostSide).contains(text.width),
            (0...SheetPage.mostSide).contains(text.x), (0...SheetPage.mostSide).contains(text.baseline)
        else { return }
        let line = fitting(Array(text.text.unicodeScalars), text, letters)
        let length = line.reduce(0) { $0 + $1.advance }
        var pen =
            switch text.alignment {
            case .left: text.x
            case .centre: text.x + max(0, text.width - length) / 2
            case .right: text.x + max(0, text.width - length)
            }
        for letter in line {
            blend(letter, x: pen + letter.left, y: text.baseline - letter.top, text)
            pen += letter.advance
        }
    }

    /// All letters, or so many that an ellipsis fits behind them.
    private func fitting(
        _ scalars: [Unicode.Scalar], _ text: SheetPage.Text, _ letters: Letters
    ) -> [Letters.Letter] {
        var line: [Letters.Letter] = []
        var length = 0
        for scalar in scalars {
            let letter = letters.letter(scalar, size: text.size)
            line.append(letter)
            length += letter.advance
            guard length > text.width else { continue }
            let ellipsis = letters.letter("…", size: text.size)
            while let last = line.last, length + ellipsis.advance > text.width {
                length -= last.advance
                line.removeLast()
            }
            return line + [ellipsis]
        }
        return line
    }

    private func blend(_ letter: Letters.Letter, x left: Int, y top: Int, _ text: SheetPage.Text) {
        for row in 0..<letter.height {
            let y = top + row
            guard (0..<sheet.height).contains(y), let line = image.pointee.tpixels[y] else { continue }
            for column in 0..<letter.width {
                let x = left + column
                let shade = UInt32(letter.shades[row * letter.width + column])
                // What leans out of its room is cut there: beside it is another photo's.
                guard shade > 0, (0..<sheet.width).contains(x), x >= text.x - 2, x < text.x + text.width + 2 else {
                    continue
                }
                line[x] = Int32(Self.mix(UInt32(line[x]), text.colour, shade))
            }
        }
    }

    /// - Parameter shade: 0 for the paper, 255 for the ink.
    private static func mix(_ paper: UInt32, _ ink: UInt32, _ shade: UInt32) -> UInt32 {
        func channel(_ shift: UInt32) -> UInt32 {
            (((paper >> shift & 0xFF) * (255 - shade) + (ink >> shift & 0xFF) * shade + 127) / 255) << shift
        }
        return channel(16) | channel(8) | channel(0)
    }

    // MARK: The file

    func write(to target: Int32) throws(ImagingError) -> Int {
        let resolution = UInt32(min(max(36, sheet.resolution), 2400))
        gdImageSetResolution(image, resolution, resolution)
        var count: Int32 = 0
        let bytes =
            switch sheet.format {
            case .jpeg: gdImageJpegPtr(image, &count, Self.jpegQuality)
            case .png: gdImagePngPtrEx(image, &count, 6)
            }
        guard let bytes else { throw .lackOfMemory }
        defer { gdFree(bytes) }
        try Output(target).write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        return Int(count)
    }
}

/// Files that the daemon made in memory.
enum SheetFile {
    static func read(_ descriptor: Int32, most: Int) throws(ImagingError) -> [UInt8] {
        var status = stat()
        guard ccell_status(descriptor, &status) == 0, (1...most).contains(Int(status.st_size)) else {
            throw .io("a page that cannot be read")
        }
        let size = Int(status.st_size)
        var done = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while done < size {
                guard let base = buffer.baseAddress else { break }
                let part = pread(descriptor, base + done, size - done, off_t(done))
                if part < 0 && errno == EINTR { continue }
                guard part > 0 else { break }
                done += part
            }
            count = done
        }
        guard done == size else { throw .io("a page that cannot be read") }
        return bytes
    }
}
