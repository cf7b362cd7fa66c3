import Files
import Foundation
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
    let date: PhotoDate?
    let caption: String?
    let isFavorite: Bool
    /// Why a sidecar was of no use, as the end of a sentence; nil where all is well.
    let problem: String?

    /// The rating that other programs give what is here a favourite.
    static let favoriteRating = 5

    /// Reads the sidecars. Blocks.
    init(of file: SourceFiles.File, namedFiles: NamedFiles, now: Timestamp) {
        let name = file.path.name
        var reader = SidecarReader(folder: file.path.parent, namedFiles: namedFiles, now: now)
        let facts = file.folder.map { reader.facts(of: name, in: $0.sidecars) } ?? SidecarFacts()
        date =
            facts.taken.map { PhotoDate($0, source: .sidecar) }
            ?? FileNameDate.date(in: name, now: now.milliseconds).map { PhotoDate($0, source: .fileName) }
            ?? Self.fileTime(file.modified, now: now)
        caption = facts.caption
        isFavorite = facts.isFavorite == true || facts.rating == Self.favoriteRating
        problem = reader.problems.isEmpty ? nil : reader.problems.joined(separator: "; ")
    }

    /// The first day of FAT's clock is what cameras and sticks write that have none.
    private static let firstFileTime: Int64 = 315_619_200_000

    private static func fileTime(_ time: Timestamp, now: Timestamp) -> PhotoDate? {
        guard (firstFileTime...now.milliseconds &+ 86_400_000).contains(time.milliseconds) else { return nil }
        return PhotoDate(clock: LocalDateTime(here: time), source: .fileTime)
    }
}

/// Reads the sidecars of one picture. Hostile: they are opened as whatever somebody else has named, and no more of them is
/// read than they may have.
private struct SidecarReader {
    let folder: FilePath
    let namedFiles: NamedFiles
    let now: Timestamp
    private(set) var problems: [String] = []
    private var known: [String: SidecarFacts] = [:]

    init(folder: FilePath, namedFiles: NamedFiles, now: Timestamp) {
        self.folder = folder
        self.namedFiles = namedFiles
        self.now = now
    }

    mutating func facts(of picture: String, in names: SidecarNames) -> SidecarFacts {
        var titles: [String: SidecarFacts] = [:]
        let selection = names.selection(for: picture) { candidate in
            let facts = read(candidate.name)
            titles[candidate.name] = facts
            return facts?.title
        }
        known = titles
        if !selection.ambiguous.isEmpty {
            problems.append("two sidecars may be its own, and neither was used: \(Self.list(selection.ambiguous))")
        }
        var facts = SidecarFacts()
        for name in selection.names {
            if let found = known[name] ?? noting(name) { facts = facts.merging(found) }
        }
        return facts
    }

    private mutating func noting(_ name: String) -> SidecarFacts? {
        do {
            return try facts(name)
        } catch {
            problems.append("its sidecar \(name) was not used: \(Self.sentence(error))")
            return nil
        }
    }

    private func read(_ name: String) -> SidecarFacts? { try? facts(name) }

    private func facts(_ name: String) throws -> SidecarFacts {
        let bytes = try namedFiles.withFile(folder.appending(FilePath(text: name))) { descriptor in
            var status = stat()
            try FileSystem.check(fstat(descriptor, &status), "look at", name)
            guard status.st_size <= SidecarLimits.bytes else {
                throw MeshError(
                    .resourceExhausted, "it has \(status.st_size) bytes, and \(SidecarLimits.bytes) at most are read")
            }
            var data = Data(count: Int(status.st_size))
            let count = try data.withUnsafeMutableBytes { try OpenFile(descriptor).read(into: $0, at: 0) }
            return data.prefix(count)
        }
        return try SidecarFacts(Data(bytes), named: name, now: now.milliseconds)
    }

    private static func sentence(_ error: any Error) -> String {
        (error as? SidecarError)?.description ?? MeshError(describing: error).message
    }

    private static func list(_ names: [String]) -> String { names.prefix(3).joined(separator: ", ") }
}

extension PhotoDate {
    /// What a clock here shows at a moment, where no more is known.
    fileprivate init(_ time: CaptureTime, source: DateSource) {
        switch time.clock {
        case .universal:
            self.init(clock: LocalDateTime(here: Timestamp(milliseconds: time.milliseconds)), source: source)
        case .wall(let offset):
            self.init(clock: LocalDateTime(milliseconds: time.milliseconds), offset: offset, source: source)
        }
    }
}
