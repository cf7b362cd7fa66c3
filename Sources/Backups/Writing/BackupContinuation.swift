import BackupFormats
import CLinux
import Files
import Foundation
import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh
import ZipArchive

/// How a backup goes on that was broken off: from its checkpoint and from the file that the checkpoint is about.
extension BackupCreation {
    /// Goes on with a backup that was broken off.
    /// - Returns: nil where what it left is of no use any more; it has been removed, and the backup begins anew.
    func resume(from checkpoint: BackupCheckpoint, job: Job) async throws -> BackupReceipt? {
        let partial = checkpoint.partial
        let (id, catalogue) = (job.id, catalogue)
        let isOurs = try await uncancelled {
            try await catalogue.read { try $0.unfinishedBackups.find(partial)?.job == id }
        }
        if let proven = try await uncancelled({ try await proven(checkpoint, isOurs: isOurs) }) {
            do {
                return try await conclude(checkpoint, proven, job: job)
            } catch {
                await unfinished.giveUp(partial)
                throw error
            }
        }
        guard isOurs else { return nil }
        do {
            try await job.mayContinue()
            job.begin(phase: "reading what is there")
            guard let (descriptor, contents) = try await open(checkpoint, job: id) else {
                await unfinished.giveUp(partial)
                return nil
            }
            var isMade = false
            defer { letGo(descriptor, isMade: isMade) }
            try await unfinished.claim(partial, descriptor, by: id)
            do {
                let receipt = try await complete(contents, checkpoint, descriptor, job: job)
                isMade = true
                return receipt
            } catch let error as MeshError where error.status == .dataLoss {
                // What was copied before is not what the disk has now. The whole of it once more will tell.
                return nil
            }
        } catch {
            if job.isCancelled { await unfinished.giveUp(partial) }
            throw error
        }
    }

    /// What an earlier run has proven, where it is there, under the one name or the other.
    /// - Parameter isOurs: whether it is among the unfinished ones; what makes it a backup takes it from there, and then
    ///   only the job's end is missing.
    private func proven(
        _ checkpoint: BackupCheckpoint, isOurs: Bool
    ) async throws -> BackupCheckpoint.Proven? {
        guard let partial = places.path(checkpoint.partial), let target = places.path(checkpoint.target)
        else { return nil }
        let namedFiles = namedFiles
        return try await bulk.run {
            let isNamed = try FileSystem.status(partial) == nil
            // Only what is proven gets the name; the note of it may have been lost.
            guard isNamed || (isOurs && checkpoint.proven != nil),
                let status = try FileSystem.status(isNamed ? target : partial),
                let file = try? BackupFile(path: isNamed ? target : partial, namedFiles),
                file.summary.timestamp == checkpoint.time
            else { return nil }
            let bytes = checkpoint.isSnapshot == true ? try file.promisedBytes() : Int64(status.st_size)
            return try checkpoint.proven ?? Self.proven(file, bytes: bytes, target, checkpoint)
        }
    }

    /// What a run had to tell that came as far as the name, and no further.
    private static func proven(
        _ file: BackupFile, bytes: Int64, _ target: String, _ checkpoint: BackupCheckpoint
    ) throws -> BackupCheckpoint.Proven {
        let written = BackupWriter.Written(
            bytes: bytes, damaged: file.damaged,
            unreadable: checkpoint.unreadable)
        return try proven(written, file.contents, target, checkpoint)
    }

    /// Blocks.
    static func proven(
        _ written: BackupWriter.Written, _ contents: BackupContents, _ target: String, _ checkpoint: BackupCheckpoint
    ) throws -> BackupCheckpoint.Proven {
        // Photos that turned out unreadable in an earlier run are not in its snapshot.
        let photos = try contents.without(Set(written.unreadable.keys)).photos
        let sealed = try contents.sealed?.only(of: photos, in: contents.scratch)
        let damaged = written.damaged.count + written.unreadable.count + checkpoint.missing.count
        return BackupCheckpoint.Proven(
            receipt: BackupReceipt(
                path: target, photos: photos.count, categories: contents.categories.count, bytes: written.bytes,
                damaged: damaged, originalsLeftOut: checkpoint.originals ?? 0, isPartial: checkpoint.holdsPart,
                sealedValues: sealed?.values.count, sealedWith: try sealed?.sealedWith(),
                trashed: checkpoint.trashed, hubGroups: checkpoint.hubGroups,
                isForPhone: checkpoint.leftForPhone == nil ? nil : true, added: written.folder?.added,
                addedBytes: written.folder?.addedBytes,
                mended: written.folder.flatMap { $0.mended.isEmpty ? nil : $0.mended.count },
                ending: damaged > 0 ? .completeWithProblems : .complete),
            lines: lines(missing: checkpoint.missing, written) + unopenedLines(checkpoint.unopened ?? [])
                + (checkpoint.leftForPhone ?? []))
    }

    /// The unfinished file and the catalogue as it was; nil where it is not the file that the checkpoint is about.
    private func open(_ checkpoint: BackupCheckpoint, job: JobID) async throws -> (Int32, BackupContents)? {
        // What the apps read is not the catalogue as it was: a backup for them begins anew.
        guard checkpoint.leftForPhone == nil, let place = checkpoint.arrangement,
            let descriptor = try await unfinished.open(checkpoint.partial, by: job)
        else { return nil }
        let (photoFiles, scratch) = (photoFiles, namedFiles.scratch)
        let read = try? await bulk.run { () -> BackupContents? in
            let metadata = BackupCheckpoint.Place(
                offset: place.metadataOffset, size: place.metadataSize, digest: place.metadataDigest)
            guard let bytes = Self.document(metadata, in: descriptor) else { return nil }
            let sealed = place.sealed.flatMap { Self.document($0, in: descriptor) }
            guard (sealed == nil) == (place.sealed == nil) else { return nil }
            var contents = try SmilePileDialect.contents(
                ofUnfinished: bytes, sealed: sealed, isPartial: checkpoint.holdsPart, scratch: scratch)
            contents.leavesOriginals = (checkpoint.originals ?? 0) > 0
            contents.thumbnails = try Self.thumbnails(of: contents, photoFiles)
            return contents
        }
        guard var contents = read ?? nil,
            let sidecars = try? await sealedSidecars(contents.sealed)
        else {
            close(descriptor)
            return nil
        }
        contents.sealedSidecars = sidecars
        return (descriptor, contents)
    }

    /// - Throws: where one of them does not open.
    private func sealedSidecars(_ sealed: SealedDocument?) async throws -> [SealedSidecar] {
        guard let sealed else { return [] }
        let hasSidecars = try await bulk.run { try sealed.values.contains { SealedSidecar.isField($0.field) } }
        guard hasSidecars else { return [] }
        let keyring = try await fields.keyring()
        let rings = [try sealed.own(keyring), keyring].compactMap { $0 }
        guard let sidecars = try await bulk.run({ try sealed.sidecars(rings) }) else { throw SealingError.malformed }
        return sidecars
    }

    /// - Returns: nil where these are not the bytes that were written there.
    private static func document(_ place: BackupCheckpoint.Place, in descriptor: Int32) -> DocumentBytes? {
        guard (0...Int64(BackupFormat.maximumDocument)).contains(place.size), place.offset >= 0 else { return nil }
        var bytes = Data(count: Int(place.size))
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(place.offset)) }
        guard count == bytes.count, ContentDigest(of: bytes).sha256.hex == place.digest else { return nil }
        return DocumentBytes(bytes)
    }
}
