import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing
import ZipArchive

/// What is saved of a damaged backup, wherever the damage is.
@Suite(.timeLimit(.minutes(4))) struct SalvagedBackupTests {
    /// Every 997th byte, and of what no entry has, headers and directory, every 61st and what begins the headers.
    private func places(in good: Data) -> [Int] {
        func records(_ kind: UInt8) -> [Int] {
            var (found, start) = ([Int](), 0)
            while let next = good[start...].firstRange(of: Data([0x50, 0x4B, kind, kind + 1]))?.lowerBound {
                found.append(next)
                start = next + 1
            }
            return found
        }
        let headers = records(3).enumerated().map { $1 + ($0 * 5) % 40 }
        let directory = records(1).first ?? good.count
        let all = headers + stride(from: 0, to: good.count, by: 997) + stride(from: directory, to: good.count, by: 61)
        return Set(all + [good.count - 1]).sorted()
    }

    /// One flipped byte anywhere: it is reported, and salvaging gets every photo but the one that it hit.
    ///
    /// Every third of the places; with `SMILEPILE_SEEDS` above 1, each (Scripts/simulate).
    @Test func oneFlippedByteCostsOnePhotoAtMost() async throws {
        let old = try await TestLibrary("damaged")
        _ = try await old.importSamples(20, album: SampleAlbum(width: 48, height: 32))
        let (path, _) = try await old.backUp()
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        let photos = try await old.allPhotos()
        let extents = try photos.map { photo in
            (photo, try #require(good.firstRange(of: try old.bytes(photo.path))))
        }
        let new = try await TestLibrary("salvaged")
        let bad = old.folder.file("bad.zip")
        let step = explorationFactor > 1 ? 1 : 3
        for (number, place) in places(in: good).enumerated() where number % step == 0 {
            var bytes = good
            bytes[place] ^= [0x01, 0x10, 0x80][number / step % 3]
            try bytes.write(to: URL(fileURLWithPath: bad))
            let verified = try await new.run(VerifyBackup(path: bad))
            #expect(verified.error?.status == .dataLoss, "byte \(place): \(verified)")
            let hit = extents.first { $0.1.contains(place) }?.0
            let salvaged = try await new.run(RestoreBackup(path: bad, dryRun: true, salvage: true))
            #expect(salvaged.state == .finished && salvaged.needsAttention, "byte \(place): \(salvaged)")
            #expect(salvaged.receipt?["photosAdded"] == (hit == nil ? 20 : 19), "byte \(place): \(salvaged)")
            guard number % 12 == 0 else { continue }
            let real = try await TestLibrary("real")
            let job = try await real.run(RestoreBackup(path: bad, salvage: true))
            #expect(job.state == .finished && job.needsAttention, "byte \(place): \(job)")
            let there = try await real.allPhotos()
            let expected = Set(photos.map(\.contentDigest)).subtracting([hit?.contentDigest ?? ""])
            #expect(Set(there.map(\.contentDigest)) == expected, "byte \(place)")
            for photo in there {
                #expect(try ContentDigest(of: real.bytes(photo.path)).sha256.hex == photo.contentDigest)
            }
            await real.library.close()
        }
        await old.library.close()
        await new.library.close()
    }

    /// What a damaged name, header or directory says is said elsewhere too: nothing is lost with it.
    @Test(arguments: ["header", "name", "directory", "end", "front", "first", "cut"])
    func documentsAreFoundWhereverTheDamageIs(_ what: String) async throws {
        let old = try await TestLibrary.livedIn()
        let key = try await old.mesh.send(MakeBackupKey(passphrase: "correct horse"))
        let path = old.folder.file("sealed.zip")
        #expect(try await old.run(CreateBackup(path: path, key: key)).state == .finished)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let name = Data("backup_metadata.json".utf8)
        let first = try #require(bytes.firstRange(of: name)).lowerBound
        let last = try #require(bytes.lastRange(of: name)).lowerBound
        switch what {
        case "header": bytes[first - 30 + 26] ^= 4
        case "name": bytes[last + 3] ^= 1
        case "directory": bytes[last - 46 + 28] ^= 0x80
        case "end": bytes[bytes.count - 22 + 10] ^= 1
        // Where the directory is: 256 bytes nearer to the front, or farther.
        case "front": bytes[bytes.count - 22 + 17] ^= 1
        case "first": bytes[0] = UInt8(ascii: "{")
        default: bytes = bytes.dropLast(700)
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        let new = try await TestLibrary("salvaged")
        let refused = try await new.run(RestoreBackup(path: path))
        #expect(refused.error?.status == .dataLoss, "\(refused)")
        #expect(refused.error?.message.contains("--salvage") == true, "\(refused)")
        let opened = try await new.mesh.send(OpenBackupKey(path: path, passphrase: "correct horse"))
        let job = try await new.run(RestoreBackup(path: path, salvage: true, key: opened))
        #expect(job.state == .finished && job.needsAttention, "\(job)")
        #expect(try await new.allPhotos() == old.allPhotos())
        #expect(try await new.mesh.send(ListCategories()) == old.mesh.send(ListCategories()))
        #expect(try await new.mesh.send(ListSwipeSessions()) == old.mesh.send(ListSwipeSessions()))
        for photo in try await old.allPhotos() {
            let detail = try await old.mesh.send(GetPhotoDetail(id: photo.id))
            #expect(try await new.mesh.send(GetPhotoDetail(id: photo.id)) == detail)
        }
        await old.library.close()
        await new.library.close()
    }

    /// Of three documents that tell of the photos, each may be the only one.
    @Test func eachDocumentStandsInForTheOthers() async throws {
        let old = try await TestLibrary("documents")
        _ = try await old.importSamples(3, album: SampleAlbum(width: 48, height: 32))
        let (path, _) = try await old.backUp()
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        let documents = ["manifest.json", "backup_metadata.json", "metadata.json"]
        for kept in documents {
            var bytes = good
            // Its name is another one, in both headers.
            for other in documents where other != kept {
                for record: UInt8 in [3, 1] {
                    let size = record == 3 ? 30 : 46
                    let signature = Data([0x50, 0x4B, record, record + 1])
                    var start = 0
                    while let found = bytes[start...].firstRange(of: signature)?.lowerBound {
                        let name = found + size..<found + size + other.utf8.count
                        if bytes[found + 26 + (record == 3 ? 0 : 2)] == UInt8(other.utf8.count),
                            bytes[name] == Data(other.utf8)
                        {
                            bytes[name.lowerBound + 2] = UInt8(ascii: "_")
                        }
                        start = found + 1
                    }
                }
            }
            try bytes.write(to: URL(fileURLWithPath: path))
            let new = try await TestLibrary("salvaged")
            let job = try await new.run(RestoreBackup(path: path, salvage: true))
            if kept == "manifest.json" {
                // It knows entries, and not what they are.
                #expect(job.state == .failed, "\(job)")
            } else {
                #expect(job.state == .finished && job.receipt?["photosAdded"] == 3, "\(kept): \(job)")
            }
            await new.library.close()
        }
        await old.library.close()
    }

    @Test func aDamagedBackupSaysWhatIsWholeAndIsSalvaged() async throws {
        let old = try await TestLibrary("damaged")
        _ = try await old.importSamples(5, album: SampleAlbum(width: 64, height: 48))
        let (path, _) = try await old.backUp()
        let photo = try await old.allPhotos()[2]
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let picture = [UInt8](try old.bytes(photo.path))
        let start = try #require(Data(bytes).range(of: Data(picture))).lowerBound
        bytes[start + picture.count / 2] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let new = try await TestLibrary("salvaged")
        for mode in [RestoreMode.merge, .replace] {
            let refused = try await new.run(RestoreBackup(path: path, mode: mode))
            #expect(refused.error?.status == .dataLoss && refused.error?.details["entry"] == .string(photo.path))
            #expect(refused.error?.message.contains("4 of 5 photos in it are whole") == true)
            #expect(refused.error?.message.contains("--salvage") == true)
        }
        let both = RestoreBackup(path: path, mode: .replace, salvage: true)
        #expect(await status { _ = try await new.mesh.send(both) } == .invalidArgument)
        let job = try await new.run(RestoreBackup(path: path, salvage: true))
        #expect(job.state == .finished && job.needsAttention && job.receipt?["photosAdded"] == 4, "\(job)")
        #expect(try await new.details(job, "damaged")[photo.path]?.hasPrefix("left out") == true)
        let there = try await new.allPhotos()
        #expect(try await Set(there.map(\.uuid)) == Set(old.allPhotos().map(\.uuid)).subtracting([photo.uuid]))
        for photo in there { #expect(try new.bytes(photo.path) == old.bytes(photo.path)) }
        await old.library.close()
        await new.library.close()
    }
}
