/// What cameras and programs write where a person's words belong.
enum CameraPhrase {
    /// As compared: in lower case, without spaces and punctuation.
    private static let known: Set<String> = [
        "olympusdigitalcamera", "olympusimagingcorp", "digitalcamera", "digitalstillcamera", "sonydsc", "samsungcsc",
        "exifjpegpicture", "exifjpeg", "dcim", "default", "untitled", "image", "picture", "photo", "nodescription",
        "imagedescription", "mybeautifulpicture", "screenshot", "createdwithgimp", "convertedpbmfile",
        "usercomment", "usercomments", "asciiusercomments",
    ]
    /// Of files, as cameras name them.
    private static let fileNames = ["dsc", "dscn", "dscf", "img", "imag", "pict", "sany", "p", "pxl", "hpim", "cimg"]
    private static let extensions = ["jpg", "jpeg", "heic", "png", "tif", "tiff"]

    /// - Parameters:
    ///   - text: without spaces at its ends.
    ///   - make: of the camera, as EXIF has it; so `model`.
    static func isOne(_ text: String, make: String, model: String) -> Bool {
        let folded = fold(text)
        let (make, model) = (fold(make), fold(model))
        if folded.isEmpty || known.contains(folded) || folded.hasSuffix("digitalcamera") { return true }
        if [make, model, make + model].contains(folded) { return true }
        if folded.hasPrefix("filewrittenbyadobephotoshop") { return true }
        // A name of a file: letters, then nothing but digits.
        let name = extensions.first { folded.hasSuffix($0) }.map { folded.dropLast($0.count) } ?? folded[...]
        let digits = name.drop { !$0.isNumber }
        if digits.count >= 3, digits.allSatisfy(\.isNumber), fileNames.contains(String(name.prefix { !$0.isNumber })) {
            return true
        }
        return false
    }

    /// What ImageDescription says that the scene was taken for, in a code: "oznor", "cof", "hdrpl".
    static func isSceneCode(_ text: String, make: String) -> Bool {
        ["huawei", "honor"].contains(fold(make)) && !text.contains(" ") && text.utf8.allSatisfy { $0 < 0x80 }
    }

    private static func fold(_ text: String) -> String {
        String(text.lowercased().unicodeScalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) })
    }
}
