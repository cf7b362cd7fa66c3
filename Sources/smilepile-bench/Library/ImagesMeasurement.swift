import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// What every type of picture costs: a photo of 2048 pixels, a thumbnail of 300 and the source itself, durable and in the
/// catalogue, beside `vipsthumbnail` making the same two files and `cp` of the source. How good both outputs are beside
/// `vipsthumbnail`'s, and how much memory it takes, also of pictures that are larger than cameras make.
struct ImagesMeasurement: Measurement {
    static let name = "images"
    static let summary = "every type of picture vs vipsthumbnail and cp: time, PSNR, memory"
    static let options = [
        Arguments.Option("photos", "N", "how many of each type (8)"),
        Arguments.Option("runs", "N", "runs of each contender, medians are shown (3)"),
        Arguments.Option("only", "TYPE", "one type alone: jpeg, jpeg24, png, webp, heic, avif, tiff, heic48, jpeg108"),
    ]
    static let quick = ["--photos", "2", "--runs", "1"]

    let photos: Int
    let runs: Int
    let kinds: [PictureKind]

    init(_ arguments: Arguments) throws {
        photos = try arguments.number("photos", in: 1...1000) ?? 8
        runs = try arguments.number("runs", in: 1...100) ?? 3
        let only = arguments.text("only")
        kinds = PictureKind.all.filter { only == nil || $0.name == only }
        guard !kinds.isEmpty else {
            throw Arguments.Mistake(description: "There is no type '\(only ?? "")'. See smilepile-bench images --help.")
        }
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        var figures: [Figure] = []
        for kind in kinds {
            guard let missing = kind.tools.first(where: { $0.path == nil }) else {
                let sources = try kind.make(kind.isBig ? 1 : photos, in: work)
                figures += try await self.figures(of: kind, sources, in: work)
                try FileManager.default.removeItem(atPath: sources)
                continue
            }
            figures.append(.missing(kind.title, ours: "", missing))
        }
        return figures
    }

    private func figures(of kind: PictureKind, _ folder: String, in work: WorkFolder) async throws -> [Figure] {
        let files = try GeneratedAlbum.files(of: folder)
        note("\(kind.title): \(files.count) of \(Format.megabytes(try GeneratedAlbum.bytes(of: folder))) together")
        let memory = MemoryPeak()
        let peer = VipsThumbnails(files: files, copiesSources: true)
        let medians = try await Measuring.interleaved(
            runs: kind.isBig ? 1 : runs,
            [{ try await Self.importAll(of: folder, memory, in: work) }, { try peer.seconds(in: work) }])
        var figures = [
            Figure.times(
                "\(kind.title): both outputs and the source", ours: medians[0] / Double(files.count),
                peer: medians[1] / Double(files.count), command: peer.commandLine, atLeast: kind.speed,
                show: { Format.seconds($0) + " each" })
        ]
        if !kind.isBig { figures += try await Likeness(source: files[0], work: work).figures(kind.title) }
        let peak = await memory.bytes
        figures.append(
            Figure(
                "\(kind.title): peak memory (VmHWM), daemon + workers",
                ours: await memory.parts.map(Format.megabytes).joined(separator: " + "),
                must: "< \(Format.megabytes(kind.memory))", holds: peak < kind.memory))
        return figures
    }

