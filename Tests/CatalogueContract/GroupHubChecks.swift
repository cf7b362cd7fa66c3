import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let groupHubs: [ContractCheck] = [
        ContractCheck("hubs are told as they were joined, each once") { run in
            try await run.write { t in
                let (first, second) = (hub("b", at: 1), hub("a", at: 2))
                try t.groupHubs.put(second)
                try t.groupHubs.put(first)
                run.equal(try t.groupHubs.all(), [first, second])
                var changed = first
                changed.token = .sealed([1, 0, 255])
                changed.problem = "It's away."
                changed.syncedAt = Sample.time(.max)
                run.equal(try t.groupHubs.put([group("g", at: 1, [member("ada")], hub: "b")]), [])
                try t.groupHubs.put(changed)
                run.equal(try t.groupHubs.all(), [changed, second])
                // The groups of one that is put again stay.
                run.equal(try t.groups.groups(nil).map(\.id), ["g"])
                try t.groupHubs.setToken(.plain("new"), of: "a")
                try t.groupHubs.setToken(.none, of: "none")
                run.equal(try t.groupHubs.all().map(\.token), [.sealed([1, 0, 255]), .plain("new")])
                run.equal(try t.groupHubs.remove("b"), true)
                run.equal(try t.groupHubs.remove("b"), false)
                run.equal(try t.groupHubs.all().map(\.id), ["a"])
                run.equal(try t.groups.count(), 0)
            }
        },
        ContractCheck("a problem leaves the time of the last success") { run in
            try await run.write { t in
                try t.groupHubs.put(hub("a"))
                try t.groupHubs.put(hub("b"))
                try t.groupHubs.note("a", syncedAt: Sample.time(5), problem: nil)
                try t.groupHubs.note("a", syncedAt: nil, problem: "It's away.")
                try t.groupHubs.note("none", syncedAt: nil, problem: "x")
                run.equal(try t.groupHubs.all().map(\.syncedAt), [Sample.time(5), nil])
                run.equal(try t.groupHubs.all().map(\.problem), ["It's away.", nil])
                try t.groupHubs.note("a", syncedAt: Sample.time(6), problem: nil)
                run.equal(try t.groupHubs.all()[0].problem, nil)
            }
        },
        ContractCheck("a hub says what its own groups are, and nothing of others") { run in
            try await twoGroups(run)
            try await run.write { t in
                try t.groupHubs.put(hub("h"))
                try t.groupHubs.put(hub("i"))
                run.equal(try t.groupHubs.put([]), [])
                run.equal(try t.groupHubs.put([group("one", at: 7, [], hub: "h")]), ["one"])
                run.equal(try t.groups.require("one").members.count, 2)
                run.equal(try t.groupHubs.put([group("away", at: 7, [member("ada"), member("cleo")], hub: "h")]), [])
                run.equal(try t.groupHubs.put([group("away", at: 8, [], hub: "i")]), ["away"])
                var changed = group("away", at: 9, [member("ada"), member("dan")], hub: "h")
                changed.name = "renamed"
                run.equal(try t.groupHubs.put([changed]), [])
                run.equal(try t.groupHubs.put([changed]), [])
                run.equal(try t.groups.require("away"), changed)
                run.equal(try t.groups.count(), 3)
                // Many at once, of which some are another's.
                let new = group("new", at: 10, [member("eve")], hub: "h")
                changed.name = "renamed twice"
                let others = ["one", "other"].map { group($0, at: 7, [], hub: "h") }
                run.equal(try t.groupHubs.put([others[0], new, changed, others[1]]), ["one", "other"])
                run.equal(try t.groups.require("new"), new)
                run.equal(try t.groups.require("away"), changed)
                run.equal(try t.groups.require("other").members.count, 2)
            }
        },
        ContractCheck("groups that were left are told to their hub once") { run in
            try await run.write { t in
                try t.groupHubs.put(hub("h"))
                try t.groupHubs.put(hub("i"))
                for group in ["b", "a", "b"] { try t.groupHubs.addDeparture(group, from: "h") }
                try t.groupHubs.addDeparture("a", from: "i")
                run.equal(try t.groupHubs.departures(from: "h"), ["a", "b"])
                try t.groupHubs.removeDepartures(["a", "none", "a"], from: "h")
                try t.groupHubs.removeDepartures(["a"], from: "h")
                try t.groupHubs.removeDepartures([], from: "h")
                run.equal(try t.groupHubs.departures(from: "h"), ["b"])
                run.equal(try t.groupHubs.departures(from: "i"), ["a"])
                for group in ["c", "d"] { try t.groupHubs.addDeparture(group, from: "i") }
                try t.groupHubs.removeDepartures(["d", "a"], from: "i")
                run.equal(try t.groupHubs.departures(from: "i"), ["c"])
                run.equal(try t.groupHubs.departures(from: "none"), [])
                _ = try t.groupHubs.remove("h")
                run.equal(try t.groupHubs.departures(from: "h"), [])
            }
        },
        ContractCheck("what waits to go out is photos that have not expired, and departures") { run in
            try await run.write { t in
                try t.groupHubs.put(hub("h"))
                try t.groupHubs.put(hub("i"))
                _ = try t.groupHubs.put([group("away", at: 1, [member("ada")], hub: "h")])
                func waiting(_ time: Int64) throws -> Set<String> {
                    try t.groupHubs.withOutgoing(at: Sample.time(time))
                }
                run.equal(try waiting(0), [])
                var sent = photo("p", "away", at: 100)
                sent.transfer = .incoming
                try t.groups.insert(sent)
                run.equal(try waiting(0), [])
                sent.transfer = .outgoing
                try t.groups.update(sent)
                run.equal(try waiting(149), ["h"])
                run.equal(try waiting(150), [])
                for group in ["x", "y"] { try t.groupHubs.addDeparture(group, from: "i") }
                run.equal(try waiting(.max), ["i"])
                run.equal(try waiting(149), ["h", "i"])
                // What waits in a group that is kept here goes to no hub.
                try t.groups.insert(group("here", at: 1, [member("ada")]))
                var own = photo("own", "here", at: 100)
                own.transfer = .outgoing
                try t.groups.insert(own)
                run.equal(try waiting(149), ["h", "i"])
            }
        },
        ContractCheck("what this library's person has sent in vain to a hub is noted, though group and hub are gone") {
            run in
            try await run.write { t in
                try t.groupHubs.put(hub("h"))
                let here = group("here", at: 1, [member("ada", isSelf: true)])
                let away = group("away", at: 1, [member("ada", isSelf: true), member("ben")], hub: "h")
                var waiting = photo("waiting", "away", "ben")
                waiting.transfer = .outgoing
                let photos = [photo("own", "away"), photo("by another", "away", "ben"), waiting]
                let own = photo("kept here", "here")
                func note(_ groups: StoredGroup...) throws {
                    try t.groupHubs.noteUndelivered(
                        photos + [own], of: groups, at: Sample.time(9), .refused, detail: "It's full.")
                }
                try note(here)
                run.equal(try t.groupHubs.undelivered(), [])
                try note(here, away)
                _ = try t.groupHubs.remove("h")
                let noted = try t.groupHubs.undelivered()
                run.equal(noted.map(\.id), ["own", "waiting"])
                run.equal(noted.map(\.hub), ["http://h", "http://h"])
                run.equal(noted.map(\.detail), ["It's full.", "It's full."])
                run.equal(noted.map(\.groupName), ["away", "away"])
            }
        },
        ContractCheck("photos that were sent in vain are told latest first, a hundred at most") { run in
            @Sendable func vain(_ id: String, at time: Int64, detail: String? = nil) -> UndeliveredGroupPhoto {
                UndeliveredGroupPhoto(
                    id: id, groupId: "g", groupName: "Group 'é'", hub: "http://h", sentAt: Sample.time(1),
                    noticedAt: Sample.time(time), reason: .expired, detail: detail)
            }
            let most = UndeliveredGroupPhoto.maximumCount
            try await run.write { t in
                try t.groupHubs.add([vain("b", at: 5), vain("a", at: 5), vain("c", at: 9, detail: "It's full.")])
                run.equal(
                    try t.groupHubs.undelivered(),
                    [vain("c", at: 9, detail: "It's full."), vain("a", at: 5), vain("b", at: 5)])
                try t.groupHubs.add([vain("a", at: 10)])
                run.equal(try t.groupHubs.undelivered().map(\.id), ["a", "c", "b"])
                try t.groupHubs.removeUndelivered(until: Sample.time(9))
                run.equal(try t.groupHubs.undelivered().map(\.id), ["a"])
                try t.groupHubs.add([])
                try t.groupHubs.add((0..<most).map { vain("n\($0)", at: Int64(100 + $0)) })
                let left = try t.groupHubs.undelivered()
                run.equal(left.count, most)
                run.equal(left.first?.id, "n\(most - 1)")
                run.equal(left.last?.id, "n0")
            }
        },
    ]
}
