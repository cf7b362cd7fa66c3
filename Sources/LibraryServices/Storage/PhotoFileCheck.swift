import Executors
import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Whether photos' files are what the catalogue says of them.
struct PhotoFileCheck: Sendable {
    struct Finding: Sendable {
        let path: String
        let kind: StorageFinding
        let detail: String?
    }

    let photoFiles: any PhotoFiles
    /// Whether files are read, and not only looked at.
    let digests: Bool
    let isCancelled: CancellationFlag
    let job: Job

    /// Everything that is wrong with one. Blocks. Counts it as done.
    func findings(of entry: PhotoFileEntry) -> [Finding] {
        if isCancelled.isSet { return [] }
        defer { job.advance(items: 1, bytes: digests ? entry.size : 0) }
        func finding(_ kind: StorageFinding, _ detail: String?) -> Finding {
            Finding(path: entry.path, kind: kind, detail: detail)
        }
        do {
            let name = try StoredName(catalogued: entry.path)
            guard let facts = try photoFiles.facts(name) else {
                return [
                    entry.size == 0
                        ? finding(.withoutFile, "it was taken over without a picture")
                        : finding(.missing, "restore it from a backup, or \(Self.removal(of: entry))")
                ]
            }
            var found: [Finding] = []
            if !facts.isFile {
                found.append(finding(.damaged, "it is not a file"))
            } else if facts.size != entry.size {
                found.append(
                    finding(.damaged, "it has \(facts.size) bytes and not \(entry.size); restore it from a backup"))
            } else if digests {
                let actual = try photoFiles.withReader(name) {
                    try ContentDigest(reading: $0, cancelled: { isCancelled.isSet }).sha256.hex
                }
                if actual != entry.digest {
                    found.append(
                        finding(.damaged, "its bytes are not those that were stored; restore it from a backup"))
                }
            }
            if try photoFiles.facts(name.thumbnail) == nil { found.append(finding(.noThumbnail, nil)) }
            return found
        } catch ZipError.cancelled {
            return []
        } catch {
            return [finding(.unreadable, MeshError(describing: error).message)]
        }
    }

    /// How a person lets a photo go that has no file any more.
    private static func removal(of entry: PhotoFileEntry) -> String {
        switch entry.place {
        case .library: "forget it: smilepile photos forget \(entry.id)"
        case .trash: "remove it for good: smilepile trash purge \(entry.id)"
        }
    }
}

extension StoredFile {
    /// Of files together; sparse ones may claim more than a number holds.
    static func bytes(of files: some Sequence<StoredFile>) -> Int64 {
        files.reduce(0) { sum, file in
            let (total, overflow) = sum.addingReportingOverflow(file.size)
            return overflow ? .max : total
        }
    }
}
