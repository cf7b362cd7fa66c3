import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

/// Backups of our own format that agree with themselves and say what no library can hold.
@Suite struct HostileBackupTests {
    private typealias Object = EditedBackup.Object

    private func backup() async throws -> (TestLibrary, path: String) {
        let test = try await TestLibrary("hostile")
        _ = try await test.importSamples(2, album: SampleAlbum(width: 32, height: 24))
        let photo = try await test.allPhotos()[0]
        let session = try await test.mesh.send(StartSwipeSession())
        _ = try await test.mesh.send(
            RecordSwipe(
                sessionID: session.sessionID, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest,
                action: .keep))
        let path = test.folder.file("good.zip")
        let job = try await test.run(CreateBackup(path: path))
        #expect(job.state == .finished)
        return (test, path)
    }

    private static func first(_ list: String, of metadata: inout Object, _ change: (inout Object) -> Void) {
        var all = metadata[list] as? [Object] ?? []
        change(&all[0])
        metadata[list] = all
    }

    private static let changes: [(String, @Sendable (inout [String: Any]) -> Void)] = [
        ("a photo's id at the end of numbers", { first("photos", of: &$0) { $0["id"] = Int64.max } }),
        (
            "a version that is none",
            { first("photos", of: &$0) { $0["unseenBy"] = String(repeating: "9", count: 101) } }
        ),
        (
            "a category's id at the end of numbers",
            { metadata in
                let id = (metadata["photos"] as? [Object])?.first?["categoryId"] as? Int64
                first("categories", of: &metadata) { category in
                    #expect(category["id"] as? Int64 == id)
                    category["id"] = Int64.max
                }
                metadata["photos"] = (metadata["photos"] as? [Object] ?? []).map {
                    $0.merging(["categoryId": Int64.max]) { _, new in new }
                }
            }
        ),
        (
            "a digest in capitals",
            {
                first("photos", of: &$0) {
                    $0["sourceDigest"] = ($0["sourceDigest"] as? String)?.uppercased()
                }
            }
        ),
        (
            "an icon of a megabyte",
            { first("categories", of: &$0) { $0["iconResource"] = String(repeating: "i", count: 1 << 20) } }
        ),
        ("a session that is no uuid", { first("swipeSessions", of: &$0) { $0["sessionID"] = "../x" } }),
        (
            "a session's uuid in capitals",
            { first("swipeSessions", of: &$0) { $0["sessionID"] = ($0["sessionID"] as? String)?.uppercased() } }
        ),
        (
            "a session twice",
            {
                let sessions = $0["swipeSessions"] as? [Object] ?? []
                $0["swipeSessions"] = sessions + sessions
            }
        ),
        (
            "a decision about no uuid",
            { first("swipeSessions", of: &$0) { first("actions", of: &$0) { $0["photoIdentifier"] = "" } } }
        ),
        (
            "a decision without a digest",
            { first("swipeSessions", of: &$0) { first("actions", of: &$0) { $0["contentDigest"] = "abc" } } }
        ),
        (
            "a decision that there is not",
            { first("swipeSessions", of: &$0) { first("actions", of: &$0) { $0["action"] = "explode" } } }
        ),
        (
            "a threshold out of range",
            { metadata in
                var preferences = metadata["preferences"] as? Object ?? [:]
                preferences["swipeThreshold"] = 7.5
                metadata["preferences"] = preferences
            }
        ),
        (
            "more categories than a library has",
            { metadata in
                let categories = metadata["categories"] as? [Object] ?? []
                metadata["categories"] =
                    categories
                    + (0..<1000).map { number in
                        categories[0].merging(["id": 1000 + number, "displayName": "n\(number)"]) { _, new in new }
                    }
            }
        ),
    ]

    @Test(arguments: 0..<changes.count) func isRefusedBeforeAnythingIsWritten(_ index: Int) async throws {
        let (old, good) = try await backup()
        let (name, change) = Self.changes[index]
        let bad = old.folder.file("bad.zip")
        try EditedBackup.write(good, to: bad, change)
        let new = try await TestLibrary("target")
        for mode in [RestoreMode.merge, .replace] {
            let job = try await new.run(RestoreBackup(path: bad, mode: mode))
            #expect(job.state == .failed && job.error?.status == .dataLoss, "\(name), \(mode): \(job)")
            #expect(job.outcomes.isEmpty)
        }
        #expect(await status { _ = try await new.mesh.send(InspectBackup(path: bad)) } == .dataLoss)
        #expect(try new.files("photos").isEmpty && new.files("staging").isEmpty)
        #expect(try await new.importSamples(1, album: SampleAlbum(width: 16, height: 16)).outcomes == ["imported": 1])
        await new.library.close()
        await old.library.close()
    }

