/// What people and programs write under `dc:title`.
enum XMPTitle {
    /// Whether a title says no more than the name of a file: it ends like a picture's, or it is what the sidecar is called
    /// by, which is the picture's name or stem. Capitals do not matter.
    static func isFileName(_ title: String, besides sidecar: String) -> Bool {
        let title = PictureName(FolderName(title.utf8).lowercased)
        guard title.kind == .other else { return true }
        let name = FolderName(sidecar.utf8)
        let picture = PictureName((name.dropping(".xmp") ?? name).lowercased)
        // Of `x (2).jpg` it is `x`.
        let unnumbered = picture.numbered.map { FolderName($0.base.bytes.reversed().drop { $0 == 0x20 }.reversed()) }
        let called = [picture.name, picture.stem, unnumbered]
        return called.contains(title.name) || called.contains(title.stem)
    }
}
