import Dispatch
import LibraryModel
import LibraryStorage
import ServiceMesh

struct Stop: Error, Equatable {
    let number: Int
}

extension CatalogueContract {
    package static let transactions: [ContractCheck] = [
        ContractCheck("a new catalogue is empty and well") { run in
            try await run.read { t in
                run.equal(try t.photos.totals().photos, 0)
                run.equal(try t.categories.count(), 0)
                run.equal(try t.trash.count(), 0)
                run.equal(try t.settings.settings(), Settings())
                run.expect(try t.isConsistent())
            }
            run.equal(await run.catalogue.problems(), [])
            run.equal(try await run.catalogue.check(), [])
            run.equal(try await run.catalogue.unreadableRows(), [])
            run.equal(try await run.catalogue.findUnreadableRows(), [])
        },
        ContractCheck("what a body returns comes back") { run in
            run.equal(try await run.read { _ in 7 }, 7)
            run.equal(try await run.write { _ in "é" }, "é")
            run.equal(try await run.catalogue.writeAlone { _ in 8 }, 8)
            run.equal(try await run.catalogue.writeFreeingSpace { _ in 9 }, 9)
        },
        ContractCheck("what a body throws comes back as it is and undoes all of it") { run in
            let album = try await run.album(2)
            let stop = Stop(number: 3)
            @Sendable func change(_ t: any CatalogueTransaction) throws {
                _ = try t.photos.setFavorite(true, of: album.photos)
                _ = try t.categories.insert(Sample.category("New"))
                _ = try t.trash.add([album.photos[0]], at: Sample.time(1))
                try t.settings.setLastSyncDate(Sample.time(5))
                throw stop
            }
            do {
                try await run.write { try change($0) }
                run.expect(false, "write throws nothing")
            } catch { run.equal(error as? Stop, stop) }
            do {
                _ = try await run.catalogue.writeAlone { try change($0) }
                run.expect(false, "writeAlone throws nothing")
            } catch { run.equal(error as? Stop, stop) }
            do {
                _ = try await run.catalogue.writeFreeingSpace { try change($0) }
                run.expect(false, "writeFreeingSpace throws nothing")
            } catch { run.equal(error as? Stop, stop) }
            try await run.read { t in
                run.equal(try t.photos.totals().favorites, 0)
                run.equal(try t.photos.totals().photos, 2)
                run.equal(try t.categories.count(), 2)
                run.equal(try t.trash.count(), 0)
                run.expect(try t.settings.settings().lastSyncDate == nil)
            }
        },
        ContractCheck("writes that wait together fail alone") { run in
            let made = await withTaskGroup(of: Int?.self) { tasks in
                for number in 0..<40 {
                    tasks.addTask {
                        try? await run.write { t in
                            _ = try t.categories.insert(Sample.category("Category \(number).")).id
                            if number % 3 == 0 { throw Stop(number: number) }
                            return number
                        }
                    }
                }
                return await tasks.reduce(into: Set<Int>()) { if let number = $1 { $0.insert(number) } }
            }
            run.equal(made, Set((0..<40).filter { $0 % 3 != 0 }))
            let names = try await run.read { try $0.categories.all().map(\.displayName) }
            run.equal(Set(names), Set(made.map { "Category \($0)." }))
        },
        ContractCheck("each write sees all writes before it") { run in
            await withTaskGroup(of: Void.self) { tasks in
                for _ in 0..<50 {
                    tasks.addTask {
                        _ = try? await run.write { t in
                            let last = try t.settings.settings().lastSyncDate?.milliseconds ?? 0
                            try t.settings.setLastSyncDate(Sample.time(last + 1))
                        }
                    }
                }
            }
            run.equal(try await run.read { try $0.settings.settings().lastSyncDate } as Timestamp?, Sample.time(50))
        },
        ContractCheck("a transaction sees its own changes in every repository") { run in
            try await run.album(3)
            try await run.write { t in
                let photos = try t.all(limit: 10)
                run.equal(try t.trash.add([photos[0]], at: Sample.time(1)), 1)
                run.equal(try t.photos.totals().photos, 2)
                run.equal(try t.categories.all().map(\.photoCount), [2, 0])
                run.equal(try t.trash.count(), 1)
                try t.photos.removeAll()
                run.equal(try t.categories.all().map(\.photoCount), [0, 0])
            }
        },
        ContractCheck("a read sees one state while another writes") { run in
            try await run.album(1)
            let (hasBegun, begun) = AsyncStream.makeStream(of: Void.self)
            let written = DispatchSemaphore(value: 0)
            async let counts = run.read { t in
                let before = try t.photos.totals().photos
                begun.finish()
                // A catalogue that lets no write pass a read need not let this one: then there is nothing to be seen.
                _ = written.wait(timeout: .now() + 2)
                return [before, try t.photos.totals().photos, try t.all(limit: 10).count]
            }
            for await _ in hasBegun {}
            try await run.write { t in
                try t.photos.insert([Sample.photo(9, in: t.categories.all()[0].id)])
            }
            written.signal()
            run.equal(try await counts, [1, 1, 1])
            run.equal(try await run.read { try $0.photos.totals().photos }, 2)
        },
        ContractCheck("a read cannot change anything") { run in
            let album = try await run.album(1)
            await run.fails("A change in a read") {
                try await run.read { _ = try $0.photos.setFavorite(true, of: album.photos) }
            }
            run.equal(try await run.read { try $0.photos.totals().favorites }, 0)
        },
        ContractCheck("what was written is there when the catalogue is opened again") { run in
            let album = try await run.album(2)
            try await run.reopen()
            let photos = try await run.read { try $0.photos.require(album.ids.map { .id($0) }) }
            run.equal(photos, album.photos)
            run.expect(try await run.read { try $0.isConsistent() })
        },
        ContractCheck("a cancelled task neither reads nor writes") { run in
            try await run.album()
            let outcome = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                let read = try? await run.read { _ in 1 }
                let written: Void? = try? await run.write { try $0.settings.setLastSyncDate(Sample.time(1)) }
                let late = try? await uncancelled { try await run.write { _ in 2 } }
                return (read: read, hasWritten: written != nil, late: late)
            }.value
            run.expect(outcome.read == nil, "it reads")
            run.expect(!outcome.hasWritten, "it writes")
            run.equal(outcome.late, 2)
            run.expect(try await run.read { try $0.settings.settings().lastSyncDate == nil })
        },
        ContractCheck("a closed catalogue takes nothing more and has what it took") { run in
            let made = try await withThrowingTaskGroup(of: Int?.self) { tasks in
                for number in 0..<20 {
                    tasks.addTask {
                        try? await run.write { t in
                            _ = try t.categories.insert(Sample.category("Category \(number)."))
                            return number
                        }
                    }
                }
                await run.catalogue.close()
                return try await tasks.reduce(into: Set<String>()) {
                    if let number = $1 { $0.insert("Category \(number).") }
                }
            }
            await run.fails("A read of a closed catalogue") { _ = try await run.read { _ in 1 } }
            await run.fails("A write to a closed catalogue") { _ = try await run.write { _ in 1 } }
            await run.catalogue.close()
            try await run.reopen()
            let names = try await run.read { try Set($0.categories.all().map(\.displayName)) }
            run.equal(names, made)
        },
        ContractCheck("what was deleted is erased while nothing reads") { run in
            let album = try await run.album(1)
            try await run.write { t in
                try t.sealedFields.set([.notes: Sample.sealed(1)], of: album.photos[0].uuid)
            }
            try await run.write { t in _ = try t.sealedFields.removeAll(of: [album.photos[0].uuid]) }
            run.expect(try await run.catalogue.eraseDeleted(), "nothing reads, and it is still there")
        },
    ]
}
