import ImageWorkerProtocol

/// Something that decodes from top to bottom, a few lines at a time, so that no full-size picture need exist.
protocol LineSource: AnyObject {
    var size: PixelSize { get }
    var kind: PixelKind { get }
    /// Lines of plane 0 that one step may deliver beyond the one asked for; the ring has room for them.
    var linesPerStep: Int { get }
    /// Columns beyond the width that the source writes.
    var padding: Int { get }

    /// Decodes until line `line` of plane 0 (and the chroma beside it) stands in `ring`. Lines are asked for in
    /// order, and not again.
    func decode(through line: Int, into ring: PlanarPicture) throws(ImagingError)

    /// Called after the last line: whatever else the file must have to be whole.
    func finish() throws(ImagingError)
}

extension LineSource {
    var padding: Int { 0 }
    func finish() throws(ImagingError) {}
}
