import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let discardedFiles: [ContractCheck] = [
        ContractCheck("discarded files are told by name and leave the list one by one") { run in
            let album = try await run.album(150)
            @Sendable func thumbnail(_ number: Int) -> StoredName {
                StoredName(.photos, "IMG_\(number).jpg").map(\.thumbnail) ?? none
            }
            let none = StoredName(.photos, "none")!
            try await run.write { t in
                run.equal(try t.discardedFiles.all(), [])
                _ = try t.photos.forget(album.ids)
            }
            try await run.write { t in
                let all = try t.discardedFiles.all()
                run.equal(
                    all,
                    (0..<150).flatMap { ["thumbnails/thumb_IMG_\($0).jpg", "previews/preview_IMG_\($0).jpg.webp"] }
                        .sorted())
                run.equal(
                    try t.discardedFiles.among([thumbnail(3), none, thumbnail(149), thumbnail(3)]),
                    [thumbnail(3), thumbnail(149)])
                run.equal(try t.discardedFiles.among([]), [])
                try t.discardedFiles.remove([thumbnail(3), none])
                try t.discardedFiles.remove([])
                run.equal(try t.discardedFiles.all(), all.filter { $0 != thumbnail(3).path })
                // One that is discarded twice stands there once.
                try t.photos.insert([Sample.photo(7, in: album.family)])
                _ = try t.photos.forget([t.photos.require(.uuid(Sample.uuid(7))).id])
                run.equal(try t.discardedFiles.all().count, 299)
                try t.discardedFiles.add(["originals/IMG_7.mov", "originals/IMG_7.mov", thumbnail(7).path])
                try t.discardedFiles.add([])
                run.equal(try t.discardedFiles.all().count, 300)
            }
        }
    ]

    static let knownFiles: [ContractCheck] = [
        ContractCheck("files are known by all that their status says, and go with their photo") { run in
            let album = try await run.album(3) { number, family, _ in
                var new = Sample.photo(number, in: family)
                if number == 0 {
                    new.photo.originalPath = "originals/IMG_0.heic"
                    new.photo.sidecars = [sidecar(0)]
                    new.photo.unseenBy = "1.0"
                }
                return new
            }
            @Sendable func file(_ inode: Int64, changed: Int64 = 5) -> FileStamp {
                FileStamp(device: .max, inode: inode, size: 1 << 40, modified: .min, changed: changed)
            }
            @Sendable func known(_ files: [FileStamp], _ t: any CatalogueTransaction) throws -> [Int64: Int64] {
                Dictionary(
                    try t.knownFiles.find(files).map { ($0.file.inode, $0.id) }, uniquingKeysWith: { first, _ in first }
                )
            }
            let ids = album.ids
            try await run.write { t in
                try t.knownFiles.keep([
                    KnownFile(file: file(1), photo: ids[0]), KnownFile(file: file(11), photo: ids[0]),
                ])
                try t.knownFiles.keep([
                    KnownFile(file: file(2), photo: ids[1]), KnownFile(file: file(3), photo: ids[2]),
                    KnownFile(file: file(4), photo: .max),
                ])
                try t.knownFiles.keep([])
                run.equal(try t.knownFiles.find([]), [])
                let all = [1, 2, 3, 4, 11].map { file($0) }
                run.equal(try known(all, t), [1: ids[0], 11: ids[0], 2: ids[1], 3: ids[2]])
                run.equal(try known([file(1, changed: 6)], t), [:])
                run.equal(
                    try t.knownFiles.find([file(1)]),
                    [
                        KnownPhoto(
                            file: file(1), id: ids[0], originalPath: "originals/IMG_0.heic", sidecars: [sidecar(0)],
                            unseenBy: "1.0")
                    ])
                // The inode is another file's by now.
                try t.knownFiles.keep([KnownFile(file: file(11, changed: 9), photo: ids[2])])
                run.equal(try known(all, t), [1: ids[0], 2: ids[1], 3: ids[2]])
                run.equal(try known([file(11, changed: 9)], t), [11: ids[2]])
                _ = try t.trash.add([album.photos[0]], at: Sample.time(1))
                run.equal(try known(all, t), [2: ids[1], 3: ids[2]])
                _ = try t.trash.restore([ids[0]])
                run.equal(try known(all, t), [2: ids[1], 3: ids[2]])
                run.expect(try t.isConsistent())
            }
        }
    ]

    static let failedSources: [ContractCheck] = [
        ContractCheck("sources that failed are told by size and version") { run in
            @Sendable func failure(_ outcome: ImportOutcome, _ detail: String? = nil) -> SourceFailure {
                SourceFailure(outcome: outcome, detail: detail)
            }
            try await run.write { t in
                let failed = t.failedSources
                try failed.add(failure(.damaged, "It's é."), digest: "a", size: 5, version: "1")
                try failed.add(failure(.unsupported), digest: "b", size: 5, version: "1")
                try failed.add(failure(.damaged), digest: "c", size: .max, version: "1")
                try failed.add(failure(.damaged), digest: "d", size: 5, version: "2")
                run.equal(
                    try failed.all(size: 5, version: "1"),
                    ["a": failure(.damaged, "It's é."), "b": failure(.unsupported)])
                run.equal(try failed.all(size: .max, version: "1").count, 1)
                run.equal(try failed.all(size: 6, version: "1"), [:])
                run.equal(try failed.all(size: 5, version: "none"), [:])
                try failed.add(failure(.tooLarge), digest: "a", size: 5, version: "2")
                run.equal(try failed.all(size: 5, version: "1"), ["b": failure(.unsupported)])
                run.equal(try failed.all(size: 5, version: "2"), ["a": failure(.tooLarge), "d": failure(.damaged)])
            }
        },
        ContractCheck("a thousand of one size are told") { run in
            try await run.write { t in
                for number in 0...1000 {
                    try t.failedSources.add(
                        SourceFailure(outcome: .damaged, detail: nil), digest: Sample.digest(1, number), size: 5,
                        version: "1")
                }
                run.equal(try t.failedSources.all(size: 5, version: "1").count, 1000)
            }
        },
    ]

    // MARK: Backups

    static let unfinishedBackups: [ContractCheck] = [
        ContractCheck("unfinished backups come back as they were put, by path, each path once") { run in
            try await run.write { t in
                let table = t.unfinishedBackups
                let full = BackupSample.unfinished("/b/'é'.partial", job: "j")
                let none = UnfinishedBackup(path: "backups/a.partial", job: nil, library: nil, file: nil)
                try table.put(none)
                try table.put(full)
                run.equal(try table.all().map { "\($0)" }, ["\(full)", "\(none)"])
                run.equal(try table.find(full.path).map { "\($0)" }, "\(full)")
                run.expect(try table.find("none") == nil)
                let other = BackupSample.unfinished(full.path, job: "k", birth: nil)
                try table.put(other)
                run.equal(try table.all().map { "\($0)" }, ["\(other)", "\(none)"])
            }
        },
        ContractCheck("a backup is taken out once nothing goes on with it") { run in
            try await run.write { t in
                let table = t.unfinishedBackups
                for path in ["/a", "/b"] { try table.put(BackupSample.unfinished(path, job: "j")) }
                try table.removeGivenUp("/a")
                run.equal(try table.all().count, 2)
                try table.giveUp("/a")
                try table.giveUp("/none")
                run.equal(try table.all().map(\.job), [nil, "j"])
                run.equal(try table.find("/a")?.file, BackupSample.unfinished("/a", job: nil).file)
                try table.removeGivenUp("/a")
                run.equal(try table.all().map(\.path), ["/b"])
                try table.remove("/b")
                try table.remove("/b")
                run.equal(try table.all().count, 0)
            }
        },
        ContractCheck("photos' files are needed while the job of a backup has not ended") { run in
            let journal = run.catalogue.journal
            try await journal.begin(JobRecord(snapshot: JobSnapshot(id: "j", method: "m")))
            func needsPhotos() async throws -> Bool { try await run.read { try $0.unfinishedBackups.needsPhotos() } }
            run.equal(try await needsPhotos(), false)
            try await run.write { try $0.unfinishedBackups.put(BackupSample.unfinished("/none", job: "none")) }
            run.equal(try await needsPhotos(), false)
            try await run.write { try $0.unfinishedBackups.put(BackupSample.unfinished("/b", job: "j")) }
            run.equal(try await needsPhotos(), true)
            try await run.write { try $0.unfinishedBackups.giveUp("/b") }
            run.equal(try await needsPhotos(), false)
            try await run.write { try $0.unfinishedBackups.put(BackupSample.unfinished("/b", job: "j")) }
            var ended = JobSnapshot(id: "j", method: "m", state: .cancelled)
            ended.endedAt = .now()
            try await journal.end(ended)
            run.equal(try await needsPhotos(), false)
        },
    ]

    static let madeBackups: [ContractCheck] = [
        ContractCheck("backups come back as they were made, the last one first, each path once") { run in
            try await run.write { t in
                let table = t.madeBackups
                let (first, second) = (
                    BackupSample.made("/b/2"), BackupSample.made("/b/'é'", verifiedAt: .max, birth: nil)
                )
                try table.put(first)
                try table.put(second)
                run.equal(try table.all().map { "\($0)" }, ["\(second)", "\(first)"])
                let again = BackupSample.made("/b/2", fingerprint: "new")
                try table.put(again)
                run.equal(try table.all().map { "\($0)" }, ["\(again)", "\(second)"])
                try table.setVerified(Sample.time(9), ["/b/2", "/none"])
                run.equal(try table.all().map(\.verifiedAt), [Sample.time(9), Sample.time(.max)])
                try table.setVerified(nil, ["/b/'é'"])
                run.equal(try table.all().map(\.verifiedAt), [Sample.time(9), nil])
                try table.setVerified(Sample.time(7), [])
                try table.setVerified(Sample.time(8), ["/b/'é'", "/b/2"])
                run.equal(try table.all().map(\.verifiedAt), [Sample.time(8), Sample.time(8)])
                try table.forget([BackupSample.made("/b/2", fingerprint: "print"), BackupSample.made("/none")])
                try table.forget([])
                run.equal(try table.all().count, 2)
                let third = BackupSample.made("/b/3")
                try table.put(third)
                try table.forget([third, again])
                run.equal(try table.all().map(\.path), ["/b/'é'"])
            }
        },
        ContractCheck("of more than a thousand the oldest are forgotten") { run in
            try await run.write { t in
                for number in 0...1001 { try t.madeBackups.put(BackupSample.made("/b/\(number)")) }
                let all = try t.madeBackups.all()
                run.equal(all.count, 1000)
                run.equal([all.first?.path, all.last?.path], ["/b/1001", "/b/2"])
            }
        },
        ContractCheck("there is one schedule at most") { run in
            let full = StoredBackupSchedule(
                folder: "/b 'é'", mount: "/b", everyHours: 24, keep: 3, isZip: true,
                key: BackupKey(export: "e", sealed: "s"),
                scheduledAt: Sample.time(.max), job: "j", failedAt: Sample.time(5), problem: "It's away.")
            let plain = StoredBackupSchedule(
                folder: "/c", mount: "/", everyHours: 1, keep: 1, isZip: false, key: nil, scheduledAt: Sample.time(1))
            try await run.write { t in
                run.expect(try t.madeBackups.schedule() == nil)
                for schedule in [full, plain, full] {
                    try t.madeBackups.setSchedule(schedule)
                    run.equal(try t.madeBackups.schedule().map { "\($0)" }, "\(schedule)")
                }
                try t.madeBackups.setSchedule(nil)
                try t.madeBackups.setSchedule(nil)
                run.expect(try t.madeBackups.schedule() == nil)
            }
        },
    ]

    static let overwritten: [ContractCheck] = [
        ContractCheck("what a restore has overwritten comes back in its order, and goes with its job") { run in
            let journal = run.catalogue.journal
            for id in ["j", "k"] { try await journal.begin(JobRecord(snapshot: JobSnapshot(id: id, method: "m"))) }
            let album = try await run.album(2)
            let categories = try await run.read { try $0.categories.all() }
            var renamed = album.photos[0]
            renamed.name = "'é' %"
            let changes: [Overwritten] = [
                .photo(before: album.photos[0], after: renamed), .category(before: categories[0], after: categories[1]),
                .order(before: [1, .max], after: [.min]),
                .preferences(before: Settings(), after: Settings(swipeThreshold: 0.7)),
                .sealed(photo: "u", field: "notes", before: Data([0, 255]), after: Data()),
            ]
            try await run.write { t in
                try t.overwritten.add(changes, by: "j")
                try t.overwritten.add([changes[2]], by: "k")
                try t.overwritten.add([], by: "k")
            }
            try await run.read { t in
                run.equal(try t.overwritten.changes(by: "j"), changes)
                run.equal(try t.overwritten.changes(by: "k"), [changes[2]])
                run.equal(try t.overwritten.changes(by: "none"), [])
            }
            try await journal.forget(["j"])
            run.equal(try await run.read { try $0.overwritten.changes(by: "j") }, [])
            run.equal(try await run.read { try $0.overwritten.changes(by: "k") }, [changes[2]])
        },
        ContractCheck("what a restore has overwritten is removed by job and altogether") { run in
            for id in ["j", "k", "l"] {
                try await run.catalogue.journal.begin(JobRecord(snapshot: JobSnapshot(id: id, method: "m")))
            }
            try await run.write { t in
                for id in ["j", "k", "l"] { try t.overwritten.add([.order(before: [], after: [1])], by: id) }
                try t.overwritten.removeChanges(by: "j")
                try t.overwritten.removeChanges(by: "none")
                run.equal(try ["j", "k", "l"].map { try t.overwritten.changes(by: $0).count }, [0, 1, 1])
                try t.overwritten.removeAll()
                run.equal(try ["j", "k", "l"].map { try t.overwritten.changes(by: $0).count }, [0, 0, 0])
            }
        },
    ]
}

/// Backups for checks.
enum BackupSample {
    private static func library(_ birth: Int64?) -> UnfinishedBackup.Library {
        .init(path: "/library 'é'", origin: FileOrigin(device: .max, inode: .min, birth: birth))
    }

    static func made(
        _ path: String, fingerprint: String = "print", verifiedAt: Int64? = nil, birth: Int64? = 7
    ) -> MadeBackup {
        MadeBackup(
            path: path, mount: "/b", library: library(birth), madeAt: Sample.time(Sample.noon), photos: 3, bytes: .max,
            damaged: 1,
            isWhole: false, fingerprint: fingerprint, verifiedAt: verifiedAt.map(Sample.time))
    }

    static func unfinished(_ path: String, job: JobID?, birth: Int64? = 7) -> UnfinishedBackup {
        UnfinishedBackup(
            path: path, job: job, library: library(birth), file: FileOrigin(device: 1, inode: 2, birth: birth))
    }
}
