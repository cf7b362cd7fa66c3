import Foundation
import ImageWorkerProtocol

/// Thumbnails that come from elsewhere: used only where they can be what this version makes.
package enum StoredThumbnail {
    /// Whether these bytes are a JPEG of a thumbnail's size, whole and by this version's maker. Nothing is decoded: what is
    /// shown of it is decoded by whoever shows it, as of any picture.
    /// - Parameter turned: degrees by which its photo is shown turned, clockwise.
    package static func isUsable(_ bytes: Data, turned: Int = 0) -> Bool {
        let bytes = [UInt8](bytes)
        guard
            ThumbnailMaker.made(ofThumbnail: Array(bytes.prefix(ThumbnailMaker.headBytes)))
                == MadePicture(version: ThumbnailMaker.version, turned: turned),
            bytes.count > 2, bytes[bytes.count - 2] == 0xFF, bytes[bytes.count - 1] == 0xD9,
            let (width, height) = size(bytes)
        else { return false }
        let sides = 1...ImageLimits.thumbnailSide
        return sides.contains(width) && sides.contains(height)
    }

    /// Width and height as the frame says them.
    private static func size(_ bytes: [UInt8]) -> (Int, Int)? {
        var place = 2
        while place + 9 <= bytes.count, bytes[place] == 0xFF {
            let marker = bytes[place + 1]
            let length = Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
            // Frames, but for the markers between them that are tables.
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                return (
                    Int(bytes[place + 7]) << 8 + Int(bytes[place + 8]),
                    Int(bytes[place + 5]) << 8 + Int(bytes[place + 6])
                )
            }
            guard length >= 2, marker != 0xDA else { return nil }
            place += 2 + length
        }
        return nil
    }
}
