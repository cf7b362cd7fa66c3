import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    /// Reviews in common with other machines.
    static let reviews: [ContractCheck] = [
        ContractCheck("what is decided is told once, in parts that follow each other") { run in
            let album = try await swiping(run, 5)
            try await run.write { t in
                for photo in album.photos { try decide(.keep, photo, "s", at: 10, t) }
                _ = try t.swipes.undo(session: "s", count: 1)
                try t.swipes.finish("s", at: Sample.time(20))
            }
            try await run.read { t in
                for limit in [1, 2, 100] {
                    var (cursor, parts) = (ReviewCursor.start, 0)
                    var (sessions, decisions, undone) = (Set<String>(), [String](), [String]())
                    var more = true
                    while more && parts < 100 {
                        let part = try t.reviews.changes(after: cursor, except: nil, limit: limit)
                        run.expect([part.sessions.count, part.decisions.count, part.undone.count].max() ?? 0 <= limit)
                        sessions.formUnion(part.sessions.map(\.id))
                        decisions += part.decisions.map(\.photo)
                        undone += part.undone.map(\.photo)
                        (cursor, more) = (try ReviewCursor(part.next), part.more)
                        parts += 1
                    }
                    run.equal(sessions, ["s", "other"])
                    run.equal(decisions, album.photos.prefix(4).map(\.uuid))
                    run.equal(undone, [album.photos[4].uuid])
                    run.expect(try t.reviews.changes(after: cursor, except: nil, limit: limit).isEmpty)
                }
            }
        },
        ContractCheck("a session is told again after it has ended") { run in
            try await swiping(run, 0)
            let cursor = try await run.read {
                try ReviewCursor($0.reviews.changes(after: .start, except: nil, limit: 9).next)
            }
            run.equal(try await run.read { try $0.reviews.hasEndedSession(after: .start) }, false)
            try await run.write { try $0.swipes.finish("s", at: Sample.time(20)) }
            try await run.read { t in
                let part = try t.reviews.changes(after: cursor, except: nil, limit: 9)
                run.equal(
                    part.sessions, [ReviewChanges.Session(id: "s", startedAt: Sample.time(1), endedAt: Sample.time(20))]
                )
                run.equal(try t.reviews.hasEndedSession(after: cursor), true)
                run.equal(try t.reviews.hasEndedSession(after: ReviewCursor(part.next)), false)
            }
        },
        ContractCheck("a cursor that nobody was given begins anew") { run in
            try await swiping(run, 0)
            let part = try await run.read {
                try $0.reviews.changes(
                    after: ReviewCursor(session: .max, decision: .max, undone: .max), except: nil, limit: 9)
            }
            run.equal(part.sessions.count, 2)
        },
        ContractCheck("what came from a machine is not told to it, and to others it is") { run in
            let album = try await told(run, 2)
            let part = changes([(album.photos[0], .favorite, 10), (album.photos[1], .keep, 20)])
            run.equal(
                try await run.write { try $0.reviews.merge(part, from: "m") },
                TakenReviews(sessions: 1, decisions: 2, undone: 0))
            try await run.read { t in
                run.equal(try t.reviews.changes(after: .start, except: "m", limit: 9).decisions, [])
                run.equal(
                    Set(try t.reviews.changes(after: .start, except: "p", limit: 9).decisions), Set(part.decisions))
                run.equal(try t.photo(album.ids[0]).lastDecision, .favorite)
                run.equal(try t.swipes.pendingCount(), 2)
            }
        },
        ContractCheck("the same once more changes nothing, in whichever order") { run in
            let album = try await told(run, 1)
            let (photo, session) = (album.photos[0], Sample.uuid(50))
            let all = changes([(photo, .favorite, 10), (photo, .trash, 20)], ended: 30)
            let undo = ReviewChanges(sessions: [], decisions: [], undone: [all.decisions[1]], next: "", more: false)
            try await run.write { t in
                // What takes a decision back may come before it.
                let first = try t.reviews.merge(undo, from: "m")
                run.equal([first.decisions, first.undone], [0, 0])
                run.equal(try t.reviews.merge(all, from: "m").decisions, 1)
                run.equal(try t.reviews.merge(all, from: "m"), .none)
                run.equal(try t.reviews.merge(undo, from: "m"), .none)
                run.equal(try t.photo(photo.id).lastDecision, .favorite)
                run.equal(try t.swipes.require(session).endTime, Sample.time(30))
                run.equal(try t.swipes.require(session).startTime, Sample.time(5))
                run.equal(try t.swipes.pendingCount(), 1)
            }
        },
        ContractCheck("what is taken back is not told to the machine that told it, and to others it is") { run in
            let album = try await told(run, 1)
            let all = changes([(album.photos[0], .favorite, 10)])
            let undo = ReviewChanges(sessions: [], decisions: [], undone: all.decisions, next: "", more: false)
            try await run.write { t in
                _ = try t.reviews.merge(all, from: "m")
                run.equal(try t.reviews.merge(undo, from: "m").undone, 1)
                run.equal(try t.reviews.changes(after: .start, except: "m", limit: 9).undone, [])
                for other in ["p", nil] {
                    run.equal(try t.reviews.changes(after: .start, except: other, limit: 9).undone, undo.undone)
                }
            }
        },
        ContractCheck("the latest decision counts, whichever came first") { run in
            let album = try await told(run, 2)
            let (photo, other) = (album.photos[0], album.photos[1])
            try await run.write { t in
                _ = try t.reviews.merge(changes([(photo, .trash, 200)]), from: "m")
                _ = try t.reviews.merge(changes([(photo, .keep, 100), (other, .keep, 100)]), from: "p")
                run.equal(try t.photo(photo.id).lastDecision, .trash)
                // One that is made here has seen what they said.
                _ = try t.swipes.start("here", at: Sample.time(1))
                try decide(.favorite, photo, "here", at: 150, t)
                run.equal(try t.photo(photo.id).lastDecision, .favorite)
                run.equal(try t.swipes.undo(session: "here", count: 1)[0].timestamp, Sample.time(201))
                run.equal(try t.photo(photo.id).lastDecision, .trash)
                run.equal(try t.photo(other.id).lastDecision, .keep)
            }
        },
        ContractCheck("a decision is about the photo with its content, and else no more than history") { run in
            let album = try await told(run, 1)
            let photo = album.photos[0]
            func decision(_ uuid: String, _ digest: String, _ time: Int64) -> ReviewChanges.Decision {
                ReviewChanges.Decision(
                    session: Sample.uuid(50), photo: uuid, digest: digest, action: .favorite,
                    decidedAt: Sample.time(time))
            }
            let part = ReviewChanges(
                sessions: [],
                decisions: [
                    decision("elsewhere", photo.contentDigest, 10), decision(photo.uuid, Sample.digest(9, 9), 20),
                ], undone: [], next: "", more: false)
            try await run.write { t in
                run.equal(try t.reviews.merge(part, from: "m").decisions, 2)
                run.equal(try t.photo(photo.id).lastDecision, .favorite)
                let waiting = try t.swipes.pending(session: nil, after: 0, limit: 9)
                run.equal(waiting.map(\.photoIdentifier), [photo.uuid])
                // It is told on as it came.
                run.equal(
                    Set(try t.reviews.changes(after: .start, except: nil, limit: 9).decisions.map(\.photo)),
                    ["elsewhere", photo.uuid])
            }
        },
        ContractCheck("what was deleted because it is old does not come back") { run in
            let album = try await told(run, 1)
            let part = changes([(album.photos[0], .favorite, 10)], ended: 20)
            try await run.write { t in
                _ = try t.reviews.merge(part, from: "m")
                _ = try t.swipes.process(session: nil, limit: 9)
                let ids = try t.swipes.processed(before: Sample.time(.max), session: nil, after: 0, limit: 9)
                run.equal(try t.swipes.deleteProcessed(ids), 1)
                run.equal(try t.reviews.merge(part, from: "p").decisions, 0)
                run.equal(try t.photo(album.ids[0]).lastDecision, .favorite)
                run.equal(try t.swipes.pendingCount(), 0)
            }
        },
        ContractCheck("after all sessions are removed, what was taken back or deleted comes as any other") { run in
            let album = try await told(run, 2)
            let all = changes([(album.photos[0], .favorite, 10), (album.photos[1], .keep, 10)], ended: 20)
            let undo = ReviewChanges(sessions: [], decisions: [], undone: [all.decisions[0]], next: "", more: false)
            try await run.write { t in
                _ = try t.reviews.merge(all, from: "m")
                _ = try t.reviews.merge(undo, from: "m")
                _ = try t.swipes.process(session: nil, limit: 9)
                let ids = try t.swipes.processed(before: Sample.time(.max), session: nil, after: 0, limit: 9)
                run.equal(try t.swipes.deleteProcessed(ids), 1)
                run.equal(try t.reviews.merge(all, from: "p").decisions, 0)
                try t.swipes.removeAll()
                run.equal(try t.swipes.sessions(limit: 9), [])
                run.equal(try t.reviews.merge(all, from: "p").decisions, 2)
                run.equal(try t.swipes.pendingCount(), 2)
            }
        },
        ContractCheck("what came from one machine is processed once its sessions have ended") { run in
            let album = try await told(run, 2)
            try await run.write { t in
                _ = try t.reviews.merge(changes([(album.photos[0], .favorite, 10)], session: 50), from: "m")
                _ = try t.reviews.merge(changes([(album.photos[1], .keep, 10)], session: 51, ended: 20), from: "p")
                run.equal(try t.reviews.processArrived(from: "m", limit: 9).count, 0)
                _ = try t.reviews.merge(changes([], session: 50, ended: 20), from: "m")
                let taken = try t.reviews.processArrived(from: "m", limit: 9)
                run.equal(taken.count, 1)
                run.equal(taken.effective.map(\.photoIdentifier), [album.photos[0].uuid])
                run.equal(try t.reviews.processArrived(from: "m", limit: 9).count, 0)
                run.equal(try t.reviews.processArrived(from: "p", limit: 0).count, 0)
                run.equal(try t.swipes.pendingCount(), 1)
            }
        },
        ContractCheck("what came from a machine is counted, and goes again in its order") { run in
            let album = try await told(run, 3)
            let part = changes([(album.photos[0], .favorite, 10), (album.photos[1], .keep, 20)], ended: 30)
            let undo = ReviewChanges(
                sessions: [], decisions: [], undone: [changes([(album.photos[2], .keep, 5)]).decisions[0]], next: "",
                more: false)
            try await run.write { t in
                run.equal(try t.reviews.countTaken(from: "m"), 0)
                _ = try t.reviews.merge(part, from: "m")
                _ = try t.reviews.merge(part, from: "m")
                _ = try t.reviews.merge(undo, from: "m")
                run.equal(try t.reviews.countTaken(from: "m"), 4)
                run.equal(try t.reviews.countTaken(from: "p"), 0)
                run.equal(try t.reviews.countTaken(from: "none"), 0)
                func arrived(_ kind: ArrivedKind, after number: Int64 = 0, limit: Int = 9) throws -> [Int64] {
                    try t.reviews.arrived(kind, from: "m", after: number, limit: limit)
                }
                let waiting = try arrived(.waiting)
                run.equal(waiting.count, 2)
                run.equal(try arrived(.waiting, limit: 1), [waiting[0]])
                run.equal(try arrived(.waiting, after: waiting[0]), [waiting[1]])
                run.equal(try t.reviews.arrived(.waiting, from: "p", after: 0, limit: 9), [])
                try t.reviews.forget(.waiting, waiting, from: "p")
                run.equal(try arrived(.waiting), waiting)
                try t.reviews.forget(.waiting, [waiting[1]], from: "m")
                run.expect(try t.photo(album.ids[1]).lastDecision == nil)
                _ = try t.reviews.processArrived(from: "m", limit: 9)
                run.equal(try arrived(.waiting), [])
                run.equal(try arrived(.processed), [waiting[0]])
                // A photo that is here rests on it.
                try t.reviews.forget(.processed, [waiting[0]], from: "m")
                run.equal(try arrived(.processed), [waiting[0]])
                let sessions = try arrived(.sessions)
                run.equal(sessions.count, 1)
                try t.reviews.forget(.sessions, sessions, from: "m")
                run.equal(try arrived(.sessions), sessions)
                try t.photos.removeAll()
                try t.reviews.forget(.processed, [waiting[0]], from: "m")
                run.equal(try arrived(.processed), [])
                try t.reviews.forget(.sessions, sessions, from: "m")
                run.equal(try arrived(.sessions), [])
                let undone = try arrived(.undone)
                run.equal(undone.count, 1)
                try t.reviews.forget(.undone, undone, from: "m")
                run.equal(try arrived(.undone), [])
                run.equal(try t.reviews.countTaken(from: "m"), 4)
            }
        },
    ]

    // MARK: Values

    /// Photos, and the machines `m`, which was let in, and `p`, which was joined.
    private static func told(_ run: ContractRun, _ count: Int) async throws -> Album {
        let album = try await run.album(count)
        try await run.write { t in
            try t.reviewMachines.add(
                ReviewMachine(id: "m", name: "M", isJoined: false, addedAt: Sample.time(1), seenAt: nil), key: "m",
                token: Sample.digest(1, 1))
            try t.reviewMachines.put(
                StoredReviewPartner(id: "p", address: "http://p", token: .plain("t"), addedAt: Sample.time(1)))
        }
        return album
    }

    private static func changes(
        _ decisions: [(Photo, SwipeAction, Int64)], session: Int = 50, ended: Int64? = nil
    ) -> ReviewChanges {
        ReviewChanges(
            sessions: [.init(id: Sample.uuid(session), startedAt: Sample.time(5), endedAt: ended.map(Sample.time))],
            decisions: decisions.map { photo, action, time in
                .init(
                    session: Sample.uuid(session), photo: photo.uuid, digest: photo.contentDigest, action: action,
                    decidedAt: Sample.time(time))
            }, undone: [], next: "", more: false)
    }
}
