import Files
import Foundation
import Imaging
import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Pictures that no worker can decode for want of memory. Their files are taken all the same.
extension Thumbnailer {
    /// Stages a placeholder as photo and thumbnail, and the source itself where it is to be kept.
    nonisolated func prepareUnseen(
        _ picture: UnseenPicture, _ source: OpenSource, _ request: PreparePhoto, film: FilmFacts? = nil
    ) async throws -> PreparedPhoto {
        let keepsOriginal = film == nil ? request.keepsOriginal : request.keepsFilm
        return try await staging { original in
            let digest = try await files.run {
                keepsOriginal
                    ? try source.copyAndDigest(to: original.descriptor, original.name)
                    : try source.digest(request.source)
            }
            let card = PlaceholderCard(
                width: picture.width, height: picture.height, mark: digest.sha256.hex
            ).jpeg
            let photo = try await stage(card)
            do {
                let thumbnail = try await stage(card)
                let photoFiles = photoFiles
                if !keepsOriginal { try await files.run { photoFiles.unstage([original.name]) } }
                return PreparedPhoto(
                    stagedPhoto: photo, stagedThumbnail: thumbnail, stagedPreview: nil,
                    stagedOriginal: keepsOriginal ? original.name : nil, sourceDigest: digest.sha256.hex,
                    sourceSize: digest.size, sourceWidth: picture.width, sourceHeight: picture.height,
                    contentDigest: ContentDigest(of: card).sha256.hex, mediaType: "image/jpeg", fileExtension: ".jpg",
                    fileSize: Int64(card.count), width: picture.width, height: picture.height,
                    facts: picture.facts, film: film, isUnseen: true)
            } catch {
                let photoFiles = photoFiles
                try? await files.run { photoFiles.unstage([photo]) }
                throw error
            }
        }
    }

    private nonisolated func stage(_ bytes: Data) async throws -> String {
        try await staging { file in
            try await files.run {
                try bytes.withUnsafeBytes { try FileSystem.write($0, to: file.descriptor, file.name) }
                try FileSystem.sync(file.descriptor, file.name)
                return file.name
            }
        }
    }
}

/// What is shown in place of a picture that cannot be decoded: a grey card in a frame, in the picture's shape.
///
/// Its bytes follow from the picture's size and `mark` alone, and differ where that does: photos are matched by their
/// content, and those of two sources must not be taken for one. It is written here, and not by a worker, because a JPEG
/// whose blocks have one tone each is forty lines: each block is the difference of its tone from the one before.
struct PlaceholderCard {
    private let columns: Int
    private let rows: Int
    private let mark: String

    /// Blocks of 8 pixels on the long side: 256 pixels, which is less than a thumbnail may have.
    private static let longSide = 32
    private static let paper = 150
    private static let frame = 105

    /// - Parameters:
    ///   - width: of the picture, as `height`; only their ratio counts.
    ///   - mark: a line of ASCII that stands in the file's comment.
    init(width: Int, height: Int, mark: String) {
        let long = Double(max(width, height, 1))
        func blocks(_ side: Int) -> Int {
            max(1, min(Self.longSide, Int((Double(side) / long * Double(Self.longSide)).rounded())))
        }
        (columns, rows) = (blocks(width), blocks(height))
        self.mark = mark
    }

    /// A baseline JPEG in grey.
    var jpeg: Data {
        var bytes: [UInt8] = [0xFF, 0xD8]
        func add(_ marker: UInt8, _ content: [UInt8]) {
            let length = content.count + 2
            bytes += [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + content
        }
        func pair(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
        add(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
        add(0xFE, Array(mark.utf8.prefix(200)))
        // A block's mean is stored eight times as large, in steps of eight: so a tone is a step.
        add(0xDB, [0] + [UInt8](repeating: 8, count: 64))
        add(0xC0, [8] + pair(rows * 8) + pair(columns * 8) + [1, 1, 0x11, 0])
        // Differences of 0 to 8 bits in codes of four bits, and a code of one bit that ends a block.
        add(0xC4, [0x00] + [0, 0, 0, 9] + [UInt8](repeating: 0, count: 12) + Array(0...8))
        add(0xC4, [0x10] + [1] + [UInt8](repeating: 0, count: 15) + [0])
        add(0xDA, [1, 1, 0, 0, 63, 0])
        return Data(bytes + scan + [0xFF, 0xD9])
    }

    private var scan: [UInt8] {
        var bits = BitWriter()
        var last = 128
        for row in 0..<rows {
            for column in 0..<columns {
                let isFrame = row == 0 || column == 0 || row == rows - 1 || column == columns - 1
                let tone = isFrame ? Self.frame : Self.paper
                let difference = tone - last
                last = tone
                let length = Int.bitWidth - abs(difference).leadingZeroBitCount
                bits.write(length, 4)
                bits.write(difference < 0 ? difference + (1 << length) - 1 : difference, length)
                bits.write(0, 1)
            }
        }
        return bits.finished()
    }

    private struct BitWriter {
        private var bytes: [UInt8] = []
        private var pending = 0
        private var count = 0

        /// - Parameter length: how many of the lowest bits are written.
        mutating func write(_ value: Int, _ length: Int) {
            for place in (0..<length).reversed() {
                pending = pending << 1 | (value >> place & 1)
                count += 1
                if count == 8 { flush() }
            }
        }

        private mutating func flush() {
            bytes.append(UInt8(pending))
            // After this value, a zero says that it is no marker.
            if pending == 0xFF { bytes.append(0) }
            (pending, count) = (0, 0)
        }

        /// The rest of the last byte is ones.
        mutating func finished() -> [UInt8] {
            while count > 0 { write(1, 1) }
            return bytes
        }
    }
}
