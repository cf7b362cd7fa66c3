import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let reviewMachines: [ContractCheck] = [
        ContractCheck("machines that were let in are told in their order, and known by their token") { run in
            @Sendable func machine(_ id: String, at time: Int64) -> ReviewMachine {
                ReviewMachine(id: id, name: "Machine '\(id)'", isJoined: false, addedAt: Sample.time(time), seenAt: nil)
            }
            try await run.write { t in
                for (id, time) in [("c", 5), ("a", 9), ("b", 5)] as [(String, Int64)] {
                    try t.reviewMachines.add(
                        machine(id, at: time), key: "key \(id)", token: Sample.digest(1, Int(time)) + id)
                }
                run.equal(
                    try t.reviewMachines.machines(), [machine("b", at: 5), machine("c", at: 5), machine("a", at: 9)])
                run.equal(try t.reviewMachines.machine(token: Sample.digest(1, 5) + "c")?.id, "c")
                run.expect(try t.reviewMachines.machine(token: "none") == nil)
                try t.reviewMachines.noteUse(of: "c", at: Sample.time(.max))
                try t.reviewMachines.noteUse(of: "none", at: Sample.time(1))
                run.equal(try t.reviewMachines.machines().map(\.seenAt), [nil, Sample.time(.max), nil])
                try t.reviewMachines.revoke(machine: "c")
                run.expect(try t.reviewMachines.machine(token: Sample.digest(1, 5) + "c") == nil)
                run.equal(try t.reviewMachines.machines().count, 3)
                run.equal(try t.reviewMachines.machine(token: Sample.digest(1, 5) + "b")?.id, "b")
                run.equal(try t.reviewMachines.remove(machine: "c"), true)
                run.equal(try t.reviewMachines.remove(machine: "c"), false)
                run.equal(try t.reviewMachines.machines().map(\.id), ["b", "a"])
            }
        },
        ContractCheck("machines that were joined are kept in their order, each once") { run in
            @Sendable func partner(_ id: String, at time: Int64, joins: Int = 1) -> StoredReviewPartner {
                StoredReviewPartner(
                    id: id, address: "http://\(id)", token: .plain("t \(id)"), joins: joins, addedAt: Sample.time(time),
                    heard: "h", told: "t")
            }
            try await run.write { t in
                let (first, second) = (partner("b", at: 1), partner("a", at: 2))
                try t.reviewMachines.put(second)
                try t.reviewMachines.put(first)
                run.equal(try t.reviewMachines.partners(), [first, second])
                try t.reviewMachines.setToken(.sealed([0, 255, 1]), of: "b")
                try t.reviewMachines.setToken(.none, of: "none")
                run.equal(try t.reviewMachines.partners().map(\.token), [.sealed([0, 255, 1]), .plain("t a")])
                try t.reviewMachines.setToken(.none, of: "b")
                run.equal(try t.reviewMachines.partners()[0].token, .plain(""))
                let again = partner("b", at: 3, joins: 2)
                try t.reviewMachines.put(again)
                run.equal(try t.reviewMachines.partners(), [second, again])
                run.equal(try t.reviewMachines.remove(partner: "b"), true)
                run.equal(try t.reviewMachines.remove(partner: "b"), false)
                run.equal(try t.reviewMachines.partners(), [second])
                run.equal(try t.reviewMachines.list().machines.map(\.id), ["a"])
            }
        },
        ContractCheck("a try that was begun before a machine was joined anew notes nothing") { run in
            let old = StoredReviewPartner(
                id: "p", address: "http://p", token: .plain("t"), joins: 1, addedAt: Sample.time(1), heard: "1",
                told: "2")
            let new = StoredReviewPartner(
                id: "p", address: "http://p", token: .plain("t"), joins: 2, addedAt: Sample.time(2), heard: "1",
                told: "2")
            try await run.write { t in
                try t.reviewMachines.put(old)
                try t.reviewMachines.note(old, syncedAt: Sample.time(5), problem: nil)
                try t.reviewMachines.note(old, syncedAt: nil, problem: "It's away.")
                run.equal(try t.reviewMachines.partners()[0].syncedAt, Sample.time(5))
                run.equal(try t.reviewMachines.partners()[0].problem, "It's away.")
                run.equal(try t.reviewMachines.advance(old, .heard, from: "9", to: "8"), false)
                run.equal(try t.reviewMachines.advance(old, .heard, from: "1", to: "3"), true)
                run.equal(try t.reviewMachines.advance(old, .heard, from: "1", to: "4"), false)
                run.equal(try t.reviewMachines.advance(old, .told, from: "2", to: "5"), true)
                run.equal(try t.reviewMachines.partners().map(\.heard), ["3"])
                run.equal(try t.reviewMachines.partners().map(\.told), ["5"])
                try t.reviewMachines.put(new)
                try t.reviewMachines.note(old, syncedAt: Sample.time(6), problem: "old")
                run.equal(try t.reviewMachines.advance(old, .heard, from: "1", to: "4"), false)
                run.equal(try t.reviewMachines.partners(), [new])
            }
        },
    ]
}
