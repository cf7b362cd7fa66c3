import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let settings: [ContractCheck] = [
        ContractCheck("what a person may change is stored, and the rest stays") { run in
            let changed = Settings(
                swipeThreshold: 0.123456789, enableHapticFeedback: false, autoProcessActions: true,
                storageCleanupEnabled: false,
                keepOriginals: false, groupPhotoMegabytes: 12.5, biometricAuthEnabled: true, currentAppMode: .kids,
                parentalLockEnabled: true, defaultCategoriesInitialized: true, lastBackupDate: Sample.time(1),
                lastSyncDate: Sample.time(2))
            try await run.write { t in
                run.equal(try t.settings.settings(), Settings())
                try t.settings.store(changed)
                run.equal(
                    try t.settings.settings(),
                    Settings(
                        swipeThreshold: 0.123456789, enableHapticFeedback: false, autoProcessActions: true,
                        storageCleanupEnabled: false, keepOriginals: false, groupPhotoMegabytes: 12.5,
                        biometricAuthEnabled: true))
                try t.settings.setLastBackupDate(Sample.time(.max))
                try t.settings.setLastSyncDate(Sample.time(.min))
                try t.settings.setDefaultCategoriesMade()
                try t.access.setMode(.kids)
                try t.access.store(PINRecord(hash: "h"))
                try t.settings.store(Settings())
                run.equal(
                    try t.settings.settings(),
                    Settings(
                        currentAppMode: .kids, parentalLockEnabled: true, defaultCategoriesInitialized: true,
                        lastBackupDate: Sample.time(.max), lastSyncDate: Sample.time(.min)))
            }
        },
        ContractCheck("the first categories are made once") { run in
            run.equal(try await run.read { try $0.settings.areDefaultCategoriesMade() }, false)
            try await run.write { try $0.settings.setDefaultCategoriesMade() }
            try await run.write { try $0.settings.setDefaultCategoriesMade() }
            try await run.reopen()
            run.equal(try await run.read { try $0.settings.areDefaultCategoriesMade() }, true)
        },
        ContractCheck("when a person changed how they review is kept apart") { run in
            try await run.write { t in
                run.expect(try t.settings.reviewPreferencesChangedAt() == nil)
                try t.settings.setReviewPreferencesChanged(at: Sample.time(5))
                try t.settings.setReviewPreferencesChanged(at: Sample.time(.max))
                run.equal(try t.settings.reviewPreferencesChangedAt(), Sample.time(.max))
                run.equal(try t.settings.settings(), Settings())
            }
        },
        ContractCheck("watched folders come back in their order, and go with those that replace them") { run in
            let some = [
                StoredWatchedFolder(path: "/b \"ä\"", categoryId: 7, addedAt: Sample.time(5), job: "import-1"),
                StoredWatchedFolder(path: "/a", categoryId: nil, addedAt: Sample.time(-3)),
            ]
            try await run.write { t in
                run.equal(try t.settings.watchedFolders(), [])
                try t.settings.setWatchedFolders(some)
                run.equal(try t.settings.settings(), Settings())
            }
            try await run.reopen()
            try await run.write { t in
                run.equal(try t.settings.watchedFolders(), some)
                try t.settings.setWatchedFolders([])
                run.equal(try t.settings.watchedFolders(), [])
            }
        },
        ContractCheck("a reading of the clocks comes back with its doubt") { run in
            let boot = BootTime(boot: "4e3b", milliseconds: 77)
            try await run.write { t in
                run.expect(try t.settings.clockReading() == nil)
                for doubt in [
                    nil, ClockReading.Doubt(reckoned: Sample.time(3), ran: 4, from: nil),
                    ClockReading.Doubt(reckoned: Sample.time(3), ran: 4, from: Sample.time(-5)),
                ] {
                    let reading = ClockReading(wall: Sample.time(Sample.noon), boot: boot, doubt: doubt)
                    try t.settings.setClockReading(reading)
                    run.equal(try t.settings.clockReading(), reading)
                }
                run.equal(try t.settings.settings(), Settings())
            }
        },
    ]

    static let access: [ContractCheck] = [
        ContractCheck("a library begins open to a parent") { run in
            try await run.write { t in
                run.equal(try t.access.mode(), .parent)
                run.expect(try t.access.pin() == nil)
                try t.access.setMode(.kids)
                run.equal(try t.access.mode(), .kids)
                run.equal(try t.settings.settings().currentAppMode, .kids)
                try t.access.setMode(.parent)
                run.equal(try t.access.mode(), .parent)
            }
        },
        ContractCheck("what is kept of a PIN comes back, and goes as a whole") { run in
            var tries = PINTries(hasUnlocked: true)
            (tries.failures, tries.untold) = (3, 2)
            tries.lastFailure = BootTime(boot: "b", milliseconds: .max)
            tries.lastFailedAt = Sample.time(Sample.noon)
            let full = PINRecord(
                hash: "$argon2id$'é'", failures: 5, lastFailure: BootTime(boot: "a", milliseconds: 9),
                tries: ["": PINTries(), "device 'é'": tries])
            let plain = PINRecord(hash: "other")
            try await run.write { t in
                for record in [plain, full, plain] {
                    try t.access.store(record)
                    run.equal(try t.access.pin(), record)
                    run.equal(try t.settings.settings().parentalLockEnabled, true)
                }
                try t.access.store(full)
                try t.access.setMode(.kids)
                try t.access.store(nil)
                run.expect(try t.access.pin() == nil)
                run.equal(try t.settings.settings().parentalLockEnabled, false)
                run.equal(try t.access.mode(), .kids)
                try t.access.store(nil)
                // Nothing of the one before is left.
                try t.access.store(plain)
                run.equal(try t.access.pin(), plain)
            }
        },
    ]

    static let devices: [ContractCheck] = [
        ContractCheck("devices are told as they were paired") { run in
            try await run.write { t in
                run.equal(try t.devices.all(), [])
                let wanted = [device("b", at: .min), device("a", at: 5), device("c", at: 5, agent: "Firefox 'é'")]
                for device in wanted.reversed() { try t.devices.insert(device) }
                run.equal(try t.devices.all(), wanted)
            }
            await run.fails("A second device with the same id") {
                try await run.write { try $0.devices.insert(device("a", at: 9)) }
            }
            await run.fails("A second device with the same token") {
                let twin = StoredDevice(device("d", at: 9).device, tokenDigest: device("a", at: 9).tokenDigest)
                try await run.write { try $0.devices.insert(twin) }
            }
            run.equal(try await run.read { try $0.devices.all().count }, 3)
        },
        ContractCheck("the last use is noted of one device, and one is removed") { run in
            try await run.write { t in
                for id in ["a", "b"] { try t.devices.insert(device(id, at: 5)) }
                try t.devices.setLastSeen(Sample.time(.max), of: "b")
                try t.devices.setLastSeen(Sample.time(7), of: "none")
                run.equal(try t.devices.all().map(\.device.lastSeenAt), [Sample.time(5), Sample.time(.max)])
                run.equal(try t.devices.remove("a"), true)
                run.equal(try t.devices.remove("a"), false)
                run.equal(try t.devices.all().map(\.device.id), ["b"])
            }
        },
        ContractCheck("a device is for somebody, and a child's has its categories while these are there") { run in
            let album = try await run.album()
            let (both, one) = ([album.family, album.cars], [album.cars])
            try await run.write { t in
                try t.devices.insert(device("child", at: 1, rights: DeviceRights(.child, categoryIds: both)))
                try t.devices.insert(device("looker", at: 2, rights: DeviceRights(.looker)))
                try t.devices.insert(device("parent", at: 3))
                run.equal(
                    try t.devices.all().map(\.device.rights),
                    [DeviceRights(.child, categoryIds: both), DeviceRights(.looker), .parent])
                run.equal(try t.devices.categories(of: "child"), both)
                for id in ["looker", "parent", "none"] { run.equal(try t.devices.categories(of: id), []) }
                // Each may become each, and nothing of the one before is left.
                let all = [
                    DeviceRights(.child, categoryIds: one), .parent, .init(.child, categoryIds: both), .init(.looker),
                ]
                for rights in all + [DeviceRights(.child, categoryIds: both)] {
                    run.equal(try t.devices.setRights(rights, of: "child"), true)
                    run.equal(try t.devices.all().map(\.device.rights), [rights, DeviceRights(.looker), .parent])
                    run.equal(try t.devices.categories(of: "child"), rights.categoryIds ?? [])
                }
                run.equal(try t.devices.setRights(.parent, of: "none"), false)
            }
            await run.fails("A category that is not there") {
                _ = try await run.write {
                    try $0.devices.setRights(DeviceRights(.child, categoryIds: [.max]), of: "parent")
                }
            }
            await run.fails("A new device with a category that is not there") {
                try await run.write { t in
                    try t.devices.insert(device("new", at: 4, rights: DeviceRights(.child, categoryIds: [.max])))
                }
            }
            run.equal(try await run.read { try $0.devices.all().last?.device.rights }, .parent)
            try await run.write { t in
                try t.categories.delete(id: album.family)
                run.equal(try t.devices.categories(of: "child"), one)
                // Another category with a number that was chosen is not chosen by that.
                try t.categories.removeAll()
                _ = try t.categories.insert(
                    CategoryEntry(
                        CategoryDetails(displayName: "Other", colorHex: "#4CAF50", iconResource: nil), id: album.cars))
                run.equal(try t.devices.all().map(\.device.rights), [.none, DeviceRights(.looker), .parent])
                run.equal(try t.devices.remove("child"), true)
                run.equal(try t.devices.categories(of: "child"), [])
            }
        },
    ]

    private static func device(
        _ id: String, at time: Int64, agent: String? = nil, rights: DeviceRights = .parent
    ) -> StoredDevice {
        StoredDevice(
            Device(
                id: id, name: "Device '\(id)'", userAgent: agent, createdAt: Sample.time(time),
                lastSeenAt: Sample.time(time), rights: rights),
            tokenDigest: "digest \(id)")
    }
}
