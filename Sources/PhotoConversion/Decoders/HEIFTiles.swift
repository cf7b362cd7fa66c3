import CHEIF
import ImageWorkerProtocol

/// A grid's lines, a row of tiles at a time, so that no more than that is ever decoded.
final class HEIFTiles: LineSource {
    let size: PixelSize
    let kind: PixelKind
    let linesPerStep = 1
    private let item: HEIFPicture.Item
    private let grid: HEIFGrid
    private let tile: PixelSize
    /// The row of tiles that is decoded, as wide as what is shown.
    private let strip: PlanarPicture
    private var row = -1
    private var next = 0

    /// - Parameter tile: the size that every tile must have.
    init(_ item: HEIFPicture.Item, _ grid: HEIFGrid, tile: PixelSize, depth: Int) throws(ImagingError) {
        self.item = item
        self.grid = grid
        self.tile = tile
        size = grid.window.size
        kind = depth > 8 ? .deepRGB(bits: depth) : .rgb
        strip = try PlanarPicture(
            size: PixelSize(width: size.width, height: min(tile.height, grid.size.height)), kind: kind)
    }

    /// Bytes that decoding takes at most: a row of tiles, and one tile on its way.
    static func memory(_ grid: HEIFGrid, tile: PixelSize, bytesPerSample: Int) -> Int {
        let stripPixels = (grid.window.size.width + 64) * (min(tile.height, grid.size.height) + 1)
        return (stripPixels * 3 + tile.pixels * 12) * bytesPerSample
    }

    func decode(through line: Int, into ring: PlanarPicture) throws(ImagingError) {
        while next <= line {
            let stored = grid.window.top + next
            if stored / tile.height != row { try decode(row: stored / tile.height) }
            for (from, into) in zip(strip.planes, ring.planes) {
                into.line(next).update(
                    from: from.line(stored % tile.height), count: size.width * kind.bytesPerSample)
            }
            next += 1
        }
    }

    /// Decodes what is shown of a row of tiles.
    private func decode(row: Int) throws(ImagingError) {
        let (left, right) = (grid.window.left, grid.window.left + size.width)
        for column in left / tile.width...(right - 1) / tile.width {
            let start = column * tile.width
            let image = try HEIFImage(
                HEIFPicture.Item(item, tile: grid.tiles[row * grid.columns + column]), heif_colorspace_RGB,
                heif_chroma_444)
            guard let planes = HEIFPlanes(image, tile), planes.kind == kind else {
                throw .damaged("a tile of it is not like the others")
            }
            let columns = max(left, start)..<min(right, start + tile.width)
            planes.copy(
                columns.lowerBound - start..<columns.upperBound - start, into: strip, at: columns.lowerBound - left)
        }
        self.row = row
    }
}
