import ImageWorkerProtocol

/// Make and model as the one name by which people know a camera.
package enum CameraName {
    /// Nil where there is none, or nothing in it that is a letter or a digit.
    ///
    /// Many models begin with the maker's name, or with the word of it that people say: of "NIKON CORPORATION" and "NIKON D70"
    /// it is "NIKON D70", of "Apple" and "iPhone 12" both.
    package static func name(make: String?, model: String?) -> String? {
        let (make, model) = (line(make), line(model))
        guard let model else { return make }
        guard let make, let first = words(model).first, !words(make).contains(first) else { return model }
        return line(make + " " + model)
    }

    private static func line(_ text: String?) -> String? {
        guard let line = text.flatMap({ EmbeddedText.line($0, upTo: ImageLimits.cameraLength) }) else { return nil }
        return line.contains { $0.isLetter || $0.isNumber } ? line : nil
    }

    private static func words(_ text: String) -> [String] { text.lowercased().split(separator: " ").map(String.init) }
}
