import Files
import Foundation
import LibraryModel
import Sealing
import ServiceMesh
import Sidecars
import ZipArchive

/// A backup of which every byte has been read.
package struct CheckedBackup: Sendable {
    package let file: BackupFile
    /// With what reading has found out about pictures of which the documents say nothing.
    package private(set) var contents: BackupContents
    private let checked: BackupArchive.Checked
    /// A line for each entry that was left out because it is damaged, or is unlike its checksum.
    private let damaged: [ReceiptLine]
    /// Names of entries that are not what is promised.
    private let unsound: Set<String>
    /// Those that were opened, by that name.
    private var sealedSidecars: [String: SealedSidecar] = [:]
    private var rings: [Keyring] = []

    init(
        file: BackupFile, contents: BackupContents, checked: BackupArchive.Checked, damaged: [ReceiptLine],
        unsound: Set<String>
    ) {
        self.file = file
        self.contents = contents
        self.checked = checked
        self.damaged = damaged
        self.unsound = unsound
    }

    /// SHA-256 of an entry that is promised, and is what is promised; lower-case hex. A sidecar that was sealed has what its
    /// open bytes are said to be, under the name that it would have open.
    package func digest(of path: String) throws -> String? {
        if let sealed = sealedSidecars[path] { return sealed.sidecar.contentDigest }
        return unsound.contains(path) ? nil : try file.promisedDigest(of: path)
    }

    /// The same with the sidecars that were sealed among those of their photos, where the archive has them whole.
    package func opening(_ opened: OpenedFields) throws -> CheckedBackup {
        guard !opened.sidecars.isEmpty else { return self }
        var backup = self
        backup.rings = opened.rings
        backup.contents.photos = try contents.photos.spooled(in: contents.scratch) { sourced in
            var sourced = sourced
            let sidecars = opened.sidecars[sourced.photo.uuid] ?? []
            for sealed in sidecars.sorted(by: { $0.place < $1.place }) where try backup.has(sealed) {
                let path = sealed.sidecar.path
                guard try backup.digest(of: path) == nil, sourced.photo.sidecars.count < KeptSidecar.maximumCount
                else { continue }
                sourced.photo.sidecars.insert(sealed.sidecar, at: min(sealed.place, sourced.photo.sidecars.count))
                backup.sealedSidecars[path] = sealed
            }
            return sourced
        }
        return backup
    }

    private func has(_ sealed: SealedSidecar) throws -> Bool {
        guard file.isSalvaged else { return try digest(of: sealed.entry) != nil }
        // Where the manifest is lost, nobody promises it; and one that does not open keeps nothing else back.
        return try file.archive.has(sealed.entry) && (try? open(sealed)) != nil
    }

    private func open(_ sealed: SealedSidecar) throws -> [UInt8] {
        let limit = SealedSidecar.entrySize(Int64(SidecarLimits.bytes))
        let (bytes, _) = try file.archive.read(sealed.entry, limit: Int(limit), checked)
        guard let opened = sealed.open(Array(bytes), with: rings) else {
            throw MeshError(refusingBackup: "a sealed sidecar does not open.", entry: sealed.entry)
        }
        return opened
    }

    /// Whether it was sealed, and is a sidecar.
    package func isSealed(_ path: String) -> Bool { sealedSidecars[path] != nil }

    /// Entries whose bytes were not those that the catalogue had recorded when they were saved; of what was sealed, the name that
    /// it would have open.
    package var damagedWhenSaved: [String] {
        guard !sealedSidecars.isEmpty else { return file.damaged }
        let open = Dictionary(
            sealedSidecars.map { ($1.entry, $0) }, uniquingKeysWith: { first, _ in first })
        return file.damaged.map { open[$0] ?? $0 }
    }

    /// That were read.
    package var bytes: Int64 { checked.bytes }
    package var summary: BackupSummary { file.summary }
    /// A document that is lost is told once: with what that means, and not with its checksum too.
    package var lines: [ReceiptLine] {
        file.lines + damaged.filter { !file.lostDocuments.contains($0.item) } + otherPictures
    }
    /// A line for each that comes as a photo of its own.
    private var otherPictures: [ReceiptLine] = []

    /// The bytes of a small entry, and their digest.
    /// - Throws: where it has more than `limit`, is damaged, or has changed since.
    package func read(_ name: String, limit: Int) throws -> (bytes: Data, digest: ContentDigest) {
        try file.archive.read(name, limit: limit, checked)
    }

    /// Writes an entry's bytes to `output`, open where it was sealed.
    /// - Returns: their digest.
    package func extract(
        _ name: String, to output: Int32, cancelled: () -> Bool, progress: (Int) -> Void
    ) throws -> ContentDigest {
        if let sealed = sealedSidecars[name] {
            let opened = try open(sealed)
            try opened.withUnsafeBytes { try FileSystem.write($0, to: output, name) }
            progress(opened.count)
            return ContentDigest(of: opened)
        }
        return try file.archive.extract(name, checked, to: output, cancelled: cancelled, progress: progress)
    }

    package func telling(apart others: OtherPictures) throws -> CheckedBackup {
        guard !others.uuids.isEmpty else { return self }
        var backup = self
        backup.contents.photos = try contents.photos.spooled(in: contents.scratch) { sourced in
            var sourced = sourced
            sourced.photo.uuid = others.uuid(sourced.photo.uuid)
            return sourced
        }
        backup.otherPictures = others.lines
        return backup
    }

    /// Names of entries that are not what they should be.
    package var leftOut: [String] { damaged.filter { $0.outcome == "damaged" }.map(\.item) }

    /// Whether nothing was left out, nor is unlike its checksum.
    package var isAsPromised: Bool { damaged.isEmpty }
}
