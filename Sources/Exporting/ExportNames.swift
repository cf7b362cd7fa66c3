import LibraryModel
import TextFolding

/// The names of exported files: the photos' own, with a number where two are the same.
struct ExportNames {
    /// Case folded: a memory stick takes two names that differ in case for one.
    private var taken: Set<String> = []

    mutating func name(for photo: Photo, storedAt path: String) -> String {
        let stem = Self.stem(photo.displayName)
        let ending = path.lastIndex(of: ".").map { String(path[$0...]) } ?? ""
        return free { number in (number == 1 ? stem : "\(stem) (\(number))") + ending }
    }

    /// Keeps the name of what the library itself says for that: programs find it most surely, and kept sidecars get others.
    /// - Parameter path: of that file.
    mutating func take(_ path: String) {
        taken.insert((path.split(separator: "/").last.map(String.init) ?? path).caseFolded)
    }

    /// Numbered where a photo had two of a form; then programs find the first.
    /// - Parameter picture: the path of the exported photo.
    mutating func name(for sidecar: KeptSidecar, beside picture: String) -> String {
        let file = picture.split(separator: "/").last.map(String.init) ?? picture
        return free { number in sidecar.name(beside: file, number: number) }
    }

    private mutating func free(_ name: (Int) -> String) -> String {
        for number in 1... {
            let name = name(number)
            if taken.insert(name.caseFolded).inserted { return name }
        }
        preconditionFailure("more photos than numbers")
    }

    /// Names are for people, and may hold what no file system takes, or what would lead elsewhere.
    private static func stem(_ name: String) -> String {
        let unusable: Set<Unicode.Scalar> = ["/", "\\", ":", "*", "?", "\"", "<", ">", "|"]
        var text = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map {
                    unusable.contains($0) || $0.properties.generalCategory == .control ? "_" : $0
                }))
        while text.hasPrefix(".") { text.removeFirst() }
        // 255 bytes are what most file systems take, with room for a number and the extension.
        while text.utf8.count > 200 { text.removeLast() }
        return text.isEmpty ? "photo" : usableOnWindows(text)
    }

    /// Windows takes a name for a device by what stands before its first dot, whatever the rest is: `CON.jpg` cannot be made there,
    /// nor copied to it.
    private static func usableOnWindows(_ stem: String) -> String {
        let first = stem.prefix { $0 != "." }
        let device = first.uppercased().trimmingCharacters(in: .whitespaces)
        let isNumbered =
            (device.hasPrefix("COM") || device.hasPrefix("LPT")) && device.count == 4
            && "0123456789¹²³".contains(device.suffix(1))
        guard isNumbered || ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"].contains(device) else {
            return stem
        }
        return "\(first)_\(stem.dropFirst(first.count))"
    }
}
