import CLCMS
import ImageWorkerProtocol

/// What an embedded profile can be.
enum ColourProfile {
    case icc([UInt8])
    /// Red, green and blue by their number in ITU-T H.273, as HEIC and AVIF name them; sRGB's curve is taken with
    /// them, which is how the usual transfers are shown.
    case primaries(UInt32)
    /// Chromaticities, and the exponent that makes light of a sample; sRGB's curve where there is none.
    case measured(gamma: Double?, Chromaticities)
    /// More light than a screen shows, for ``ToneMapping``.
    case highRange(HighRange)

    /// What the numbers of ITU-T H.273 say, where a container has no more than these.
    init(primaries: UInt32, transfer: UInt32) {
        if let range = HighRange(transfer: transfer, primaries: primaries) {
            self = .highRange(range)
            return
        }
        // Of the other transfers these are far from sRGB's curve; the cameras' own (1, 6, 14, 15) are shown by it.
        let gamma: Double? = [4: 2.2, 5: 2.8, 8: 1][transfer]
        self = gamma.map { .measured(gamma: $0, .numbered(primaries) ?? .standard) } ?? .primaries(primaries)
    }

    fileprivate func open(_ inks: ColourTransform.Inks) -> cmsHPROFILE? {
        switch self {
        // lcms reports to a handler of its own; without one it is silent.
        case .icc(let bytes): return cmsOpenProfileFromMem(bytes, UInt32(bytes.count))
        case .primaries(let number): return Chromaticities.numbered(number).flatMap { Self.made(nil, $0) }
        case .measured(let gamma, let chromaticities): return Self.made(gamma, chromaticities, isGrey: inks == .grey)
        // No curve of a profile presses highlights together.
        case .highRange: return nil
        }
    }

    private static func made(_ gamma: Double?, _ colours: Chromaticities, isGrey: Bool = false) -> cmsHPROFILE? {
        let curve =
            gamma.map { cmsBuildGamma(nil, $0) }
            ?? cmsBuildParametricToneCurve(nil, 4, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
        guard let curve else { return nil }
        defer { cmsFreeToneCurve(curve) }
        func point(_ point: Chromaticities.Point) -> cmsCIExyY { cmsCIExyY(x: point.x, y: point.y, Y: 1) }
        // Grey is of white's colour, whichever that is.
        if isGrey { return cmsCreateGrayProfile(cmsD50_xyY(), curve) }
        var white = point(colours.white)
        var primaries = cmsCIExyYTRIPLE(Red: point(colours.red), Green: point(colours.green), Blue: point(colours.blue))
        var curves: [OpaquePointer?] = [curve, curve, curve]
        return cmsCreateRGBProfile(&white, &primaries, &curves)
    }
}

extension Chromaticities {
    /// Of those numbers in ITU-T H.273 that are not sRGB's, or nearly.
    static func numbered(_ number: UInt32) -> Chromaticities? {
        switch number {
        case 9:
            Chromaticities(
                white: standard.white, red: .init(x: 0.708, y: 0.292), green: .init(x: 0.170, y: 0.797),
                blue: .init(x: 0.131, y: 0.046))
        case 11, 12:
            Chromaticities(
                white: standard.white, red: .init(x: 0.680, y: 0.320), green: .init(x: 0.265, y: 0.690),
                blue: .init(x: 0.150, y: 0.060))
        default: nil
        }
    }
}

/// From a picture's own colours, as its embedded profile defines them, to sRGB, by lcms2.
final class ColourTransform {
    enum Inks { case grey, rgb, cmyk, cmykInverted }

    private let handle: cmsHTRANSFORM
    private let inks: Inks

    /// Nil where the profile is broken, of another colour space than `inks`, or says sRGB anyway: then pixels are
    /// taken as sRGB, which is also what other programs do.
    init?(_ source: ColourProfile, for inks: Inks) {
        guard let profile = source.open(inks) else { return nil }
        defer { cmsCloseProfile(profile) }
        let space = cmsGetColorSpace(profile)
        let (wanted, format): (cmsColorSpaceSignature, UInt32) =
            switch inks {
            case .grey: (cmsSigGrayData, clcms_grey8)
            case .rgb: (cmsSigRgbData, clcms_rgb8)
            case .cmyk: (cmsSigCmykData, clcms_cmyk8)
            case .cmykInverted: (cmsSigCmykData, clcms_cmyk8_inverted)
            }
        guard space == wanted, let standard = cmsCreate_sRGBProfile() else { return nil }
        defer { cmsCloseProfile(standard) }
        // Relative with black scaled to black, as photo programs convert; matrix profiles treat all intents alike,
        // and the perceptual tables of some sRGB profiles would recolour what needs no change.
        guard
            let handle = cmsCreateTransform(
                profile, format, standard, clcms_rgb8, UInt32(INTENT_RELATIVE_COLORIMETRIC),
                UInt32(cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION))
        else { return nil }
        self.handle = handle
        self.inks = inks
        if inks == .rgb || inks == .grey, isIdentity { return nil }
    }

