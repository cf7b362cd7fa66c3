import Database
import Foundation
import LibraryModel
import LibraryStorage
import Scratch
import ServiceMesh
import TestSupport
import Testing

@testable import BackupFormats
@testable import Backups
@testable import SQLiteCatalogue

/// Which photos of a library stay when it becomes a backup: of lists that are longer than any portion, and of photos that share
/// their contents.
@Suite(.timeLimit(.minutes(3))) struct RestoreReplacementTests {
    private let rows: ManyRows

    init() throws { rows = try ManyRows() }

    /// As a plan is: made of all photos at once, one by one.
    private struct Plain: Equatable {
        var kept: [String: Int64] = [:]
        var ofSameSource: Set<String> = []
        var insteadOfDamaged: Set<String> = []
        var new: [String] = []
        var removed: [Int64] = []

        init() {}

        init(
            _ wanted: [SourcedPhoto], _ own: [SourcedPhoto], sealed: Set<String>, damaged: Set<String>, isForeign: Bool
        ) {
            var unused = own
            func isSame(_ one: SourcedPhoto, _ other: SourcedPhoto) -> Bool {
                isForeign
                    ? one.sourceDigest == other.sourceDigest : one.photo.contentDigest == other.photo.contentDigest
            }
            func mayBecome(_ wanted: SourcedPhoto, _ there: SourcedPhoto) -> Bool {
                isForeign || there.photo.uuid == wanted.photo.uuid || !sealed.contains(there.photo.uuid)
            }
            var plan = Plain()
            func take(_ wanted: SourcedPhoto, where isMeant: (SourcedPhoto) -> Bool) -> SourcedPhoto? {
                guard let index = unused.firstIndex(where: isMeant) else { return nil }
                let there = unused.remove(at: index)
                plan.kept[wanted.photo.uuid] = there.photo.id
                if there.sourceDigest == wanted.sourceDigest { plan.ofSameSource.insert(wanted.photo.uuid) }
                return there
            }
            var left = wanted.filter { wanted in
                take(wanted) { isSame($0, wanted) && $0.photo.uuid == wanted.photo.uuid } == nil
            }
            left = left.filter { wanted in take(wanted) { isSame($0, wanted) && mayBecome(wanted, $0) } == nil }
            for wanted in left {
                let isDamaged = damaged.contains(wanted.photo.path)
                let there = take(wanted) {
                    isDamaged && $0.sourceDigest == wanted.sourceDigest && mayBecome(wanted, $0)
                }
                if there == nil {
                    plan.new.append(wanted.photo.uuid)
                } else {
                    plan.insteadOfDamaged.insert(wanted.photo.uuid)
                }
            }
            plan.removed = unused.map(\.photo.id)
            self = plan
        }

        init(_ plan: RestorePlan, of wanted: [SourcedPhoto]) throws {
            for uuid in wanted.map(\.photo.uuid) {
                guard let found = try plan.kept.find(uuid) else { continue }
                kept[uuid] = found.photo.id
                if found.isOfSameSource { ofSameSource.insert(uuid) }
                if found.isInsteadOfDamaged { insteadOfDamaged.insert(uuid) }
            }
            #expect(plan.kept.count == kept.count)
            new = try plan.newPhotos.compactMap(\.uuid)
            removed = try plan.removed.compactMap(\.id)
        }
    }

    @Test(arguments: [2, 50, 1000], [false, true])
    func eachPhotoStandsForOneOfTheBackup(_ shared: Int, _ isForeign: Bool) async throws {
        var random = TestRandom(seed: UInt64(shared))
        // Contents of which many share one; and each uuid and source once on either side, as it is in libraries and backups.
        let count = 700
        func photos(_ place: String) -> [SourcedPhoto] {
            let uuids = (0..<count * 2).shuffled(using: &random)
            let sources = (0..<count * 2).shuffled(using: &random)
            return (0..<count).map { id in
                // Half of those who have the same uuid on both sides have the same content too.
                let content = random.below(2) == 0 ? uuids[id] % shared : random.below(shared)
                let source = random.below(2) == 0 ? uuids[id] : sources[id]
                return ManyRows.photo(id + 1, uuid: uuids[id], content: content, source: source, in: place)
            }.reduce(into: (photos: [SourcedPhoto](), sources: Set<String>())) { found, photo in
                if found.sources.insert(photo.sourceDigest).inserted { found.photos.append(photo) }
            }.photos
        }
        let (own, wanted) = (photos("own"), photos("backup"))
        let sealed = own.filter { _ in random.below(4) == 0 }
        let damaged = wanted.filter { _ in random.below(3) == 0 }.map(\.photo.path)
        let (database, catalogue) = try await rows.catalogue(own, sealed: sealed)
        let contents = try rows.contents(wanted, isForeign: isForeign)
        let plan = try await catalogue.read {
            try RestorePlan.make(contents, damaged: damaged, mode: .replace, in: $0)
        }
        let expected = Plain(
            wanted, own, sealed: Set(sealed.map(\.photo.uuid)), damaged: Set(damaged), isForeign: isForeign)
        #expect(try Plain(plan, of: wanted) == expected)
        // All that is told apart is there.
        #expect(expected.kept.count > 10 && expected.new.count > 10 && expected.removed.count > 10)
        #expect(isForeign || shared < 1000 || !expected.insteadOfDamaged.isEmpty)

        // Files that are not trusted.
        var unsound = PlaceSet()
        for place in wanted.indices where place % 3 == 0 { unsound.insert(place) }
        let less = try plan.distrusting(contents, unsound)
        var without = expected
        for place in wanted.indices where place % 3 == 0 {
            let uuid = wanted[place].photo.uuid
            guard let there = without.kept.removeValue(forKey: uuid) else { continue }
            without.ofSameSource.remove(uuid)
            without.insteadOfDamaged.remove(uuid)
            without.new.append(uuid)
            without.removed.append(there)
        }
        #expect(try Plain(less, of: wanted) == without)
        #expect(try Plain(plan.distrusting(contents, unlessKeptBy: less), of: wanted) == without)
        #expect(try Plain(plan.distrusting(contents, unlessKeptBy: plan), of: wanted) == expected)
        await database.close()
    }

    /// More than any call of the catalogue takes: some stay, some come, some go into the trash.
    @Test func aLongListIsExchanged() async throws {
        let own = (0..<3000).map { ManyRows.photo($0 + 1, uuid: $0, content: $0, source: $0, in: "own") }
        let wanted = (1300..<4400).map { ManyRows.photo($0 + 7, uuid: $0, content: $0, source: $0, in: "backup") }
        let sealed = [own[0], own[1299], own[1300], own[2999]]
        let (database, catalogue) = try await rows.catalogue(own, sealed: sealed)
        let contents = try rows.contents(wanted)
        try await catalogue.writeAlone { transaction in
            let plan = try RestorePlan.make(contents, mode: .replace, in: transaction)
            let application = RestoreApplication(
                contents: contents, plan: plan,
                staged: { uuid in
                    let names = try StoredName(catalogued: "photos/new-\(uuid).jpg")
                    return StagedPhoto(uuid: uuid, names: PhotoNames(photo: names))
                }, job: "restore-1")
            try application.apply(in: transaction)
        }
        let (photos, trashed, values) = try await catalogue.read { transaction in
            (
                try transaction.photos.find(wanted.map { .uuid($0.photo.uuid) }),
                try transaction.trash.uuids(among: own.map(\.photo.uuid)), try transaction.sealedFields.totals()
            )
        }
        for (wanted, found) in zip(wanted, photos) {
            let number = Int(wanted.photo.id) - 7
            let path = number < 3000 ? own[number].photo.path : "photos/new-\(wanted.photo.uuid).jpg"
            if found?.path != path || found?.id != wanted.photo.id { Issue.record("\(number): \(found?.path ?? "")") }
        }
        #expect(try await catalogue.read { try $0.photos.totals().photos } == 3100)
        #expect(trashed == Set(own[..<1300].map(\.photo.uuid)))
        #expect(try await catalogue.read { try $0.trash.count() } == 1300)
        #expect(values == SealedTotals(values: 4, photos: 4))
        await database.close()
    }
}
