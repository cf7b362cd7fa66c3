import CDeflate

/// The text of a name: which of the format's encodings its bytes are in.
struct NameText {
    let text: String
    /// Declared as UTF-8 and not valid, in the name itself or in the field that goes before it; `text` then has replacement characters and serves for messages only.
    let isBroken: Bool

    init(_ bytes: ArraySlice<UInt8>, isUTF8: Bool, unicodePath: RecordView?) {
        if let path = Self.path(unicodePath, of: bytes) {
            let valid = String(validating: path, as: UTF8.self)
            (text, isBroken) = (valid ?? String(decoding: path, as: UTF8.self), valid == nil)
        } else if let valid = String(validating: bytes, as: UTF8.self) {
            (text, isBroken) = (valid, false)
        } else if isUTF8 {
            (text, isBroken) = (String(decoding: bytes, as: UTF8.self), true)
        } else {
            (text, isBroken) = (Self.codePage437(bytes), false)
        }
    }

    /// Info-ZIP's Unicode path (APPNOTE 4.6.9): counts only while its checksum is that of the name in the header.
    private static func path(_ field: RecordView?, of name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let field, field.number(0, as: UInt8.self) == 1, let checksum = field.u32(1),
            let bytes = field.slice(5, field.count - 5)
        else { return nil }
        let actual = name.withUnsafeBufferPointer { libdeflate_crc32(0, $0.baseAddress, $0.count) }
        return checksum == actual ? bytes : nil
    }

    private static func codePage437(_ bytes: ArraySlice<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(byte < 0x80 ? Unicode.Scalar(byte) : upperHalf[Int(byte) - 0x80]) }
        return String(text)
    }

    private static let upperHalf = Array(
        ("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
            + "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}").unicodeScalars)
}
