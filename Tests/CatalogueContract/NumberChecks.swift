import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    /// Of the numbers that a catalogue gives: see ``Catalogue``.
    static let numbers: [ContractCheck] = [
        ContractCheck("the number of a photo is given once, though the photo is gone") { run in
            let album = try await run.album(3)
            let last = album.ids.max() ?? 0
            _ = try await run.write { try $0.photos.forget([last]) }
            let next = try await photo(10, run, in: album.family)
            run.expect(next > last, "\(next) was given after \(last)")
            try await run.write { try $0.photos.removeAll() }
            let afterAll = try await photo(11, run, in: album.family)
            run.expect(afterAll > next, "\(afterAll) was given after \(next)")
            try await run.reopen()
            let afterRestart = try await photo(12, run, in: album.family)
            run.expect(afterRestart > afterAll, "\(afterRestart) was given after \(afterAll)")
        },
        ContractCheck("a photo that keeps its number lets those that are given be greater") { run in
            let album = try await run.album(1)
            try await run.write { t in
                var kept = Sample.photo(20, in: album.family)
                kept.photo.id = album.ids[0] + 500
                try t.photos.insert([kept], keepingIDs: true)
            }
            let next = try await photo(21, run, in: album.family)
            run.expect(next > album.ids[0] + 500, "\(next) was given")
        },
        ContractCheck("a transaction that is undone leaves no more than a gap") { run in
            let album = try await run.album(1)
            do {
                try await run.write { t in
                    try t.photos.insert([Sample.photo(10, in: album.family)])
                    throw Stop(number: 1)
                }
                run.expect(false, "write throws nothing")
            } catch { run.equal(error as? Stop, Stop(number: 1)) }
            let next = try await photo(11, run, in: album.family)
            run.expect(next > album.ids[0], "\(next) was given")
            run.equal(try await run.read { try $0.photos.totals().photos }, 2)
        },
        ContractCheck("the number of a decision is given once, though the decision is taken back or deleted") { run in
            let album = try await swiping(run, 2)
            func next() async throws -> Int64 {
                try await run.write { t in
                    try decide(.keep, album.photos[0], "s", at: 10, t)
                    return try t.swipes.decisions(session: nil, photo: nil, before: .max, limit: 1)[0].id
                }
            }
            let first = try await next()
            _ = try await run.write { try $0.swipes.undo(session: "s", count: 1) }
            let second = try await next()
            run.expect(second > first, "\(second) was given after \(first)")
            try await run.write { t in
                _ = try t.swipes.process(session: nil, limit: 9)
                run.equal(try t.swipes.deleteProcessed([second]), 1)
            }
            try await run.reopen()
            let third = try await next()
            run.expect(third > second, "\(third) was given after \(second)")
        },
        ContractCheck("a cursor of reviews does not go back, whatever is gone") { run in
            let album = try await swiping(run, 2)
            func cursor(after cursor: ReviewCursor) async throws -> ReviewCursor {
                try await run.read {
                    try ReviewCursor($0.reviews.changes(after: cursor, except: nil, limit: 9).next)
                }
            }
            try await run.write { try decide(.keep, album.photos[0], "s", at: 10, $0) }
            let first = try await cursor(after: .start)
            _ = try await run.write { try $0.swipes.undo(session: "s", count: 1) }
            let second = try await cursor(after: first)
            run.expect(second.decision >= first.decision && second.undone > first.undone, "\(second) is after \(first)")
            try await run.write { try decide(.trash, album.photos[1], "s", at: 20, $0) }
            // The decision that is new since is told to who has read up to the one that is gone.
            let told = try await run.read { try $0.reviews.changes(after: second, except: nil, limit: 9) }
            run.equal(told.decisions.map(\.photo), [album.photos[1].uuid])
        },
        ContractCheck("a reader that goes on behind a number misses nothing that others enter meanwhile") { run in
            let (writers, count) = (4, 12)
            let album = try await swiping(run, writers * count)
            let told = try await withThrowingTaskGroup(of: [String].self) { tasks in
                for writer in 0..<writers {
                    tasks.addTask {
                        for photo in album.photos[writer * count..<(writer + 1) * count] {
                            try await run.write { try decide(.keep, photo, "s", at: 10, $0) }
                            // One that is undone in between takes a number perhaps, and shows none.
                            _ = try? await run.write { t in
                                try decide(.trash, photo, "s", at: 20, t)
                                throw Stop(number: writer)
                            }
                        }
                        return []
                    }
                }
                tasks.addTask {
                    var (told, cursor): ([String], ReviewCursor) = ([], .start)
                    for _ in 0..<10_000 where told.count < writers * count {
                        let after = cursor
                        let part = try await run.read { try $0.reviews.changes(after: after, except: nil, limit: 5) }
                        told += part.decisions.map(\.photo)
                        cursor = try ReviewCursor(part.next)
                        await Task.yield()
                    }
                    return told
                }
                return try await tasks.reduce(into: []) { $0 += $1 }
            }
            run.equal(told.sorted(), album.photos.map(\.uuid).sorted())
        },
    ]

    private static func photo(_ number: Int, _ run: ContractRun, in category: Int64) async throws -> Int64 {
        try await run.write { t in
            try t.photos.insert([Sample.photo(number, in: category)])
            return try t.photos.require(.uuid(Sample.uuid(number))).id
        }
    }
}
