import ImageWorkerProtocol

/// What a picture carries beside its pixels, as its reduced copy carries it: EXIF, XMP and IPTC, corrected where they
/// describe the picture that was.
struct CarriedMetadata {
    private(set) var segments: [JPEGSegment] = []

    /// - Parameters:
    ///   - metadata: of the source.
    ///   - size: of the copy, which is upright.
    init(_ metadata: EmbeddedMetadata, upright size: PixelSize) {
        if let exif = metadata.exif, var block = ExifBlock(exif) {
            block.describe(upright: size)
            if block.bytes.count <= ImageLimits.exifSegmentBytes {
                segments.append(JPEGSegment(marker: 0xE1, bytes: EmbeddedMetadata.exifName + block.bytes))
            }
        }
        if let packet = metadata.xmp {
            segments += Self.segments(xmp: packet, extension: metadata.extendedXMP, size)
        }
        if let records = metadata.iptc { segments += PhotoshopResources.segments(iptc: records) }
    }

    /// Text that is no well-formed XMP is kept byte for byte where one segment holds it: the copy may be all that is kept of
    /// the photo, a strict reader passes over it, and a lenient one finds what it found in the source. Where it is longer
    /// it is left out, because to take it apart one has to understand it.
    private static func segments(xmp packet: [UInt8], extension rest: [UInt8]?, _ size: PixelSize) -> [JPEGSegment] {
        guard let corrected = corrected(packet, size, hasExtension: rest != nil) else {
            return packet.count <= XMPSegments.mostStandardBytes ? [XMPSegments.standard(packet)] : []
        }
        let correctedRest = rest.map { self.corrected($0, size, hasExtension: true) ?? $0 }
        return XMPSegments(corrected, extension: correctedRest)?.segments ?? []
    }

    /// The packet with what it says of the picture's shape made true; nil where it is no well-formed XMP.
    ///
    /// The parts of a moving picture and the map of highlights (Ultra HDR) that stand behind a JPEG do not come along, so what
    /// announces them is taken back: a program that believed it would look for them, and could make the picture brighter.
    /// `xmp:Thumbnails` stays: a small upright picture beside this one.
    private static func corrected(_ bytes: [UInt8], _ size: PixelSize, hasExtension: Bool) -> [UInt8]? {
        guard let packet = XMPPacket(bytes) else { return nil }
        let (width, height) = (String(size.width), String(size.height))
        let corrections: [(XMPPacket.Namespace, StaticString, String)] = [
            (.tiff, "Orientation", "1"), (.tiff, "ImageWidth", width), (.tiff, "ImageLength", height),
            (.exif, "PixelXDimension", width), (.exif, "PixelYDimension", height),
            (.camera, "MotionPhoto", "0"), (.camera, "MicroVideo", "0"),
        ]
        var edits: [XMPPacket.Edit] = []
        for property in packet.properties where property.namespace != nil {
            if property.namespace == .gainMap || property.namespace == .container {
                edits.append(XMPPacket.Edit(range: property.span))
                continue
            }
            if !hasExtension, property.namespace == .note, packet.isNamed(property, "HasExtendedXMP") {
                edits.append(XMPPacket.Edit(range: property.span))
            }
            let correction = corrections.first {
                $0.0 == property.namespace && packet.isNamed(property, $0.1)
            }
            guard let correction else { continue }
            // One in a form that holds no simple value goes: nothing may contradict the picture.
            edits.append(
                property.value.map { XMPPacket.Edit(range: $0, replacement: Array(correction.2.utf8)) }
                    ?? XMPPacket.Edit(range: property.span))
        }
        return packet.edited(edits)
    }
}