    /// Seconds for all of them into a new library, with originals.
    private static func importAll(of folder: String, _ memory: MemoryPeak, in work: WorkFolder) async throws -> Double {
        let path = work.newPath("library")
        defer { try? FileManager.default.removeItem(atPath: path) }
        sync()
        ProcessFacts.forgetPeak()
        let library = try await BenchLibrary.open(at: path)
        let watching = Task {
            while !Task.isCancelled {
                await memory.sample([getpid()] + (try await library.workers()))
                // The measurement's own clock; nothing is decided by it.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        let times = try await library.run(ImportPhotos(paths: [folder], originals: true))
        watching.cancel()
        // What it had asked by then is called off with it.
        do { try await watching.value } catch  where MeshError(describing: error).status == .cancelled {}
        await library.close()
        return times.seconds
    }
}

/// A type of picture, how to make such files, and what has to hold of them.
struct PictureKind: Sendable {
    /// On the command line.
    let name: String
    let title: String
    let pixels: String
    /// How one is made of a JPEG with the same pixels; nil where it is that JPEG.
    let command: (@Sendable (_ jpeg: String, _ output: String) -> [String])?
    let fileExtension: String
    let tools: [Tool]
    /// Times the peer; nil where nothing is asked for.
    let speed: Double?
    /// Bytes, of this process and its workers.
    let memory: Int64
    /// One alone, for the memory that it takes.
    var isBig = false

    static let all = [
        PictureKind(
            name: "jpeg", title: "JPEG of 12 MP", pixels: "4000x3000", command: nil, fileExtension: "jpg",
            tools: [.vips], speed: 1.8, memory: 150_000_000),
        PictureKind(
            name: "jpeg24", title: "JPEG of 24 MP", pixels: "6000x4000", command: nil, fileExtension: "jpg",
            tools: [.vips], speed: 1.8, memory: 200_000_000),
        vips("png", "PNG of 12 MP", "", memory: 200_000_000),
        vips("webp", "WebP of 12 MP", "[Q=85]", memory: 300_000_000),
        vips("tiff", "TIFF of 12 MP", "[compression=lzw]", memory: 200_000_000),
        heif("heic", "HEIC of 12 MP", "4000x3000", memory: 300_000_000),
        heif("avif", "AVIF of 12 MP", "4000x3000", memory: 300_000_000),
        heif("heic48", "HEIC of 48 MP in one piece", "8000x6000", memory: 400_000_000, isBig: true),
        PictureKind(
            name: "jpeg108", title: "JPEG of 108 MP", pixels: "12000x9000", command: nil, fileExtension: "jpg",
            tools: [.vips], speed: nil, memory: 300_000_000, isBig: true),
    ]

    private static func vips(_ name: String, _ title: String, _ options: String, memory: Int64) -> PictureKind {
        PictureKind(
            name: name, title: title, pixels: "4000x3000", command: { ["vips", "copy", $0, $1 + options] },
            fileExtension: name, tools: [.vips], speed: 1, memory: memory)
    }

    private static func heif(
        _ name: String, _ title: String, _ pixels: String, memory: Int64, isBig: Bool = false
    ) -> PictureKind {
        let isAVIF = name == "avif"
        return PictureKind(
            name: name, title: title, pixels: pixels,
            command: { ["heif-enc"] + (isAVIF ? ["-A", "-p", "speed=8"] : []) + ["-q", "60", "-o", $1, $0] },
            fileExtension: isAVIF ? "avif" : "heic", tools: [.vips, .heif], speed: isBig ? nil : 1,
            memory: memory, isBig: isBig)
    }

    /// The files, each another picture, in a folder of their own.
    func make(_ count: Int, in work: WorkFolder) throws -> String {
        let folder = work.newPath(name)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let cores = max(1, ProcessInfo.processInfo.activeProcessorCount)
        for first in stride(from: 0, to: count, by: cores) {
            let some = first..<min(count, first + cores)
            var commands: [Command] = []
            for number in some {
                // The first of each album is upright as it is stored.
                let album = try GeneratedAlbum.make(1, pixels: pixels, texture: 24, seed: number + 1, in: work)
                let jpeg = try GeneratedAlbum.files(of: album)[0]
                let output = "\(folder)/\(number).\(fileExtension)"
                if let command {
                    commands.append(Command(command(jpeg, output)))
                } else {
                    try FileManager.default.moveItem(atPath: jpeg, toPath: output)
                }
            }
            _ = try Command.run(commands, in: work)
        }
        return folder
    }
}

/// How like a reference both outputs are: the source, decoded by libvips and reduced by ImageMagick with Lanczos.
struct Likeness {
    let source: String
    let work: WorkFolder

    private static let sides = [("photo", 2048), ("thumbnail", 300)]

    func figures(_ title: String) async throws -> [Figure] {
        guard Tool.magick.path != nil else { return [.missing("\(title): PSNR", ours: "", .magick)] }
        let folder = work.newPath("likeness")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(
            atPath: folder + "/source", withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: source, toPath: folder + "/source/" + URL(fileURLWithPath: source).lastPathComponent)
        let ours = try await outputs(of: folder + "/source", in: folder + "/library")
        try Command(["vips", "copy", source, folder + "/decoded.png"]).run(in: work)
        return try Self.sides.enumerated().map { index, output in
            let (name, side) = output
            let (reference, theirs) = ("\(folder)/\(name).png", "\(folder)/\(name).jpg")
            // With 16 bits: of 8, ImageMagick 6 cuts off what is below a whole level instead of rounding. A reference that
            // is half a level too dark favours whoever errs to the same side.
            try Command([
                "convert", folder + "/decoded.png", "-filter", "Lanczos", "-resize", "\(side)x\(side)", "-depth", "16",
                reference,
            ]).run(in: work)
            let peer = ["vipsthumbnail", "-s", "\(side)", "-o", theirs + "[Q=\(index == 0 ? 90 : 85)]", source]
            try Command(peer).run(in: work)
            let (own, other) = (try psnr(ours[index], reference), try psnr(theirs, reference))
            return Figure(
                "\(title): PSNR of the \(name)", ours: Self.decibels(own), peer: Self.decibels(other),
                command: "convert SOURCE -filter Lanczos -resize \(side)x\(side) -depth 16 REFERENCE.png; "
                    + "compare -metric PSNR OUTPUT.jpg REFERENCE.png null:",
                // To the hundredth that is shown.
                must: "the peer's", holds: own >= other - 0.005)
        }
    }

    /// Photo and thumbnail of the picture in a folder, as a library has them.
    private func outputs(of folder: String, in path: String) async throws -> [String] {
        let library = try await BenchLibrary.open(at: path)
        _ = try await library.run(ImportPhotos(paths: [folder]))
        let photo = try await library.mesh.send(SearchPhotos()).photos.first
        await library.close()
        return photo.map { [path + "/" + $0.path, path + "/" + $0.thumbnailPath] } ?? []
    }

    /// Decibels. It says 1 where two pictures differ, which all of these do.
    private func psnr(_ picture: String, _ reference: String) throws -> Double {
        let text = try Command(
            ["sh", "-c", "compare -metric PSNR \"$0\" \"$1\" null: || test $? -eq 1", picture, reference]
        ).run(in: work)
        guard let value = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchLibrary.Failed(description: "compare said '\(text.prefix(200))'")
        }
        return value
    }

    private static func decibels(_ value: Double) -> String { String(format: "%.2f dB", value) }
}
