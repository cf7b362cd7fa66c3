import Files
import Foundation
import Imaging
import LibraryModel
import ServiceMesh
import Sidecars

/// A folder that was read, and which sidecars in it belong to which pictures.
struct SourceFolder: Sendable {
    let path: FilePath
    let sidecars: SidecarNames
}

/// What is said of a picture outside of it: by the files beside it, by its name, by its file.
struct SourceFacts: Sendable {
    /// All sidecars together.
    let sidecars: SidecarFacts
    /// Theirs, else that of the name or of the file.
    let date: PhotoDate?
    /// What says so: the name of a sidecar; nil of the file itself.
    let dateSidecar: String?
    /// The photo's name: what a library's own sidecar says, where the file is called by it still; else the file's.
    let name: String
    /// The category that a library's own sidecar names.
    var category: String? { sidecars.entry?.category }
    var isFavorite: Bool { sidecars.isFavorite == true || sidecars.rating == Self.favoriteRating }
    var position: GeoPosition? { GeoPosition(latitude: sidecars.latitude, longitude: sidecars.longitude) }
    /// Whether such a sidecar says all that is to be known: then what the picture says of caption and mark counts no more,
    /// because somebody may have taken it away.
    var isWhole: Bool { category != nil }
    /// Why a sidecar was of no use, as the end of a sentence; nil where all is well.
    let problem: String?

    /// The rating that other programs give what is here a favourite.
    static let favoriteRating = 5

    /// Reads the sidecars. Blocks.
    /// - Parameter keep: gets the name and the bytes of each that could be read, understood or not, one after the other, and
    ///   says whether it is to be asked: the library may have heard it before.
    /// - Throws: what `keep` does.
    init(
        of file: SourceFiles.File, namedFiles: NamedFiles, now: Timestamp,
        keep: (String, Data) throws -> Bool
    ) rethrows {
        let fileName = file.path.name
        var reader = SidecarReader(folder: file.path.parent, namedFiles: namedFiles, now: now)
        let facts =
            try file.folder.map { try reader.facts(of: fileName, in: $0.sidecars, keep: keep) } ?? SidecarFacts()
        let guess =
            FileNameDate.date(in: fileName, now: now.milliseconds).map { PhotoDate($0, source: .fileName) }
            ?? Self.fileTime(file.modified, now: now)
        // What had no date in a library is not to get one by being copied.
        date = PhotoDate(facts) ?? (facts.entry == nil ? guess : nil)
        dateSidecar = facts.taken == nil ? nil : reader.dateSidecar
        let stem = Self.stem(fileName)
        name = facts.entry.flatMap { $0.names(stem) ? $0.name : nil } ?? stem
        sidecars = facts
        problem = reader.problems.isEmpty ? nil : reader.problems.joined(separator: "; ")
    }

    /// The name of a file without its extension.
    private static func stem(_ file: String) -> String {
        file.lastIndex(of: ".").map { $0 == file.startIndex ? file : String(file[..<$0]) } ?? file
    }

    /// The first day of FAT's clock is what cameras and sticks write that have none.
    private static let firstFileTime: Int64 = 315_619_200_000

    private static func fileTime(_ time: Timestamp, now: Timestamp) -> PhotoDate? {
        guard (firstFileTime...now.milliseconds &+ 86_400_000).contains(time.milliseconds) else { return nil }
        return PhotoDate(clock: LocalDateTime(here: time), source: .fileTime)
    }

    /// The date that counts.
    /// - Parameter others: what the picture says, and what is told of it.
    func bestDate(besides others: PhotoDate?...) -> PhotoDate? {
        guard let best = PhotoDate.best(of: [others.first ?? nil, date] + others.dropFirst()) else { return nil }
        // Somebody may have told the offset alone, and then the picture is still what says the date.
        guard isWhole, let date, date.clock == best.clock, date.precision == best.precision else { return best }
        return PhotoDate(
            clock: best.clock, precision: best.precision, offset: date.offset ?? best.offset, source: best.source)
    }
}

/// Reads the sidecars of one picture. Hostile: they are opened as whatever somebody else has named, and no more of them is
/// read than they may have.
private struct SidecarReader {
    let folder: FilePath
    let namedFiles: NamedFiles
    let now: Timestamp
    private(set) var problems: [String] = []
    /// The one whose date counts.
    private(set) var dateSidecar: String?

