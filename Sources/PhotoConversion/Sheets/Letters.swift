import CCell
import CFreeType
import CGD
import Glibc
import ImageWorkerProtocol

/// Letters of any size as shades, 0 for paper and 255 for ink.
///
/// From the fonts that came with the request, which are the machine's own and of any script; a character that none of them has
/// gets the first one's sign for that. Where no font came: the letters that are built into gd, which are those of ASCII, and a
/// question mark for all else. Letters are set one after the other, from left to right: no ligatures, no joining.
final class Letters {
    struct Letter {
        var shades: [UInt8] = []
        var width = 0
        var height = 0
        /// From the pen to the left edge, and from the line up to the upper one.
        var left = 0
        var top = 0
        /// How far the pen goes on.
        var advance = 0
    }

    private struct Key: Hashable {
        let scalar: UInt32
        let size: Int
    }

    private let fonts: [UnsafeMutablePointer<cfreetype_font>]
    private var drawn: [Key: Letter] = [:]

    /// - Parameter descriptors: of the fonts, which have to be open as long as this lives. What is none is passed over.
    init(fonts descriptors: [Int32]) {
        fonts = descriptors.compactMap { descriptor in
            var status = stat()
            guard ccell_status(descriptor, &status) == 0, status.st_size > 0 else { return nil }
            return cfreetype_open(descriptor, UInt(status.st_size))
        }
    }

    deinit { for font in fonts { cfreetype_close(font) } }

    func letter(_ scalar: Unicode.Scalar, size: Int) -> Letter {
        let key = Key(scalar: scalar.value, size: size)
        if let letter = drawn[key] { return letter }
        let letter = fonts.isEmpty ? Self.builtIn(scalar, size) : fromFont(scalar, size)
        drawn[key] = letter
        return letter
    }

    private func fromFont(_ scalar: Unicode.Scalar, _ size: Int) -> Letter {
        let font = fonts.first { cfreetype_has($0, scalar.value) != 0 } ?? fonts[0]
        var found = cfreetype_letter()
        guard cfreetype_letter(font, scalar.value, UInt32(size), &found) == 0 else {
            // A letter that is a coloured picture, in a font of such.
            return scalar == "\u{FFFD}" ? Letter(advance: size / 2) : fromFont("\u{FFFD}", size)
        }
        var letter = Letter(
            width: Int(found.width), height: Int(found.height), left: Int(found.left), top: Int(found.top),
            advance: Int(found.advance))
        guard let shades = found.shades else { return Letter(advance: letter.advance) }
        letter.shades.reserveCapacity(letter.width * letter.height)
        for y in 0..<letter.height {
            let line = shades + y * Int(found.pitch)
            for x in 0..<letter.width { letter.shades.append(line[x]) }
        }
        return letter
    }

    /// gd's own letters are of one size; each of their dots becomes a square.
    private static func builtIn(_ scalar: Unicode.Scalar, _ size: Int) -> Letter {
        guard let font = gdFontGetLarge()?.pointee, let dots = font.data else { return Letter(advance: size / 2) }
        let (width, height) = (Int(font.w), Int(font.h))
        let scale = max(1, size / height)
        let known = (0x20..<0x7F).contains(scalar.value) ? Int(scalar.value) : Int(UInt8(ascii: "?"))
        var letter = Letter(width: width * scale, height: height * scale, advance: width * scale)
        letter.top = letter.height * 4 / 5
        let first = (known - Int(font.offset)) * width * height
        for y in 0..<letter.height {
            for x in 0..<letter.width {
                letter.shades.append(dots[first + y / scale * width + x / scale] == 0 ? 0 : 255)
            }
        }
        return letter
    }
}
