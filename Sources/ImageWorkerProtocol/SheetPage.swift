/// What is drawn over a page on which the pictures stand already: rectangles, then texts, and how it becomes a file.
///
/// Measured in pixels from the upper left corner; colours are 0xRRGGBB. What is outside of the page is not drawn.
package struct SheetPage: Codable, Equatable, Sendable {
    package enum Format: String, Codable, Sendable {
        case jpeg, png
    }

    package struct Box: Codable, Equatable, Sendable {
        package var x, y, width, height: Int
        package var colour: UInt32

        package init(x: Int, y: Int, width: Int, height: Int, colour: UInt32) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
            self.colour = colour
        }
    }

    package struct Text: Codable, Equatable, Sendable {
        package enum Alignment: String, Codable, Sendable {
            case left, centre, right
        }

        package var text: String
        /// The left end of the room that there is, and the line on which the letters stand.
        package var x, baseline: Int
        /// Of the room: a longer text ends in an ellipsis.
        package var width: Int
        /// Pixels of a line.
        package var size: Int
        package var colour: UInt32
        package var alignment: Alignment

        package init(
            _ text: String, x: Int, baseline: Int, width: Int, size: Int, colour: UInt32, alignment: Alignment = .left
        ) {
            self.text = text
            self.x = x
            self.baseline = baseline
            self.width = width
            self.size = size
            self.colour = colour
            self.alignment = alignment
        }
    }

    /// Pixels of a side of a page.
    package static let mostSide = 4096
    /// Bytes of this as JSON.
    package static let mostBytes = 256 << 10
    /// Files with letters: the first one that has a character draws it.
    package static let mostFonts = 4
    /// Pixels of a line of text.
    package static let textSizes = 8...200

    package var width, height: Int
    /// Pixels of an inch of paper.
    package var resolution: Int
    package var format: Format
    package var boxes: [Box]
    package var texts: [Text]

    package init(width: Int, height: Int, resolution: Int, format: Format, boxes: [Box] = [], texts: [Text] = []) {
        self.width = width
        self.height = height
        self.resolution = resolution
        self.format = format
        self.boxes = boxes
        self.texts = texts
    }
}