    /// Every byte of it is there, and unzip, 7-Zip, bsdtar or Python would not open it, or would leave a photo out: it is not
    /// called sound, and the refusal names entry and field. Which lies there are is the matter of ZipArchive's own tests.
    @Test func whatOthersCannotReadIsNotCalledSound() async throws {
        let (test, good) = try await backup()
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: good)))
        // The last photo's record in the directory: its name stands in the file for the last time there.
        let name = Array(try #require(try await test.allPhotos().map { "photos/" + $0.fileName }.max()).utf8)
        let start = try #require(
            bytes.indices.last {
                bytes[$0...].starts(with: name) && bytes[($0 - 46)...].starts(with: [0x50, 0x4B, 1, 2])
            })
        let record = start - 46
        func changed(_ offset: Int, to value: UInt8) -> [UInt8] {
            var changed = bytes
            changed[record + offset] = value
            return changed
        }
        let ofOthers = [
            ([UInt8]("#!/bin/sh\n".utf8) + bytes, "10 bytes stand before the archive"),
            (changed(6, to: 64), "version 6.4"),
            (changed(46 + name.count + 2, to: 6), "extra field in its header (0x5455)"),
            (changed(8, to: 8), "data descriptor"),
        ]
        let entry = String(decoding: name, as: UTF8.self)
        for (changed, words) in ofOthers {
            let path = test.folder.file("changed.zip")
            try Data(changed).write(to: URL(fileURLWithPath: path))
            let job = try await test.run(VerifyBackup(path: path))
            #expect(job.state == .failed && job.error?.status == .dataLoss, "\(words): \(job)")
            #expect(job.error?.message.contains(words) == true, "\(String(describing: job.error))")
            if !words.contains("before") { #expect(job.error?.details["entry"] == .string(entry)) }
        }
        #expect(try await test.run(VerifyBackup(path: good)).state == .finished)
        await test.library.close()
    }

    @Test func anEditedBackupThatIsInOrderIsTaken() async throws {
        let (old, good) = try await backup()
        let edited = old.folder.file("edited.zip")
        try EditedBackup.write(good, to: edited) { _ in }
        let new = try await TestLibrary("target")
        let job = try await new.run(RestoreBackup(path: edited, mode: .replace))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        #expect(try await new.allPhotos() == old.allPhotos())
        await new.library.close()
        await old.library.close()
    }

    @Test func datesAtTheEndOfNumbersComeBackFromABackupOfTheirOwn() async throws {
        let (old, good) = try await backup()
        let edited = old.folder.file("dates.zip")
        try EditedBackup.write(good, to: edited, rename: { "\($0) 1" }) { metadata in
            Self.first("photos", of: &metadata) {
                $0["createdAt"] = Int64.min
                $0["takenAt"] = Int64.max
                $0["timestamp"] = Int64.max
            }
            Self.first("swipeSessions", of: &metadata) {
                $0["startTime"] = Int64.min
                $0["endTime"] = Int64.max
            }
        }
        let new = try await TestLibrary("target")
        let job = try await new.run(RestoreBackup(path: edited, mode: .replace))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        let photos = try await new.allPhotos()
        #expect(photos.first?.takenAt?.milliseconds == .max && photos.first?.createdAt.milliseconds == .min)
        let first = try await new.mesh.send(SearchPhotos(limit: 1))
        #expect(try await new.mesh.send(SearchPhotos(limit: 1, after: first.next)).photos == Array(photos.dropFirst()))
        let again = try await new.run(CreateBackup(path: new.folder.file("again.zip")))
        #expect(again.state == .finished, "\(String(describing: again.error))")
        await new.library.close()
        await old.library.close()
    }

    @Test func namesThatDifferInCaseAloneDoNotEndBackups() async throws {
        let (old, good) = try await backup()
        let new = try await TestLibrary("target")
        for (number, prefix) in ["a", "A"].enumerated() {
            let edited = old.folder.file("case-\(number).zip")
            let chosen = try await old.allPhotos()[number].fileName
            try EditedBackup.write(good, to: edited, rename: { $0 == chosen ? prefix + ".jpg" : $0 }) { metadata in
                metadata["photos"] = (metadata["photos"] as? [Object] ?? []).filter {
                    $0["path"] as? String == "photos/" + prefix + ".jpg"
                }
                metadata["swipeSessions"] = nil
            }
            let job = try await new.run(RestoreBackup(path: edited))
            #expect(job.state == .finished, "\(String(describing: job.error))")
        }
        #expect(try await new.allPhotos().count == 2)
        let job = try await new.run(CreateBackup(path: new.folder.file("b.zip")))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        await new.library.close()
        await old.library.close()
    }
}
