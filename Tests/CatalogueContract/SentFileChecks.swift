import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let sentFiles: [ContractCheck] = [
        ContractCheck("what was sent is found by its device, folder and name, and told by its name's bytes") { run in
            try await run.write { t in
                for id in ["a", "b"] { try t.devices.insert(sender(id)) }
                let names = ["z", "A", "ä", "a", "%_", "Z.jpg"]
                for (number, name) in names.enumerated() {
                    try t.sentFiles.store(file(name, Int64(number)), in: "x/y", of: "a")
                }
                try t.sentFiles.store(file("a", 7), in: "x/y", of: "b")
                try t.sentFiles.store(file("a", 8), in: "x", of: "a")
                let sorted = ["%_", "A", "Z.jpg", "a", "z", "ä"]
                func told(_ after: String?, _ limit: Int) throws -> [String] {
                    try t.sentFiles.contents(of: "x/y", of: "a", after: after, limit: limit).map(\.name)
                }
                run.equal(try told(nil, 10), sorted)
                run.equal(try told("A", 3), ["Z.jpg", "a", "z"])
                run.equal(try told("ä", 3), [])
                run.equal(try t.sentFiles.find("a", in: "x/y", of: "b"), file("a", 7))
                run.equal(try t.sentFiles.find("a", in: "x", of: "a"), file("a", 8))
                run.expect(try t.sentFiles.find("a", in: "", of: "a") == nil)
                run.equal(try ["a", "b", "none"].map { try t.sentFiles.count(of: $0) }, [7, 1, 0])
                try t.sentFiles.store(file("a", .max), in: "x/y", of: "a")
                run.equal(try t.sentFiles.find("a", in: "x/y", of: "a"), file("a", .max))
                run.equal(try t.sentFiles.count(of: "a"), 7)
                try t.sentFiles.remove("a", in: "x/y", of: "a")
                try t.sentFiles.remove("none", in: "x/y", of: "a")
                run.equal(try t.sentFiles.count(of: "a"), 6)
                run.equal(try t.sentFiles.count(of: "b"), 1)
            }
            await run.fails("What a device sent that is not there") {
                try await run.write { try $0.sentFiles.store(file("a", 1), in: "", of: "none") }
            }
        },
        ContractCheck("a folder is a category while that is there, and all goes with the device") { run in
            let album = try await run.album()
            let folder = StoredSentFile(
                name: "Sea", size: nil, modifiedAt: Sample.time(.min), sentAt: Sample.time(.max),
                categoryId: album.cars)
            try await run.write { t in
                try t.devices.insert(sender("a"))
                try t.sentFiles.store(folder, in: "", of: "a")
                run.equal(try t.sentFiles.find("Sea", in: "", of: "a"), folder)
                var gone = folder
                (gone.name, gone.categoryId) = ("Gone", Int64.max)
                try t.sentFiles.store(gone, in: "", of: "a")
                gone.categoryId = nil
                run.equal(try t.sentFiles.find("Gone", in: "", of: "a"), gone)
                run.equal(try t.devices.remove("a"), true)
                run.equal(try t.sentFiles.count(of: "a"), 0)
            }
        },
        ContractCheck("a device's programs have one password, which goes with the device") { run in
            try await run.write { t in
                run.equal(try t.devices.passwords(), [:])
                for id in ["a", "b"] { try t.devices.insert(sender(id)) }
                run.equal(try t.devices.setPassword("one", of: "a"), true)
                run.equal(try t.devices.setPassword("two", of: "a"), true)
                run.equal(try t.devices.setPassword("three", of: "b"), true)
                run.equal(try t.devices.setPassword("four", of: "none"), false)
                run.equal(try t.devices.passwords(), ["a": "two", "b": "three"])
                run.equal(try t.devices.setPassword(nil, of: "b"), true)
                run.equal(try t.devices.passwords(), ["a": "two"])
            }
            await run.fails("Another device's password") {
                try await run.write { _ = try $0.devices.setPassword("two", of: "b") }
            }
            try await run.write { t in
                _ = try t.devices.remove("a")
                run.equal(try t.devices.passwords(), [:])
            }
        },
    ]

    private static func sender(_ id: String) -> StoredDevice {
        StoredDevice(
            Device(id: id, name: id, userAgent: nil, createdAt: Sample.time(1), lastSeenAt: Sample.time(1)),
            tokenDigest: "token " + id)
    }

    private static func file(_ name: String, _ size: Int64) -> StoredSentFile {
        StoredSentFile(
            name: name, size: size, modifiedAt: Sample.time(2), sentAt: Sample.time(3), digest: "digest \(name)")
    }
}
