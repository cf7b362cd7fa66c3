import CJPEG
import ImageWorkerProtocol

/// A JPEG in memory.
final class EncodedJPEG {
    private let handle: OpaquePointer
    private let bytes: UnsafeRawBufferPointer
    var count: Int { bytes.count }

    /// Encodes `picture`, whose kind decides the sampling: chroma as it is in YCbCr planes, full for RGB.
    /// - Parameter segments: to carry before the picture, in this order.
    init(_ picture: PlanarPicture, quality: Int, segments: [JPEGSegment] = []) throws(ImagingError) {
        let colour: Int
        var sampling = (width: 0, height: 0)
        switch picture.kind {
        case .grey: colour = cjpeg_grey
        case .rgb: colour = cjpeg_rgb
        case .ycc(let width, let height):
            colour = cjpeg_ycc
            sampling = (width, height)
        case .deepRGB: throw .unsupported("samples that no JPEG has")
        }
        guard
            let handle = cjpeg_encoder_create(
                UInt32(picture.size.width), UInt32(picture.size.height), Int32(colour), Int32(1 << sampling.width),
                Int32(1 << sampling.height), Int32(quality))
        else { throw .lackOfMemory }
        self.handle = handle
        var address: UnsafePointer<UInt8>?
        var length = 0
        do throws(ImagingError) {
            for segment in segments {
                try Self.check(
                    cjpeg_encoder_write_segment(
                        handle, Int32(segment.marker), segment.bytes, UInt32(segment.bytes.count)))
            }
            if colour == cjpeg_ycc {
                try Self.writePlanes(of: picture, handle, sampling)
            } else {
                try Self.writeRows(of: picture, handle)
            }
            try Self.check(cjpeg_encoder_finish(handle, &address, &length))
        } catch {
            cjpeg_encoder_free(handle)
            throw error
        }
        bytes = UnsafeRawBufferPointer(start: address, count: length)
    }

    deinit { cjpeg_encoder_free(handle) }

    /// Lends the file's bytes, which are libjpeg's and go with this value.
    func withBytes<Answer>(_ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Answer) throws(ImagingError)
        -> Answer
    {
        defer { withExtendedLifetime(self) {} }
        return try body(bytes)
    }

    private static func check(_ status: Int32) throws(ImagingError) {
        guard Int(status) == cjpeg_ok else { throw .lackOfMemory }
    }

    private static func writePlanes(
        of picture: PlanarPicture, _ handle: OpaquePointer, _ sampling: (width: Int, height: Int)
    ) throws(ImagingError) {
        // libjpeg reads whole blocks of lines and columns; columns past the edge repeat it and so cost few bits.
        for (index, plane) in picture.planes.enumerated() {
            let unit = index == 0 ? 8 << sampling.width : 8
            let padded = min(plane.stride, (plane.width + unit - 1) / unit * unit)
            guard padded > plane.width else { continue }
            for y in 0..<plane.height {
                let line = plane.line(y)
                for x in plane.width..<padded { line[x] = line[plane.width - 1] }
            }
        }
        let planes = picture.planes.map { UnsafePointer<UInt8>?($0.base) }
        let strides = picture.planes.map(\.stride)
        let status = planes.withUnsafeBufferPointer { planes in
            strides.withUnsafeBufferPointer { strides in
                cjpeg_encoder_write_planes(handle, planes.baseAddress, strides.baseAddress)
            }
        }
        try check(status)
    }

    private static func writeRows(of picture: PlanarPicture, _ handle: OpaquePointer) throws(ImagingError) {
        let width = picture.size.width
        guard picture.kind == .rgb else {
            for y in 0..<picture.size.height {
                try check(cjpeg_encoder_write_row(handle, picture.planes[0].line(y)))
            }
            return
        }
        let row = UnsafeMutablePointer<UInt8>.allocate(capacity: width * 3)
        defer { row.deallocate() }
        for y in 0..<picture.size.height {
            picture.interleave(line: y, into: row)
            try check(cjpeg_encoder_write_row(handle, row))
        }
    }
}

extension PlanarPicture {
    /// One line of an RGB picture as interleaved pixels.
    func interleave(line: Int, into row: UnsafeMutablePointer<UInt8>) {
        let (red, green, blue) = (planes[0].line(line), planes[1].line(line), planes[2].line(line))
        for x in 0..<size.width {
            row[x &* 3] = red[x]
            row[x &* 3 &+ 1] = green[x]
            row[x &* 3 &+ 2] = blue[x]
        }
    }
}
