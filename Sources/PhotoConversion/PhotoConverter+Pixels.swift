import Glibc
import ImageWorkerProtocol

extension PhotoConverter {
    /// The library's own picture as plain pixels, upright and in sRGB, for whoever shows it and should decode nothing. Never
    /// enlarged.
    func pixels(
        source descriptor: Int32, within room: PixelSize, into target: Int32, turned: Int = 0
    ) throws(ImagingError) -> RawPixels {
        guard room.width > 0, room.height > 0, room.longSide <= ImageLimits.photoSide else {
            throw .io("a size that no screen has")
        }
        let source = try SourceFile(descriptor: descriptor, memory: ask, isOurs: true)
        defer { withExtendedLifetime(source) {} }
        let decoder = try decoder(PictureType(content: source.bytes), source)
        let orientation = try Self.orientation(decoder).turned(by: turned)
        let size = decoder.size.fitting(room.upright(orientation))
        let colours = ColourStep(decoder)
        // Twice its side, so that the DCT's coarse reduction does not show.
        let lines = try decoder.lines(atLeast: size.longSide * 2, inks: colours.rowConverter)
        let picture = try colours.apply(to: reduce(lines, colours, fitting: size)).upright(orientation)
        let bytes = try picture.interleaved()
        try write(bytes, to: target)
        return RawPixels(width: picture.size.width, height: picture.size.height)
    }
}

/// Out of a closure with a typed throw that the compiler infers wrongly where it stands among others.
private func write(_ bytes: [UInt8], to target: Int32) throws(ImagingError) {
    var failure: ImagingError?
    bytes.withUnsafeBytes { bytes in
        do throws(ImagingError) { try Output(target).write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
}

extension PixelSize {
    /// This size, reduced until it is within another: never enlarged, never under one pixel.
    func fitting(_ room: PixelSize) -> PixelSize {
        if width <= room.width && height <= room.height { return self }
        // Which side is the tighter one, without the rounding of a quotient.
        if width * room.height >= height * room.width {
            return PixelSize(width: room.width, height: max(1, height * room.width / width))
        }
        return PixelSize(width: max(1, width * room.height / height), height: room.height)
    }
}

extension PlanarPicture {
    /// All of it, a pixel after the other, red, green and blue.
    fileprivate func interleaved() throws(ImagingError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size.pixels * 3)
        let (kind, width, height) = (kind, size.width, size.height)
        bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            for y in 0..<height {
                let row = base + y * width * 3
                switch kind {
                case .grey:
                    let line = planes[0].line(y)
                    for x in 0..<width { for ink in 0..<3 { row[x &* 3 &+ ink] = line[x] } }
                case .rgb, .deepRGB: interleave(line: y, into: row)
                case .ycc: interleaveFromYCC(line: y, into: row)
                }
            }
        }
        return bytes
    }
}
