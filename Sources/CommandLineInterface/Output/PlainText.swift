/// Text from elsewhere (names, captions, paths, messages) made harmless for a terminal.
///
/// A file's name may hold escape sequences that recolour, retitle or answer a terminal, and marks that turn the
/// direction of writing so that `gpj.exe` reads as a picture. Each such character becomes a visible one. Joiners
/// and variation selectors stay: emoji and several scripts need them.
package enum PlainText {
    package static func neutralized(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var harmless = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { harmless.append(isHarmful(scalar) ? picture(of: scalar) : scalar) }
        return String(harmless)
    }

    package static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: true
        // Line and paragraph separators, and whatever changes the direction of writing or hides.
        case 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB: true
        default: false
        }
    }

    /// `␛` for an escape: Unicode has pictures of the first 32 and of delete; the rest becomes the replacement.
    private static func picture(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x00...0x1F: Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}"
        case 0x7F: "\u{2421}"
        default: "\u{FFFD}"
        }
    }
}
