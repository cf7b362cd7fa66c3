import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let categories: [ContractCheck] = [
        ContractCheck("a new category stands at the end and is what was entered") { run in
            try await run.write { t in
                let first = try t.categories.insert(
                    CategoryEntry(
                        Sample.details("Été '%' \u{1F40D}", color: "#ABCDEF", icon: "icon/é"), isDefault: true,
                        createdAt: Sample.time(.max)))
                run.expect(first.id > 0)
                run.equal(
                    first,
                    Category(
                        id: first.id, displayName: "Été '%' \u{1F40D}", position: 0, iconResource: "icon/é",
                        colorHex: "#ABCDEF", isDefault: true, createdAt: Sample.time(.max), photoCount: 0))
                let second = try t.categories.insert(Sample.category("B"))
                run.equal(second.position, 1)
                run.expect(second.iconResource == nil && !second.isDefault)
                run.equal(try t.categories.all(), [first, second])
                let third = try t.categories.insert(
                    CategoryEntry(Sample.details("C"), createdAt: Sample.time(1), id: 700, position: 9))
                run.equal(third.id, 700)
                run.equal(third.position, 9)
                run.equal(try t.categories.insert(Sample.category("D")).position, 10)
                run.equal(try t.categories.count(), 4)
            }
        },
        ContractCheck("many categories are entered in their order, or none of them") { run in
            let entered = try await run.write { t in
                run.equal(try t.categories.insert([]), [])
                return try t.categories.insert(["A", "B", "C"].map(Sample.category))
            }
            run.equal(entered.map(\.displayName), ["A", "B", "C"])
            run.equal(entered.map(\.position), [0, 1, 2])
            run.equal(try await run.read { try $0.categories.all() }, entered)
            // Names that two of them have, case ignored.
            try await run.refuses("nameTaken") { _ = try $0.categories.insert(["D", "d"].map(Sample.category)) }
            try await run.refuses("nameTaken") { _ = try $0.categories.insert(["E", "a"].map(Sample.category)) }
            try await run.refuses("tooManyCategories") { t in
                let many = (0..<CategoryLimits.count - 2).map { Sample.category("Category \($0).") }
                _ = try t.categories.insert(many)
            }
        },
        ContractCheck("categories come by position, then by id") { run in
            try await run.write { t in
                for (name, id, position) in [("A", 3, 5), ("B", 1, 5), ("C", 2, 0), ("D", 9, -1)]
                    as [(String, Int64, Int)]
                {
                    _ = try t.categories.insert(
                        CategoryEntry(Sample.details(name), createdAt: Sample.time(1), id: id, position: position))
                }
                run.equal(try t.categories.all().map(\.displayName), ["D", "C", "B", "A"])
            }
        },
        ContractCheck("categories are found by id, by folded name and by derived name") { run in
            try await run.write { t in
                let summer = try t.categories.insert(Sample.category("Été Chaud")).id
                _ = try t.categories.insert(Sample.category("Cars%"))
                run.equal(try t.categories.find(.id(summer))?.displayName, "Été Chaud")
                run.equal(try t.categories.find(.displayName("ÉTÉ  chaud"))?.id, summer)
                run.equal(try t.categories.find(.displayName("E\u{301}te\u{301} chaud"))?.id, summer)
                run.equal(try t.categories.find(.name("été_chaud"))?.id, summer)
                for key: CategoryKey in [
                    .id(.max), .id(0), .displayName("Ete Chaud"), .displayName("%"), .displayName(""),
                    .name("Été Chaud"),
                    .name(""),
                ] {
                    run.expect(try t.categories.find(key) == nil, "\(key)")
                }
            }
            try await run.refuses("noCategory") { _ = try $0.categories.require(.id(.max)) }
            try await run.refuses("noCategory") { _ = try $0.categories.require(.displayName("none")) }
        },
        ContractCheck("no two categories have names that are alike") { run in
            let album = try await run.album()
            try await run.refuses("nameTaken") { _ = try $0.categories.insert(Sample.category("FAMILY")) }
            try await run.refuses("nameTaken") {
                _ = try $0.categories.update(id: album.cars, to: Sample.details("family"))
            }
            // Its own is none of another's.
            let same = try await run.write { try $0.categories.update(id: album.family, to: Sample.details("FAMILY")) }
            run.equal(same.displayName, "FAMILY")
        },
        ContractCheck("an update writes name, colour and icon") { run in
            let album = try await run.album(1)
            let before = try await run.read { try $0.categories.all() }
            let new = try await run.write {
                try $0.categories.update(id: album.family, to: Sample.details("New '", color: "#FFFFFF", icon: "i"))
            }
            run.equal(
                new,
                Category(
                    id: album.family, displayName: "New '", position: before[0].position, iconResource: "i",
                    colorHex: "#FFFFFF", isDefault: before[0].isDefault, createdAt: before[0].createdAt, photoCount: 1))
            run.equal(try await run.read { try $0.categories.all() }, [new, before[1]])
            try await run.refuses("noCategory") { _ = try $0.categories.update(id: .max, to: Sample.details("X")) }
            try await run.write { _ = try $0.categories.update(id: album.family, to: Sample.details("New")) }
            run.expect(try await run.read { try $0.categories.all()[0].iconResource == nil })
        },
        ContractCheck("many categories are updated one after the other, or none of them") { run in
            let album = try await run.album()
            let updated = try await run.write { t in
                run.equal(try t.categories.update([]), [])
                // A name is free as soon as the one before has another.
                return try t.categories.update([
                    (album.cars, Sample.details("Vans")), (album.family, Sample.details("Cars", color: "#0A0B0C")),
                ])
            }
            run.equal(updated.map(\.id), [album.cars, album.family])
            run.equal(updated.map(\.displayName), ["Vans", "Cars"])
            run.equal(updated.last?.colorHex, "#0A0B0C")
            run.equal(try await run.read { try $0.categories.all() }, updated.reversed())
            try await run.refuses("nameTaken") {
                _ = try $0.categories.update([
                    (album.family, Sample.details("Kin")), (album.cars, Sample.details("kin")),
                ])
            }
            try await run.refuses("noCategory") {
                _ = try $0.categories.update([(album.family, Sample.details("Kin")), (.max, Sample.details("X"))])
            }
        },
        ContractCheck("categories stand as they are told to") { run in
            let album = try await run.album()
            let third = try await run.write { try $0.categories.insert(Sample.category("Third")).id }
            try await run.write { try $0.categories.reorder([third, album.family, album.cars]) }
            try await run.read { t in
                run.equal(try t.categories.all().map(\.id), [third, album.family, album.cars])
                run.equal(try t.categories.all().map(\.position), [0, 1, 2])
            }
        },
        ContractCheck("a category goes with its photos, and no other does") { run in
            let album = try await run.album(3) { number, family, cars in
                Sample.photo(number, in: number == 2 ? cars : family)
            }
            try await run.write { try $0.categories.delete(id: album.family) }
            try await run.read { t in
                run.equal(try t.categories.all().map(\.id), [album.cars])
                run.equal(try t.all(limit: 10).map(\.id), [album.ids[2]])
                run.equal(try t.photos.totals().photos, 1)
                run.expect(try t.isConsistent())
            }
            try await run.refuses("noCategory") { try $0.categories.delete(id: album.family) }
        },
        ContractCheck("ids are given once") { run in
            run.equal(try await run.read { try $0.categories.lastID() }, 0)
            let album = try await run.album()
            run.equal(try await run.read { try $0.categories.lastID() }, album.cars)
            try await run.write { try $0.categories.delete(id: album.cars) }
            run.equal(try await run.read { try $0.categories.lastID() }, album.cars)
            try await run.reopen()
            let next = try await run.write { try $0.categories.insert(Sample.category("Next")).id }
            run.expect(next > album.cars)
            run.equal(try await run.read { try $0.categories.lastID() }, next)
        },
        ContractCheck("there are a thousand at most") { run in
            try await run.write { t in
                for number in 0..<CategoryLimits.count {
                    _ = try t.categories.insert(Sample.category("Category \(number)."))
                }
                run.equal(try t.categories.all().count, CategoryLimits.count)
            }
            try await run.refuses("tooManyCategories") { _ = try $0.categories.insert(Sample.category("One more")) }
        },
        ContractCheck("categories count their photos through every change") { run in
            let album = try await run.album(3)
            func counts() async throws -> [Int] { try await run.read { try $0.categories.all().map(\.photoCount) } }
            run.equal(try await counts(), [3, 0])
            try await run.write { _ = try $0.photos.move([album.photos[0]], to: album.cars) }
            run.equal(try await counts(), [2, 1])
            try await run.write { _ = try $0.trash.add([album.photos[0], album.photos[1]], at: Sample.time(1)) }
            run.equal(try await counts(), [1, 0])
            try await run.write { _ = try $0.trash.restore([album.ids[0]]) }
            run.equal(try await counts(), [1, 1])
            run.equal(try await run.read { try $0.categories.find(.id(album.cars))?.photoCount }, 1)
        },
        ContractCheck("all categories go with all photos, the trash stays") { run in
            let album = try await run.album(3)
            try await run.write { t in
                _ = try t.trash.add([album.photos[0]], at: Sample.time(1))
                try t.categories.removeAll()
            }
            try await run.read { t in
                run.equal(try t.categories.count(), 0)
                run.equal(try t.photos.totals().photos, 0)
                run.equal(try t.trash.count(), 1)
                run.equal(try t.categories.lastID(), album.cars)
            }
        },
    ]
}
