import CTIFF
import Glibc
import ImageWorkerProtocol

/// Rows made here of a TIFF's samples, a line or a row of tiles at a time.
final class TIFFSampleRows {
    private let file: TIFFFile
    private let samples: TIFFSamples
    private let size: PixelSize
    private let parts: UnsafeMutableRawPointer
    /// A line in 16 bits.
    private let wide: UnsafeMutablePointer<UInt16>
    private let lab: LabTransform?
    /// The first line in `parts`; -1 where there is none.
    private var first = -1

    init(_ file: TIFFFile, _ samples: TIFFSamples, _ size: PixelSize) throws(ImagingError) {
        if case .lab = samples.meaning { lab = try LabTransform() } else { lab = nil }
        // Some codecs write whole bytes or words past what a line has.
        guard let parts = calloc(1, samples.partBytes * samples.partsAcross(size) + 64) else { throw .lackOfMemory }
        self.parts = parts
        self.file = file
        self.samples = samples
        self.size = size
        wide = .allocate(capacity: size.width * samples.used)
    }

    deinit {
        free(parts)
        wide.deallocate()
    }

    /// - Parameter inks: what makes RGB of four inks, where the samples are those.
    func format(_ inks: RowConverter?) throws(ImagingError) -> RowFormat {
        switch (samples.meaning, samples.opacity) {
        case (.inks, _):
            guard let inks else { throw .unsupported("a TIFF in printing inks") }
            return .inks(inks)
        case (.lab, _), (.rgb, nil): return .rgb
        case (.grey, nil): return .grey
        case (_, .multiplied): return .rgbaPremultiplied
        case (_, .straight): return .rgba
        }
    }

    func read(line: Int, into row: UnsafeMutablePointer<UInt8>) throws(ImagingError) {
        try fill(line)
        let used = samples.used
        for part in 0..<samples.partsAcross(size) {
            let left = part * samples.part.width
            let stored = UnsafeRawPointer(parts) + part * samples.partBytes + (line - first) * samples.lineBytes
            for x in 0..<min(samples.part.width, size.width - left) {
                for index in 0..<used {
                    wide[(left + x) &* used &+ index] = samples.sample(stored, x &* samples.count &+ index)
                }
            }
        }
        switch samples.meaning {
        case .lab(let isSigned): convertLab(isSigned, into: row)
        case .grey(let isInverted) where samples.opacity != nil:
            for x in 0..<size.width {
                let value = Self.byte(isInverted ? ~wide[x * 2] : wide[x * 2])
                for ink in 0..<3 { row[x * 4 + ink] = value }
                row[x * 4 + 3] = Self.byte(wide[x * 2 + 1])
            }
        case .grey(isInverted: true): for x in 0..<size.width { row[x] = Self.byte(~wide[x]) }
        case .grey, .rgb, .inks: for index in 0..<size.width * used { row[index] = Self.byte(wide[index]) }
        }
    }

    private static func byte(_ value: UInt16) -> UInt8 { UInt8((UInt32(value) + 128) / 257) }

    /// Decodes the parts in which a line lies. Lines come in order, so none is decoded twice.
    private func fill(_ line: Int) throws(ImagingError) {
        guard first < 0 || line >= first + samples.part.height else { return }
        first = line / samples.part.height * samples.part.height
        guard samples.isTiled else {
            guard TIFFReadScanline(file.handle, parts, UInt32(line), 0) >= 0 else { throw Self.broken }
            return
        }
        for part in 0..<samples.partsAcross(size) {
            let tile = TIFFComputeTile(file.handle, UInt32(part * samples.part.width), UInt32(first), 0, 0)
            let target = parts + part * samples.partBytes
            guard TIFFReadEncodedTile(file.handle, tile, target, tmsize_t(samples.partBytes)) >= 0 else {
                throw Self.broken
            }
        }
    }

    private static let broken = ImagingError.damaged("its TIFF data cannot be decoded")

    /// TIFF's own numbers have their middle at zero or at half, and 256 steps of 16 bits for one of 8; those of profiles, which
    /// lcms takes, have their middle at half and 257.
    private func convertLab(_ isSigned: Bool, into row: UnsafeMutablePointer<UInt8>) {
        for index in 0..<size.width * 3 {
            let isColour = index % 3 != 0
            if samples.bits == 8 {
                if isSigned, isColour { wide[index] = UInt16(UInt8(wide[index] & 255) ^ 0x80) * 257 }
            } else {
                let value = UInt32(isSigned && isColour ? wide[index] ^ 0x8000 : wide[index])
                if isColour || !isSigned { wide[index] = UInt16(min(65_535, value * 257 / 256)) }
            }
        }
        lab?.convert(wide, row, size.width)
    }
}
