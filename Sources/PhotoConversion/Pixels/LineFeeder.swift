import ImageWorkerProtocol

/// Hands a source's lines to zimg as it asks for them.
final class LineFeeder {
    private let lines: any LineSource
    private let picture: PlanarPicture
    private(set) var failure: ImagingError?
    private(set) var wantsWholePicture = false
    private var next = 0

    init(lines: any LineSource, picture: PlanarPicture) {
        self.lines = lines
        self.picture = picture
    }

    /// Makes line `line` of plane 0, and as many more as share its chroma, stand in the picture.
    /// Returns false to stop; ``failure`` and ``wantsWholePicture`` say why.
    func feed(line: Int, columns: Range<Int>) -> Bool {
        if columns.lowerBound > 0 || columns.upperBound < picture.size.width {
            wantsWholePicture = true
            return false
        }
        do throws(ImagingError) {
            let chroma = picture.kind.subsampling(ofPlane: 1)
            try advance(through: line | (1 << chroma.height - 1))
            return true
        } catch {
            failure = error
            return false
        }
    }

    func decodeAll() throws(ImagingError) {
        try advance(through: picture.size.height - 1)
        picture.padEdges()
    }

    private func advance(through line: Int) throws(ImagingError) {
        guard line >= next else { return }
        let last = min(line, picture.size.height - 1)
        if last >= next { try lines.decode(through: last, into: picture) }
        for index in next...line { picture.padLine(index) }
        next = line + 1
    }
}

extension PlanarPicture {
    /// Repeats the last column and the last line into the padding that zimg reads where chroma divides no size.
    func padEdges() {
        for index in 0...size.height { padLine(index) }
    }

    /// Pads one line of plane 0; the one past the end is a copy of the last.
    func padLine(_ index: Int) {
        let chroma = kind.subsampling(ofPlane: 1)
        guard chroma.width > 0 || chroma.height > 0 else { return }
        let luma = planes[0]
        if index == size.height {
            luma.line(index).update(from: luma.line(index - 1), count: luma.stride)
        } else if index < size.height {
            let line = luma.line(index)
            line[size.width] = line[size.width - 1]
        }
    }
}