    init(folder: FilePath, namedFiles: NamedFiles, now: Timestamp) {
        self.folder = folder
        self.namedFiles = namedFiles
        self.now = now
    }

    mutating func facts(
        of picture: String, in names: SidecarNames, keep: (String, Data) throws -> Bool
    ) rethrows -> SidecarFacts {
        let selection = names.selection(for: picture) { candidate in
            try? self.facts(candidate.name, of: bytes(candidate.name))
        }
        if !selection.ambiguous.isEmpty {
            problems.append(
                "which sidecar is its own cannot be told, so none of these was used: \(Self.list(selection.ambiguous))")
        }
        var facts = SidecarFacts()
        let names = selection.names.prefix(KeptSidecar.maximumCount)
        if names.count < selection.names.count {
            problems.append("of its sidecars the first \(names.count) are used and kept, and the rest is left")
        }
        for name in names {
            // Read again where its title was asked for: nothing but the one in hand is held in memory.
            guard let bytes = noting(name, Result { try self.bytes(name) }) else { continue }
            guard try keep(name, bytes), let found = noting(name, Result { try self.facts(name, of: bytes) }) else {
                continue
            }
            if facts.taken == nil, found.taken != nil { dateSidecar = name }
            facts = facts.merging(found)
        }
        return facts
    }

    private mutating func noting<Value>(_ name: String, _ result: Result<Value, any Error>) -> Value? {
        do {
            return try result.get()
        } catch {
            problems.append("its sidecar \(name) was not used: \(Self.sentence(error))")
            return nil
        }
    }

    private func facts(_ name: String, of bytes: Data) throws -> SidecarFacts {
        try SidecarFacts(bytes, named: name, now: now.milliseconds)
    }

    private func bytes(_ name: String) throws -> Data { try namedFiles.sidecar(name, in: folder) }

    private static func sentence(_ error: any Error) -> String {
        (error as? SidecarError)?.description ?? MeshError(describing: error).message
    }

    private static func list(_ names: [String]) -> String { names.prefix(3).joined(separator: ", ") }
}

extension NamedFiles {
    /// The bytes of a file beside a picture. Blocks.
    func sidecar(_ name: String, beside picture: FilePath) throws -> Data { try sidecar(name, in: picture.parent) }

    fileprivate func sidecar(_ name: String, in folder: FilePath) throws -> Data {
        try withSteadyFile(folder.appending(FilePath(text: name))) { descriptor in
            var status = stat()
            try FileSystem.check(fstat(descriptor, &status), "look at", name)
            guard status.st_size <= SidecarLimits.bytes else {
                throw MeshError(
                    .resourceExhausted, "it has \(status.st_size) bytes, and \(SidecarLimits.bytes) at most are read")
            }
            var data = Data(count: Int(status.st_size))
            let count = try data.withUnsafeMutableBytes { try OpenFile(descriptor).read(into: $0, at: 0) }
            guard count == data.count else { throw ImagingError.changed }
            return data
        }
    }
}

extension PhotoDate {
    /// What sidecars say, as what the library that wrote them had it from: a person's word stays one, and so does a guess. Whatever
    /// else said it there, here it is the sidecar.
    init?(_ facts: SidecarFacts) {
        guard let taken = facts.taken else { return nil }
        let said = facts.entry?.dateSource.flatMap(DateSource.init(rawValue:))
        self.init(taken, source: said.flatMap { $0 == .person || $0.isGuess ? $0 : nil } ?? .sidecar)
    }

    /// What a clock here shows at a moment, where no more is known.
    init(_ time: CaptureTime, source: DateSource) {
        switch time.clock {
        case .universal:
            // What is known to the day in UTC is that day here: a zone's hours would make it another.
            let clock =
                time.precision > .day
                ? LocalDateTime(here: Timestamp(milliseconds: time.milliseconds))
                : LocalDateTime(milliseconds: time.milliseconds)
            self.init(clock: clock, precision: time.precision, source: source)
        case .wall(let offset):
            self.init(
                clock: LocalDateTime(milliseconds: time.milliseconds), precision: time.precision, offset: offset,
                source: source)
        }
    }
}
