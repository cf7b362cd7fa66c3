import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let swipes: [ContractCheck] = [
        ContractCheck("sessions are found by the beginning of their ids, letter by letter") { run in
            let ids = ["aa-1", "aa-2", "ab-1", "a%-1", "a_-1", "\u{e9}-1"]
            try await run.write { t in
                for id in ids { _ = try t.swipes.start(id, at: Sample.time(1)) }
            }
            try await run.read { t in
                func found(_ beginning: String, _ limit: Int = 10) throws -> [String] {
                    try t.swipes.find(beginningWith: beginning, limit: limit).map(\.sessionID)
                }
                run.equal(try found("aa"), ["aa-1", "aa-2"])
                run.equal(try found("a"), ["a%-1", "a_-1", "aa-1", "aa-2", "ab-1"])
                run.equal(try found("a", 2), ["a%-1", "a_-1"])
                run.equal(try found("a%"), ["a%-1"])
                run.equal(try found("a_"), ["a_-1"])
                run.equal(try found("\u{e9}"), ["\u{e9}-1"])
                run.equal(try found("aa-1"), ["aa-1"])
                run.equal(try found("x"), [])
                run.equal(try found("a", 0), [])
                run.equal(try t.swipes.known(ids + ["aa", "x"]), Set(ids))
                run.equal(try t.swipes.known([]), [])
            }
            try await run.refuses("severalSwipeSessions") { _ = try $0.swipes.require("aa") }
            try await run.refuses("noSwipeSession") { _ = try $0.swipes.require("") }
            try await run.refuses("noSwipeSession") { _ = try $0.swipes.require("x") }
        },
        ContractCheck("sessions are told latest first, and end once") { run in
            try await run.write { t in
                run.equal(
                    try t.swipes.start("b", at: Sample.time(5)),
                    SwipeSession(sessionID: "b", startTime: Sample.time(5), endTime: nil, photosProcessed: 0))
                for (id, time) in [("a", 5), ("c", .max), ("d", .min)] as [(String, Int64)] {
                    _ = try t.swipes.start(id, at: Sample.time(time))
                }
                run.equal(try t.swipes.sessions(limit: 10).map(\.sessionID), ["c", "a", "b", "d"])
                run.equal(try t.swipes.sessions(limit: 2).map(\.sessionID), ["c", "a"])
                run.equal(try t.swipes.sessions(limit: 0), [])
                try t.swipes.finish("a", at: Sample.time(7))
                try t.swipes.finish("a", at: Sample.time(9))
                try t.swipes.finish("none", at: Sample.time(9))
                run.equal(try t.swipes.sessions(limit: 10).map(\.endTime), [nil, Sample.time(7), nil, nil])
            }
        },
        ContractCheck("a decision counts where its session is open and the photo has the content that was shown") {
            run in
            let album = try await swiping(run, 2)
            let photo = album.photos[0]
            try await run.write { t in
                func decide(_ session: String, _ uuid: String, _ digest: String) throws -> PhotoAction? {
                    try t.swipes.record(
                        SwipeDecision(session: session, photo: uuid, contentDigest: digest, action: .favorite),
                        at: Sample.time(10))
                }
                run.expect(try decide("none", photo.uuid, photo.contentDigest) == nil)
                run.expect(try decide("s", "none", photo.contentDigest) == nil)
                run.expect(try decide("s", photo.uuid, Sample.digest(9, 9)) == nil)
                try t.swipes.finish("other", at: Sample.time(2))
                run.expect(try decide("other", photo.uuid, photo.contentDigest) == nil)
                run.equal(try t.swipes.pendingCount(), 0)
                run.expect(try t.photo(photo.id).lastDecision == nil)
                let action = try decide("s", photo.uuid, photo.contentDigest)
                run.equal(action?.timestamp, Sample.time(10))
                run.equal(action?.action, .favorite)
                run.equal(action?.isProcessed, false)
                run.equal(try t.photo(photo.id).lastDecision, .favorite)
                run.expect(try t.photo(album.ids[1]).lastDecision == nil)
                run.equal(try t.swipes.pending(session: nil, after: 0, limit: 10), [action].compactMap { $0 })
                run.equal(try t.swipes.find(beginningWith: "s", limit: 1)[0].photosProcessed, 1)
            }
            run.equal(try await run.read { try $0.photo(photo.id).lastDecision }, .favorite)
        },
        ContractCheck("a later decision about a photo has a later time, whatever the clock says") { run in
            let album = try await swiping(run, 1)
            for time: Int64 in [10, 10, 5] {
                try await run.write { try decide(.keep, album.photos[0], "s", at: time, $0) }
            }
            // A read in between makes no difference to it.
            let times = try await run.read {
                try $0.swipes.decisions(session: nil, photo: album.photos[0].uuid, before: .max, limit: 10).map(
                    \.timestamp)
            }
            run.equal(times.map(\.milliseconds), [12, 11, 10])
            run.equal(try await run.read { try $0.swipes.find(beginningWith: "s", limit: 1)[0].photosProcessed }, 1)
        },
        ContractCheck("many decisions are all counted and all said by their photos") { run in
            let album = try await swiping(run, 150)
            for photo in album.photos {
                try await run.write { try decide(.trash, photo, "s", at: 10, $0) }
            }
            try await run.read { t in
                run.equal(try t.swipes.pendingCount(), 150)
                run.equal(try t.photos.count(PhotoQuery(PhotoFilter(decision: .trash))), 150)
                run.equal(try t.swipes.decisions(session: "s", photo: nil, before: .max, limit: 1000).count, 150)
            }
        },
        ContractCheck("decisions that wait are told oldest first, page by page, of a session or of all") { run in
            let album = try await swiping(run, 6)
            try await run.write { t in
                for (index, time) in [30, 10, 20, 20, 50, 40].enumerated() {
                    try decide(.keep, album.photos[index], index % 2 == 0 ? "s" : "other", at: Int64(time), t)
                }
            }
            let wanted = [1, 2, 3, 0, 5, 4].map { album.photos[$0].uuid }
            try await run.read { t in
                func walk(_ session: String?, _ limit: Int) throws -> [String] {
                    var found: [PhotoAction] = []
                    while found.count < 100 {
                        let page = try t.swipes.pending(session: session, after: found.last?.id ?? 0, limit: limit)
                        run.expect(page.count <= limit)
                        if page.isEmpty { break }
                        found += page
                    }
                    return found.map(\.photoIdentifier)
                }
                for limit in [1, 2, 6, 100] {
                    run.equal(try walk(nil, limit), wanted)
                    run.equal(try walk("s", limit), [2, 0, 4].map { album.photos[$0].uuid })
                }
                run.equal(try walk("none", 10), [])
                run.equal(try t.swipes.pending(session: nil, after: 0, limit: 0), [])
            }
        },
        ContractCheck("decisions are told latest first, of a session, of a photo, of both") { run in
            let album = try await swiping(run, 3)
            try await run.write { t in
                for (photo, session) in [(0, "s"), (1, "s"), (0, "other"), (2, "other"), (0, "s")] {
                    try decide(.keep, album.photos[photo], session, at: 10, t)
                }
            }
            try await run.read { t in
                func told(_ session: String?, _ photo: Int?, before id: Int64 = .max, limit: Int = 10) throws
                    -> [PhotoAction]
                {
                    try t.swipes.decisions(
                        session: session, photo: photo.map { album.photos[$0].uuid }, before: id, limit: limit)
                }
                let all = try told(nil, nil)
                run.equal(all.map(\.id), all.map(\.id).sorted(by: >))
                run.equal(all.map(\.photoIdentifier), [0, 2, 0, 1, 0].map { album.photos[$0].uuid })
                run.equal(try told("s", nil).map(\.id), [all[0], all[3], all[4]].map(\.id))
                run.equal(try told(nil, 0).map(\.id), [all[0], all[2], all[4]].map(\.id))
                run.equal(try told("other", 0).map(\.id), [all[2].id])
                run.equal(try told(nil, nil, before: all[1].id), Array(all.suffix(3)))
                run.equal(try told(nil, nil, limit: 2), Array(all.prefix(2)))
                run.equal(try told(nil, nil, before: all[4].id), [])
                run.equal(try told("none", nil), [])
            }
        },
        ContractCheck("decisions that are taken back make those before count again") { run in
            let album = try await swiping(run, 2)
            let photo = album.photos[0]
            try await run.write { t in
                try decide(.favorite, photo, "s", at: 10, t)
                try decide(.trash, photo, "s", at: 20, t)
                try decide(.keep, album.photos[1], "s", at: 30, t)
                run.equal(try t.swipes.undo(session: "none", count: 5), [])
                run.equal(try t.swipes.undo(session: "s", count: 0), [])
                run.equal(try t.swipes.undo(session: "s", count: 2).map(\.action), [.keep, .trash])
                run.equal(try t.photo(photo.id).lastDecision, .favorite)
                run.expect(try t.photo(album.ids[1]).lastDecision == nil)
                run.equal(try t.swipes.pendingCount(), 1)
                run.equal(try t.swipes.find(beginningWith: "s", limit: 1)[0].photosProcessed, 1)
                _ = try t.swipes.process(session: nil, limit: 10)
                run.equal(try t.swipes.undo(session: "s", count: 5), [])
                run.equal(try t.photo(photo.id).lastDecision, .favorite)
            }
        },
        ContractCheck("decisions are processed oldest first, and a photo's latest one is effective") { run in
            let album = try await swiping(run, 3)
            try await run.write { t in
                try decide(.trash, album.photos[0], "s", at: 10, t)
                try decide(.keep, album.photos[1], "other", at: 20, t)
                try decide(.favorite, album.photos[0], "s", at: 30, t)
                try decide(.trash, album.photos[2], "s", at: 40, t)
                let first = try t.swipes.process(session: "s", limit: 2)
                run.equal(first.count, 2)
                run.equal(first.effective.map(\.action), [.favorite])
                run.equal(try t.swipes.pendingCount(), 2)
                let rest = try t.swipes.process(session: nil, limit: 100)
                run.equal(rest.count, 2)
                run.equal(rest.effective.map(\.photoIdentifier), [album.photos[1].uuid, album.photos[2].uuid])
                run.equal(try t.swipes.process(session: nil, limit: 100).count, 0)
                run.equal(
                    try t.swipes.decisions(session: nil, photo: nil, before: .max, limit: 9).filter(\.isProcessed)
                        .count, 4)
            }
        },
        ContractCheck("decisions that are marked as processed are counted once") { run in
            let album = try await swiping(run, 3)
            try await run.write { t in
                for photo in album.photos { try decide(.keep, photo, "s", at: 10, t) }
                let ids = try t.swipes.pending(session: nil, after: 0, limit: 10).map(\.id)
                run.equal(try t.swipes.markProcessed([ids[0], ids[0], .max]), 1)
                run.equal(try t.swipes.markProcessed([]), 0)
                run.equal(try t.swipes.markProcessed([ids[0], ids[2]]), 1)
                run.equal(try t.swipes.pending(session: nil, after: 0, limit: 10).map(\.id), [ids[1]])
            }
        },
        ContractCheck("old decisions are deleted where they are processed, and still count their photos") { run in
            let album = try await swiping(run, 4)
            try await run.write { t in
                try decide(.keep, album.photos[0], "s", at: 10, t)
                try decide(.keep, album.photos[1], "s", at: 20, t)
                try decide(.favorite, album.photos[2], "s", at: 30, t)
                _ = try t.swipes.process(session: nil, limit: 3)
                try decide(.keep, album.photos[3], "s", at: 5, t)
                try t.swipes.finish("s", at: Sample.time(50))
                func processed(_ time: Int64, _ session: String? = nil, after id: Int64 = 0, limit: Int = 10) throws
                    -> [Int64]
                {
                    try t.swipes.processed(before: Sample.time(time), session: session, after: id, limit: limit)
                }
                let ids = try processed(.max)
                run.equal(ids.count, 3)
                run.equal(ids, ids.sorted())
                run.equal(try processed(20), [ids[0]])
                run.equal(try processed(.min), [])
                run.equal(try processed(.max, "s", after: ids[0]), Array(ids.dropFirst()))
                run.equal(try processed(.max, "other"), [])
                run.equal(try processed(.max, limit: 1), [ids[0]])
                let waiting = try t.swipes.pending(session: nil, after: 0, limit: 10).map(\.id)
                run.equal(try t.swipes.deleteProcessed(Array(ids.prefix(2)) + waiting + [.max]), 2)
                run.equal(try t.swipes.deleteProcessed(ids + []), 1)
                run.equal(try t.swipes.deleteProcessed([]), 0)
                run.equal(try t.swipes.pendingCount(), 1)
                run.equal(try t.swipes.find(beginningWith: "s", limit: 1)[0].photosProcessed, 4)
                run.equal(try t.photo(album.ids[2]).lastDecision, .favorite)
                run.equal(try t.swipes.history().first { $0.sessionID == "s" }?.forgottenPhotos, 3)
            }
        },
        ContractCheck("while reviews are shared, decisions of a session that goes on are not deleted") { run in
            let album = try await swiping(run, 1)
            try await run.write { t in
                try t.reviewMachines.put(
                    StoredReviewPartner(id: "p", address: "http://p", token: .plain("t"), addedAt: Sample.time(1)))
                try decide(.keep, album.photos[0], "s", at: 10, t)
                _ = try t.swipes.process(session: nil, limit: 3)
                let ids = try t.swipes.decisions(session: nil, photo: nil, before: .max, limit: 9).map(\.id)
                run.equal(try t.swipes.processed(before: Sample.time(.max), session: nil, after: 0, limit: 9), [])
                run.equal(try t.swipes.deleteProcessed(ids), 0)
                try t.swipes.finish("s", at: Sample.time(11))
                run.equal(try t.swipes.processed(before: Sample.time(.max), session: nil, after: 0, limit: 9), ids)
                run.equal(try t.swipes.deleteProcessed(ids), 1)
            }
        },
        ContractCheck("what a clock that was ahead has left is set back") { run in
            let album = try await swiping(run, 1)
            try await run.write { t in
                _ = try t.swipes.start("late", at: Sample.time(900))
                try t.swipes.finish("late", at: Sample.time(950))
                _ = try t.swipes.start("held", at: Sample.time(900))
                try decide(.keep, album.photos[0], "held", at: 910, t)
                try t.swipes.setBack(later: Sample.time(500), to: Sample.time(100), session: "other")
                run.equal(try t.swipes.require("late").startTime, Sample.time(900))
                try t.swipes.setBack(later: Sample.time(500), to: Sample.time(100), session: nil)
                run.equal(try t.swipes.require("late").startTime, Sample.time(100))
                run.equal(try t.swipes.require("late").endTime, Sample.time(100))
                // It has a decision of then still.
                run.equal(try t.swipes.require("held").startTime, Sample.time(900))
                run.equal(try t.swipes.require("s").startTime, Sample.time(1))
            }
        },
        ContractCheck("a history is entered as it was told") { run in
            let album = try await run.album(2) { number, family, _ in
                var new = Sample.photo(number, in: family)
                if number == 1 { new.photo.lastDecision = .trash }
                return new
            }
            func action(_ photo: Int, _ action: SwipeAction, at time: Int64, isProcessed: Bool = true)
                -> SwipeRecord.Action
            {
                SwipeRecord.Action(
                    decision: SwipeDecision(
                        session: "", photo: album.photos[photo].uuid, contentDigest: album.photos[photo].contentDigest,
                        action: action),
                    timestamp: Sample.time(time), isProcessed: isProcessed)
            }
            let records = [
                SwipeRecord(
                    sessionID: "b", startTime: Sample.time(5), endTime: Sample.time(50), forgottenPhotos: 3,
                    actions: [action(0, .trash, at: 10), action(0, .keep, at: 30, isProcessed: false)]),
                SwipeRecord(
                    sessionID: "a", startTime: Sample.time(9), endTime: nil, forgottenPhotos: 0,
                    actions: [action(0, .favorite, at: 20), action(1, .keep, at: 20)]),
            ]
            try await run.write { try $0.swipes.insert(records) }
            try await run.read { t in
                let history = try t.swipes.history()
                run.equal(history.map(\.sessionID), ["a", "b"])
                run.equal(history.map(\.forgottenPhotos), [0, 3])
                run.equal(history.map(\.endTime), [nil, Sample.time(50)])
                run.equal(history[1].actions.map(\.decision.action), [.trash, .keep])
                run.equal(history[1].actions.map(\.isProcessed), [true, false])
                run.equal(try t.swipes.find(beginningWith: "b", limit: 1)[0].photosProcessed, 4)
                run.equal(try t.photo(album.ids[0]).lastDecision, .keep)
                // What it came with was decided nobody knows when.
                run.equal(try t.photo(album.ids[1]).lastDecision, .trash)
                let told = try t.swipes.decisions(session: nil, photo: nil, before: .max, limit: 9)
                run.equal(told.map(\.timestamp.milliseconds), [30, 20, 20, 10])
                run.equal(told.map(\.sessionID), ["b", "a", "a", "b"])
            }
            try await run.write { try $0.swipes.insert([]) }
            try await run.write { try $0.swipes.removeAll() }
            try await run.read { t in
                run.equal(try t.swipes.sessions(limit: 9), [])
                run.equal(try t.swipes.decisions(session: nil, photo: nil, before: .max, limit: 9), [])
                run.equal(try t.swipes.pendingCount(), 0)
            }
        },
        ContractCheck("a decision reaches a photo that has gone into the trash") { run in
            let album = try await swiping(run, 1)
            try await run.write { try decide(.trash, album.photos[0], "s", at: 10, $0) }
            try await run.write { _ = try $0.trash.add(album.photos, at: Sample.time(20)) }
            run.equal(try await run.read { try $0.trash.find(album.photos[0].uuid)?.photo.lastDecision }, .trash)
            try await run.write { _ = try $0.swipes.undo(session: "s", count: 1) }
            let found = try await run.read { try $0.trash.find(album.photos[0].uuid) }
            run.expect(found != nil && found?.photo.lastDecision == nil)
        },
    ]

    // MARK: Values

    /// Photos, and the open sessions `s` and `other`.
    @discardableResult
    static func swiping(_ run: ContractRun, _ count: Int) async throws -> Album {
        let album = try await run.album(count)
        try await run.write { t in
            for session in ["s", "other"] { _ = try t.swipes.start(session, at: Sample.time(1)) }
        }
        return album
    }

    static func decide(
        _ action: SwipeAction, _ photo: Photo, _ session: String, at time: Int64, _ t: any CatalogueTransaction
    ) throws {
        _ = try t.swipes.record(
            SwipeDecision(session: session, photo: photo.uuid, contentDigest: photo.contentDigest, action: action),
            at: Sample.time(time))
    }
}
