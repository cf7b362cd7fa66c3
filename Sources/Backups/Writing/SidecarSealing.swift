import BackupFormats
import Foundation
import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh
import Sidecars

/// What a backup seals that lies open in the library.
extension BackupCreation {
    /// Photos whose sidecars are read at a time, before the job may stand still.
    private static let batch = 256

    /// Puts sidecars that name a place among what is sealed. Where there is no key for that, they are left out.
    /// - Returns: the paths of those that are left out, with why.
    func sealSidecars(_ contents: inout BackupContents, job: Job) async throws -> [String: String] {
        guard contents.mayHaveSidecars else { return [:] }
        let (all, scratch) = (contents.photos, contents.scratch)
        let photos = try await bulk.run { try all.spooled(in: scratch) { $0.photo.sidecars.isEmpty ? nil : $0.photo } }
        guard !photos.isEmpty else { return [:] }
        job.begin(phase: "reading sidecars", items: Int64(photos.count))
        var (found, unreadable) = ([SealedSidecar](), [String: String]())
        for start in stride(from: 0, to: photos.count, by: Self.batch) {
            try await job.mayContinue()
            let (photoFiles, part) = (photoFiles, start..<min(start + Self.batch, photos.count))
            let (sealed, failed) = try await bulk.run {
                try Self.sidecarsWithPlaces(of: photos.elements(part), photoFiles)
            }
            found += sealed
            unreadable.merge(failed) { first, _ in first }
            job.advance(items: Int64(part.count))
        }
        if !found.isEmpty {
            do {
                let keyring = try await fields.keyringMakingOne()
                let values = try found.map { try $0.value(sealedBy: keyring) }
                let sealed = contents.sealed ?? SealedDocument(values: [])
                contents.sealed = try await bulk.run { try sealed.adding(values, in: scratch) }
                contents.sealedSidecars = found
            } catch {
                try Task.checkCancellation()
                // The photos are worth more than what stands beside them.
                let why = MeshError(describing: error).message
                for sidecar in found {
                    unreadable[sidecar.sidecar.path] =
                        "it names a place, and is in a backup only if that can be sealed: \(why)"
                }
            }
        }
        let open = Set(found.map(\.sidecar.path)).union(unreadable.keys)
        contents.photos = try await bulk.run {
            try all.spooled(in: scratch) { sourced in
                var sourced = sourced
                sourced.photo.sidecars.removeAll { open.contains($0.path) }
                return sourced
            }
        }
        return unreadable
    }

    /// Blocks.
    private static func sidecarsWithPlaces(
        of photos: [Photo], _ photoFiles: any PhotoFiles
    ) throws -> (sealed: [SealedSidecar], unreadable: [String: String]) {
        var (sealed, unreadable) = ([SealedSidecar](), [String: String]())
        for photo in photos {
            // A film or a raw file is no text beside a picture: what it says of a place it says as the picture's own EXIF does.
            for (place, sidecar) in photo.sidecars.enumerated() where !sidecar.isCompanion {
                do {
                    let bytes = try photoFiles.withReader(StoredName(catalogued: sidecar.path), SealedSidecar.bytes)
                    guard SidecarFacts.mayNamePlace(Data(bytes), named: sidecar.name) else { continue }
                    sealed.append(SealedSidecar(uuid: photo.uuid, place: place, sidecar: sidecar))
                } catch {
                    guard let reason = BackupWriter.fault(of: error) else { throw error }
                    unreadable[sidecar.path] = reason
                }
            }
        }
        return (sealed, unreadable)
    }

    /// What seals sidecars while they are copied: the backup's own key, or the library's.
    func sealing(_ contents: BackupContents) async throws -> Keyring? {
        guard !contents.sealedSidecars.isEmpty else { return nil }
        guard let keyring = try await fields.keyring() else {
            throw MeshError(.failedPrecondition, "The keys of the sealed fields are gone. Put the key file back.")
        }
        return try contents.sealed?.key.map { Keyring(active: try $0.opened(keyring)) } ?? keyring
    }
}
