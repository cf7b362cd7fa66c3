import CLinux
import Database
import Foundation
import LibraryModel
import ServiceMesh
import ZipArchive

/// The regular files in one of the library's folders. Blocks.
struct StoredFiles {
    /// Bytes by name; names that are not valid UTF-8 are none of ours.
    private(set) var sizes: [String: Int64] = [:]

    var bytes: Int64 { Self.sum(sizes.values) }

    /// Sparse files may claim more than a number holds.
    static func sum(_ sizes: some Sequence<Int64>) -> Int64 {
        sizes.reduce(0) { sum, size in
            let (total, overflow) = sum.addingReportingOverflow(size)
            return overflow ? .max : total
        }
    }

    init(in folder: String) throws {
        for case .some(let name) in try FileSystem.names(in: folder) {
            guard let status = try FileSystem.status(folder + "/" + name), status.st_mode & S_IFMT == S_IFREG else {
                continue
            }
            sizes[name] = Int64(status.st_size)
        }
    }
}

/// What the catalogue says of one photo's file, and whether that is so.
struct StoredPhoto: Sendable {
    enum Table: String, CaseIterable {
        case photos, trash
    }

    struct Finding: Sendable {
        let path: String
        let kind: StorageFinding
        let detail: String?
    }

    let table: Table
    let id: Int64
    let path: String
    /// Bytes.
    let size: Int64
    let digest: String

    static func page(of table: Table, after id: Int64, in connection: Connection) throws -> [StoredPhoto] {
        try connection.query(
            "SELECT id, path, file_size, content_digest FROM \(table.rawValue) WHERE id > ? ORDER BY id LIMIT 256", id
        ) { StoredPhoto(table: table, id: try $0[0], path: try $0[1], size: try $0[2], digest: try $0[3]) }
    }

    /// Everything that is wrong. Blocks; with `digests` it reads the file. Counts itself as done.
    func check(in folder: LibraryFolder, digests: Bool, isCancelled: CancellationFlag, job: Job) -> [Finding] {
        if isCancelled.isSet { return [] }
        defer { job.advance(items: 1, bytes: digests ? size : 0) }
        do {
            guard let status = try FileSystem.status(folder.location(of: path)) else {
                return [
                    size == 0
                        ? finding(.withoutFile, "it was taken over without a picture")
                        : finding(.missing, "restore it from a backup, or \(farewell)")
                ]
            }
            var found: [Finding] = []
            if status.st_mode & S_IFMT != S_IFREG {
                found.append(finding(.damaged, "it is not a file"))
            } else if Int64(status.st_size) != size {
                found.append(
                    finding(.damaged, "it has \(status.st_size) bytes and not \(size); restore it from a backup"))
            } else if digests {
                let actual = try folder.withFile(named: folder.location(of: path)) {
                    try ContentDigest(ofDescriptor: $0, cancelled: { isCancelled.isSet }).sha256.hex
                }
                if actual != digest {
                    found.append(
                        finding(.damaged, "its bytes are not those that were stored; restore it from a backup"))
                }
            }
            let name = path.split(separator: "/").last.map(String.init) ?? path
            if try FileSystem.status(folder.thumbnails + "/" + LibraryFolder.thumbnailPrefix + name) == nil {
                found.append(finding(.noThumbnail, nil))
            }
            return found
        } catch ZipError.cancelled {
            return []
        } catch {
            return [finding(.unreadable, MeshError(describing: error).message)]
        }
    }

    /// How a person lets a photo go that has no file any more.
    private var farewell: String {
        switch table {
        case .photos: "forget it: smilepile photos forget \(id)"
        case .trash: "remove it for good: smilepile trash purge \(id)"
        }
    }

    private func finding(_ kind: StorageFinding, _ detail: String?) -> Finding {
        Finding(path: path, kind: kind, detail: detail)
    }
}