    deinit { cmsDeleteTransform(handle) }

    /// Converts `count` interleaved pixels to interleaved RGB.
    func convert(_ source: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>, _ count: Int) {
        cmsDoTransform(handle, source, target, UInt32(count))
    }

    /// Whether no colour of a coarse grid moves by more than two steps: most profiles in photos are sRGB, whatever
    /// they call themselves, and then every pixel can stay as it is.
    private var isIdentity: Bool {
        let steps: [UInt8] = [0, 32, 64, 96, 128, 160, 192, 224, 255]
        var colours: [UInt8] = []
        if inks == .grey {
            colours = steps
        } else {
            for red in steps { for green in steps { for blue in steps { colours += [red, green, blue] } } }
        }
        let count = inks == .grey ? colours.count : colours.count / 3
        var converted = [UInt8](repeating: 0, count: count * 3)
        convert(colours, &converted, count)
        return converted.indices.allSatisfy { index in
            abs(Int(converted[index]) - Int(colours[inks == .grey ? index / 3 : index])) <= 2
        }
    }
}

/// From L*a*b* to sRGB. Both are of paper under the same light.
final class LabTransform {
    private let handle: cmsHTRANSFORM

    init() throws(ImagingError) {
        guard let lab = cmsCreateLab4Profile(nil) else { throw .lackOfMemory }
        defer { cmsCloseProfile(lab) }
        guard let standard = cmsCreate_sRGBProfile() else { throw .lackOfMemory }
        defer { cmsCloseProfile(standard) }
        guard
            let handle = cmsCreateTransform(
                lab, clcms_lab16, standard, clcms_rgb8, UInt32(INTENT_RELATIVE_COLORIMETRIC), UInt32(cmsFLAGS_NOCACHE))
        else { throw .lackOfMemory }
        self.handle = handle
    }

    deinit { cmsDeleteTransform(handle) }

    /// Converts `count` pixels, whose samples are as in profiles: 0 to 65,535 for L* from 0 to 100, a* and b* with 32,896 for
    /// their middle.
    func convert(_ source: UnsafePointer<UInt16>, _ target: UnsafeMutablePointer<UInt8>, _ count: Int) {
        cmsDoTransform(handle, source, target, UInt32(count))
    }
}

extension PlanarPicture {
    /// This picture in sRGB. `transform` is for the inks of this picture's kind.
    func converted(by transform: ColourTransform) throws(ImagingError) -> PlanarPicture {
        let result = try PlanarPicture(size: size, kind: .rgb)
        let width = size.width
        let pixels = UnsafeMutablePointer<UInt8>.allocate(capacity: width * 6)
        defer { pixels.deallocate() }
        let converted = pixels + width * 3
        for y in 0..<size.height {
            switch kind {
            case .grey: transform.convert(planes[0].line(y), converted, width)
            case .rgb, .deepRGB:
                interleave(line: y, into: pixels)
                transform.convert(pixels, converted, width)
            case .ycc:
                interleaveFromYCC(line: y, into: pixels)
                transform.convert(pixels, converted, width)
            }
            let (red, green, blue) = (result.planes[0].line(y), result.planes[1].line(y), result.planes[2].line(y))
            for x in 0..<width {
                red[x] = converted[x &* 3]
                green[x] = converted[x &* 3 &+ 1]
                blue[x] = converted[x &* 3 &+ 2]
            }
        }
        return result
    }

    /// One line of full-resolution YCbCr as RGB: JFIF's equations in 16-bit fixed point.
    func interleaveFromYCC(line: Int, into row: UnsafeMutablePointer<UInt8>) {
        let (luma, blueness, redness) = (planes[0].line(line), planes[1].line(line), planes[2].line(line))
        let shift = kind.subsampling(ofPlane: 1).width
        for x in 0..<size.width {
            let y = Int32(luma[x]) &<< 16 &+ 32768
            let b = Int32(blueness[x &>> shift]) &- 128
            let r = Int32(redness[x &>> shift]) &- 128
            row[x &* 3] = Self.clamped(y &+ 91881 &* r)
            row[x &* 3 &+ 1] = Self.clamped(y &- 22554 &* b &- 46802 &* r)
            row[x &* 3 &+ 2] = Self.clamped(y &+ 116130 &* b)
        }
    }

    private static func clamped(_ value: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: min(255, max(0, value &>> 16)))
    }
}
