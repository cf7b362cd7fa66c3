import CLinux
import Files
import Foundation
import LibraryModel
import Scratch
import ServiceMesh

/// Files that are to be imported, in an order. They need not fit into memory: a family's whole archive may be imported at once, and each
/// month again. Reading it blocks.
struct SourceFileList: Sendable {
    /// A file as it lies in the list.
    fileprivate struct Entry: Codable, Sendable {
        let path: String
        /// Where that is not the path.
        let item: String?
        let size: Int64
        /// Milliseconds since 1970.
        let modified: Int64
        let stamp: FileStamp?
        /// Its place among the folders.
        let folder: Int?
    }

    private let entries: SpooledList<Entry>
    private let folders: [SourceFolder]
    /// Of the files together; sparse ones may claim more than a number holds.
    let bytes: Int64

    static let empty = SourceFileList(entries: [], folders: [], bytes: 0)

    var count: Int { entries.count }
    var indices: Range<Int> { entries.indices }

    private func file(_ entry: Entry) -> SourceFiles.File {
        SourceFiles.File(
            path: FilePath(text: entry.path), item: entry.item ?? entry.path, size: entry.size,
            modified: Timestamp(milliseconds: entry.modified), stamp: entry.stamp,
            folder: entry.folder.map { folders[$0] })
    }

    func files(_ range: Range<Int>) throws -> [SourceFiles.File] { try entries.elements(range).map(file) }

    /// In memory: for what is little of each file, or for few files.
    func compactMap<Value>(_ body: (SourceFiles.File) throws -> Value?) throws -> [Value] {
        try entries.compactMap { try body(file($0)) }
    }

    func without(_ items: RecordedItems, in scratch: Scratch) throws -> SourceFileList {
        guard !items.isEmpty else { return self }
        var left: Int64 = 0
        let rest = try entries.spooled(in: scratch) { entry -> Entry? in
            guard !items.contains(entry.item ?? entry.path) else { return nil }
            left.add(clamping: entry.size)
            return entry
        }
        return SourceFileList(entries: rest, folders: folders, bytes: left)
    }

    /// Makes a list, file by file.
    struct Maker {
        private let scratch: Scratch
        private var entries: SpooledList<Entry>.Spooler
        private var folders: [SourceFolder] = []
        private var places: [FilePath: Int] = [:]
        private var bytes: Int64 = 0

        init(in scratch: Scratch) {
            self.scratch = scratch
            entries = .init(in: scratch)
        }

        mutating func append(_ file: SourceFiles.File) throws {
            let folder = file.folder.map { place(of: $0) }
            bytes.add(clamping: file.size)
            try entries.append(
                Entry(
                    path: file.path.text, item: file.item == file.path.text ? nil : file.item, size: file.size,
                    modified: file.modified.milliseconds, stamp: file.stamp, folder: folder))
        }

        private mutating func place(of folder: SourceFolder) -> Int {
            if let place = places[folder.path] { return place }
            places[folder.path] = folders.count
            folders.append(folder)
            return folders.count - 1
        }

        /// Photos of one second get their ids in this order. The number of a picture counts, so that IMG_9 stands before IMG_10; uploads
        /// come in the order in which somebody chose them.
        mutating func finish() throws -> SourceFileList {
            let sorted = try entries.finish().sorted(in: scratch) {
                clinux_compare_numbered($0.item ?? $0.path, $1.item ?? $1.path) < 0
            }
            return SourceFileList(entries: sorted, folders: folders, bytes: bytes)
        }
    }
}

extension SourceFiles.File {
    /// - Parameter item: what the receipt calls it, where that is not its path.
    init(
        path: FilePath, item: String? = nil, _ status: stat, stamp: FileStamp? = nil, in folder: SourceFolder? = nil
    ) {
        let (seconds, overflow) = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1000)
        self.init(
            path: path, item: item ?? path.text, size: Int64(status.st_size),
            modified: Timestamp(
                milliseconds: overflow ? .min : seconds &+ Int64(status.st_mtim.tv_nsec) / 1_000_000),
            stamp: stamp, folder: folder)
    }
}
