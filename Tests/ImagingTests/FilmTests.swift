import Foundation
import ImageWorkerProtocol
import Randomness
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// Films, opened by the real worker in its cell.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the films")) struct FilmTests {
    private static func pool(workers: Int = 1) throws -> ImageWorkerPool {
        ImageWorkerPool(
            executable: try #require(ImageWorkerPool.defaultFilmExecutable(), "build smilepile-film-worker first"),
            workers: workers)
    }

    /// What the worker makes of a film; the files are in the folder.
    private func convert(
        _ path: String, _ folder: TemporaryFolder, _ pool: ImageWorkerPool
    ) async throws(ImagingError) -> ConvertedFilm {
        let files: Files
        do { files = try Files(path, folder) } catch { throw .io("\(error)") }
        defer { withExtendedLifetime(files) {} }
        return try await pool.convertFilm(
            source: files.source, poster: files.photo, thumbnail: files.thumbnail, preview: files.preview)
    }

    private func made(_ film: SampleFilm, as name: String) async throws -> (
        film: ConvertedFilm, folder: TemporaryFolder
    ) {
        let folder = try TemporaryFolder("film")
        try film.write(to: folder.file(name))
        let pool = try Self.pool()
        let converted = try await convert(folder.file(name), folder, pool)
        await pool.shutDown()
        return (converted, folder)
    }

    private static let packed: [(name: String, type: String, codec: String, video: String)] = [
        ("a.mp4", "video/mp4", "libx264", "h264"), ("a.mov", "video/quicktime", "libx265", "hevc"),
        ("a.mkv", "video/x-matroska", "libx264", "h264"), ("a.webm", "video/webm", "libvpx-vp9", "vp9"),
        ("a.avi", "video/x-msvideo", "mpeg4", "mpeg4"), ("a.mts", "video/mp2t", "libx264", "h264"),
        ("a.mpg", "video/mpeg", "mpeg2video", "mpeg2video"), ("a.3gp", "video/3gpp", "libx264", "h264"),
        ("a.wmv", "video/x-ms-asf", "wmv2", "wmv2"),
    ]

    @Test(arguments: packed.indices) func eachKindIsReadAndHasAPoster(_ index: Int) async throws {
        let kind = Self.packed[index]
        let (made, folder) = try await made(SampleFilm { $0.codec = kind.codec }, as: kind.name)
        #expect(made.film.mediaType == kind.type && made.film.videoCodec == kind.video)
        #expect(made.film.audioCodec?.isEmpty == false)
        #expect(abs((made.film.duration ?? 0) - 2000) < 200)
        #expect(made.width == 320 && made.height == 240)
        let poster = try #require(made.poster)
        #expect(try poster.fileSize == Int64(folder.bytes("photo").count) && poster.previewSize == nil)
        #expect(try Pictures.look(atJPEG: folder.file("photo")).size == PixelSize(width: 320, height: 240))
        #expect(try Pictures.look(atJPEG: folder.file("thumbnail")).size == PixelSize(width: 300, height: 225))
    }

    @Test func aPosterIsReducedAsAPhotoIs() async throws {
        let (made, folder) = try await made(
            SampleFilm { ($0.width, $0.height, $0.duration) = (3840, 2160, 0.4) }, as: "a.mp4")
        #expect(made.width == 2048 && made.height == 1152)
        #expect(try Pictures.look(atJPEG: folder.file("photo")).size == PixelSize(width: 2048, height: 1152))
        #expect(try Pictures.look(atWebP: folder.file("preview")).size == PixelSize(width: 1024, height: 576))
        #expect(try made.poster?.previewSize == Int64(folder.bytes("preview").count))
    }

    /// By quarters, as phones write it that are not held as they were built.
    @Test(arguments: [(90, 240, 320), (180, 320, 240), (270, 240, 320)])
    func aFilmIsShownUpright(_ angle: Int, _ width: Int, _ height: Int) async throws {
        let folder = try TemporaryFolder("turned")
        try SampleFilm().write(to: folder.file("plain.mp4"))
        try Tool.ffmpeg.run([
            "-loglevel", "error", "-i", folder.file("plain.mp4"), "-c", "copy", "-metadata:s:v", "rotate=\(angle)",
            folder.file("turned.mp4"),
        ])
        let pool = try Self.pool()
        let plain = try await convert(folder.file("plain.mp4"), folder, pool)
        let before = try Pictures.look(atJPEG: folder.file("photo"))
        let turned = try await convert(folder.file("turned.mp4"), folder, pool)
        await pool.shutDown()
        let after = try Pictures.look(atJPEG: folder.file("photo"))
        #expect(plain.width == 320 && turned.width == width && turned.height == height)
        // ffmpeg turns to the left by what it writes here as `rotate`.
        let order = [90: [1, 3, 0, 2], 180: [3, 2, 1, 0], 270: [2, 0, 3, 1]][angle] ?? []
        #expect(Pictures.difference(after.quadrants, order.map { before.quadrants[$0] }) <= 6)
    }

    @Test func pixelsThatAreNotSquareAre() async throws {
        let wide = SampleFilm { ($0.width, $0.height, $0.filter) = (1440, 1080, "setsar=4/3") }
        let (made, _) = try await made(wide, as: "a.mp4")
        #expect(made.width == 1440 && made.height == 810)
    }

    /// Three quarters of HLG's signal, and 58 hundredths of PQ's, are white: nearly that is seen, and not a grey.
    @Test(arguments: [("arib-std-b67", 192), ("smpte2084", 148)])
    func moreLightThanAScreenHasIsBroughtIntoItsRange(_ curve: String, _ signal: Int) async throws {
        let colour = String(format: "0x%02x%02x%02x", signal, signal, signal)
        let bright = SampleFilm {
            ($0.codec, $0.pixels, $0.hasSound) = ("libx265", "yuv420p10le", false)
            $0.filter = "drawbox=t=fill:color=\(colour):w=iw/2,drawbox=t=fill:color=black:x=iw/2:w=iw/2"
            $0.arguments = ["-color_trc", curve, "-colorspace", "bt2020nc", "-color_primaries", "bt2020"]
        }
        let (_, folder) = try await made(bright, as: "a.mov")
        let quadrants = try Pictures.look(atJPEG: folder.file("photo")).quadrants
        for place in [0, 2] { #expect(quadrants[place].allSatisfy { (225...252).contains($0) }, "\(quadrants)") }
        for place in [1, 3] { #expect(quadrants[place].allSatisfy { $0 < 12 }, "\(quadrants)") }
    }

    @Test func aPosterIsNotBlack() async throws {
        let dark = SampleFilm { ($0.duration, $0.filter) = (6, "drawbox=t=fill:color=black:enable='lt(t,2)'") }
        let (_, folder) = try await made(
            SampleFilm { film in
                film = dark
                film.arguments = ["-g", "10"]
            }, as: "a.mp4")
        let quadrants = try Pictures.look(atJPEG: folder.file("photo")).quadrants
        #expect(quadrants.contains { ($0.max() ?? 0) > 60 })
    }

    // MARK: What it says of itself

    @Test func theCamerasOwnClockCounts() async throws {
        let apple = SampleFilm {
            $0.arguments = ["-movflags", "use_metadata_tags"]
            $0.tags = [
                "creation_time": "2023-06-12T12:05:33Z", "com.apple.quicktime.creationdate": "2023-06-12T14:05:33+0200",
                "com.apple.quicktime.make": "Apple", "com.apple.quicktime.model": "iPhone 12",
                "com.apple.quicktime.location.ISO6709": "+48.1374+011.5755+519.000/",
                "com.apple.quicktime.description": "At the lake",
            ]
        }
        let facts = try await made(apple, as: "a.mov").film.facts
        #expect(facts.taken == CameraDate(clock: 1_686_578_733_000, offset: 120, source: .film))
        #expect(facts.camera == "Apple iPhone 12" && facts.caption == "At the lake")
        #expect(facts.location == PicturePlace(latitude: 48.1374, longitude: 11.5755))
    }

    @Test func elseTheHeadersMomentDoes() async throws {
        let android = SampleFilm {
            $0.tags = ["creation_time": "2023-06-12T12:05:33Z", "location": "-33.8688+151.2093/"]
        }
        let facts = try await made(android, as: "a.mp4").film.facts
        #expect(facts.taken == CameraDate(clock: 1_686_571_533_000, offset: 0, source: .filmMoment))
        #expect(facts.location == PicturePlace(latitude: -33.8688, longitude: 151.2093))
        // Nobody set that clock.
        let unset = SampleFilm { $0.tags = ["creation_time": "1970-01-01T00:00:00Z"] }
        #expect(try await made(unset, as: "a.mp4").film.facts.taken == nil)
    }

    // MARK: What is none, or damaged

    @Test func soundAloneIsNoFilm() async throws {
        let folder = try TemporaryFolder("sound")
        try SampleFilm().write(to: folder.file("a.mp4"))
        try Tool.ffmpeg.run([
            "-loglevel", "error", "-i", folder.file("a.mp4"), "-vn", "-c", "copy", folder.file("sound.mp4"),
        ])
        let pool = try Self.pool()
        await #expect(throws: ImagingError.unsupported(FilmFacts.soundAlone)) {
            _ = try await convert(folder.file("sound.mp4"), folder, pool)
        }
        await pool.shutDown()
    }

    @Test func whatNothingDecodesIsKeptWithoutAPoster() async throws {
        let folder = try TemporaryFolder("unknown")
        try SampleFilm().write(to: folder.file("a.mp4"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("a.mp4")))
        // The name of the code in the table of samples, as a later one's.
        let place = try #require(bytes.range(of: Data("avc1".utf8), in: 32..<bytes.count))
        bytes.replaceSubrange(place, with: Data("zzz9".utf8))
        try bytes.write(to: URL(fileURLWithPath: folder.file("b.mp4")))
        let pool = try Self.pool()
        let made = try await convert(folder.file("b.mp4"), folder, pool)
        await pool.shutDown()
        #expect(made.poster == nil && made.width == 320 && made.height == 240 && made.film.audioCodec == "aac")
    }

    /// Cut anywhere, and changed anywhere: a typed error or a poster, and no worker that ends by itself.
    @Test(arguments: ["a.mp4", "a.mkv", "a.mts", "a.avi", "a.mpg"]) func damageIsContained(_ name: String) async throws
    {
        let folder = try TemporaryFolder("damaged")
        try SampleFilm { film in
            film.duration = 0.6
            if name == "a.avi" { film.codec = "mpeg4" }
            if name == "a.mpg" { film.codec = "mpeg2video" }
        }.write(to: folder.file(name))
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
        let pool = try Self.pool(workers: 2)
        var random = SplitMix64(seed: UInt64(whole.count))
        for round in 0..<24 {
            var bytes = whole
            if round % 2 == 0 {
                bytes = whole.prefix(Int.random(in: 0..<whole.count, using: &random))
            } else {
                for _ in 0..<40 {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            }
            try bytes.write(to: URL(fileURLWithPath: folder.file("damaged")))
            _ = try? await convert(folder.file("damaged"), folder, pool)
        }
        let statistics = pool.statistics
        #expect(statistics.crashed == 0 && statistics.lost == 0 && statistics.timedOut == 0, "\(statistics)")
        #expect(statistics.peakMemory < 250 << 20)
        await pool.shutDown()
    }

    @Test func aFilmThatNamesAnotherFileGetsNone() async throws {
        let folder = try TemporaryFolder("reference")
        try SampleFilm { $0.hasSound = false }.write(to: folder.file("secret.mp4"))
        // An edit list of ffmpeg's own that plays another file, and a playlist: neither is a film here.
        for (name, text) in [
            ("a.ffconcat", "ffconcat version 1.0\nfile secret.mp4\n"), ("a.m3u8", "#EXTM3U\nsecret.mp4\n"),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
            let pool = try Self.pool()
            await #expect(throws: ImagingError.self) { _ = try await convert(folder.file(name), folder, pool) }
            await pool.shutDown()
        }
    }

    @Test func theWorkerIsInItsCell() async throws {
        let pool = try Self.pool()
        let cell = try #require(await pool.cell())
        let pictures = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        #expect(await pictures.cell() == cell)
        await pool.shutDown()
        await pictures.shutDown()
    }
}
