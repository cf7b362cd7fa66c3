import SampleAlbum

/// `smilepile-bench album`: writes a generated album.
package struct AlbumCommand {
    package static let name = "album"
    package static let summary = "writes a generated album of JPEGs into FOLDER"
    package static let options = [
        Arguments.Option("photos", "N", "how many (24)"),
        Arguments.Option("size", "WxH", "pixels of each, upright (1600x1200)"),
        Arguments.Option("texture", "T", "strength of the noise, 0 to 127: the files' size (24)"),
        Arguments.Option("seed", "S", "the same seed makes the same pictures (1)"),
    ]

    let folder: String
    let photos: Int
    let album: SampleAlbum

    package init(folder: String, photos: Int, album: SampleAlbum) {
        self.folder = folder
        self.photos = photos
        self.album = album
    }

    package init(_ arguments: Arguments) throws {
        guard arguments.words.count == 1, let folder = arguments.words.first else {
            throw Arguments.Mistake(description: "Name one folder to write to. See smilepile-bench album --help.")
        }
        self.folder = folder
        photos = try arguments.number("photos", in: 1...1_000_000) ?? 24
        let size = try arguments.size("size") ?? (1600, 1200)
        album = SampleAlbum(
            width: size.width, height: size.height, seed: UInt64(try arguments.number("seed", in: 0...Int.max) ?? 1),
            texture: try arguments.number("texture", in: 0...127) ?? 24)
    }

    package func run() throws { try album.write(count: photos, to: folder) }
}
