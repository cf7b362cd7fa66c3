import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
import Sealing
import ServiceMesh
import Testing

@testable import BackupFormats
@testable import Backups
@testable import SQLiteCatalogue

/// Sealed values of more photos than any call takes, in no order.
@Suite(.timeLimit(.minutes(3))) struct RestoreOfSealedTests {
    private typealias Values = [String: [SealedField: String]]

    private let rows: ManyRows
    private let keys: Keyring
    private let others: Keyring

    init() throws {
        rows = try ManyRows()
        keys = Keyring(active: try DataKey())
        others = Keyring(active: try DataKey())
    }

    private func sealed(_ values: Values, by keyring: Keyring) -> [SealedDocument.Value] {
        values.flatMap { uuid, fields in
            fields.map { field, text in
                let name = SealedRow.Name(uuid: uuid, field: field.rawValue)
                let bytes = keyring.seal(Array(text.utf8), at: SealedFields.place(name))
                return SealedDocument.Value(uuid: uuid, field: field.rawValue, sealed: Data(bytes))
            }
        }
    }

    private func opened(_ rows: [String: [SealedRow]]) throws -> Values {
        try rows.mapValues { rows in
            try Dictionary(
                uniqueKeysWithValues: rows.map { row in
                    let field = try #require(SealedField(rawValue: row.name.field))
                    let bytes = try keys.open(row.sealed, at: SealedFields.place(row.name))
                    return (field, String(decoding: bytes, as: UTF8.self))
                })
        }
    }

    private func fields(_ values: [SealedDocument.Value]) throws -> OpenedFields {
        var list = SpooledList<SealedDocument.Value>.Spooler(in: rows.scratch)
        for value in values.shuffled() { try list.append(value) }
        return try OpenedFields(
            SealedDocument(values: list.finish()), key: nil, keys, scratch: rows.scratch)
    }

    @Test(arguments: [false, true]) func eachPhotoGetsItsOwn(_ prefersBackup: Bool) async throws {
        let count = 2600
        // The last ones are the same pictures as some before them.
        let wanted = (0..<count).map { number in
            ManyRows.photo(
                number + 1, uuid: number, content: number < 2500 ? number : number - 2500, source: number, in: "backup")
        }
        let own = (0..<1500).map { ManyRows.photo($0 + 1, uuid: $0 + 5000, content: $0, source: $0, in: "own") }
        var (values, closed): (Values, Values) = ([:], [:])
        for (number, photo) in wanted.enumerated() {
            let uuid = photo.photo.uuid
            values[uuid, default: [:]][.location] = "place \(number)"
            if number % 3 == 0 {
                values[uuid, default: [:]][.notes] = String(repeating: "é", count: number % 400) + "!"
            }
            if number % 10 == 9 { closed[uuid, default: [:]][.tags] = "tags \(number)" }
        }
        var there: Values = [:]
        for (number, photo) in own.enumerated() where number % 5 < 2 {
            there[photo.photo.uuid, default: [:]][.location] = number % 5 == 0 ? "own place" : "place \(number)"
        }
        let opened = try fields(sealed(values, by: keys) + sealed(closed, by: others))
        #expect(opened.count == values.values.reduce(0) { $0 + $1.count } && !opened.isEmpty)
        #expect(try opened.values(of: wanted[3].photo.uuid).count == 2)

        let (database, catalogue) = try await rows.catalogue(own)
        let (contents, kept, keys) = (try rows.contents(wanted), sealed(there, by: keys), keys)
        let plan = try await catalogue.writeAlone { transaction in
            for value in kept {
                try transaction.sealedFields.set(
                    [SealedField(rawValue: value.field)!: Array(value.sealed)], of: value.uuid)
            }
            let plan = try RestorePlan.make(
                contents, opened, mode: .merge, prefersBackup: prefersBackup, in: transaction)
            let application = RestoreApplication(
                contents: contents, plan: plan,
                staged: { uuid in
                    StagedPhoto(uuid: uuid, names: PhotoNames(photo: try StoredName(catalogued: "photos/\(uuid).jpg")))
                }, opened: opened, job: "restore-1", keyring: keys)
            try application.apply(in: transaction)
            return plan
        }

        var (taken, conflicts): (Values, Int) = ([:], 0)
        for (number, photo) in wanted.enumerated() {
            let isHere = number < 1500 || number >= 2500
            let uuid = isHere ? own[number < 2500 ? number : number - 2500].photo.uuid : photo.photo.uuid
            var (gets, differs) = (values[photo.photo.uuid] ?? [:], false)
            for (field, kept) in there[uuid] ?? [:] {
                guard let other = gets.removeValue(forKey: field), other != kept else { continue }
                differs = true
                if prefersBackup { gets[field] = other }
            }
            if differs { conflicts += 1 }
            taken[uuid, default: [:]].merge(gets) { first, _ in first }
        }
        let expected = there.merging(taken) { $0.merging($1) { _, backup in backup } }.filter { !$0.value.isEmpty }
        let uuids = own.map(\.photo.uuid) + wanted.map(\.photo.uuid)
        let found = try await catalogue.read { try $0.sealedFields.values(of: uuids) }
        #expect(try self.opened(found) == expected)
        #expect(
            plan.lines.count { $0.detail?.contains("sealed fields") == true && $0.outcome != "sealed" } == conflicts)
        #expect(plan.lines.count { $0.outcome == "sealed" } == closed.count)
        let changes = try await catalogue.read { try $0.overwritten.changes(by: "restore-1") }
        let overwritten = changes.count { if case .sealed = $0 { true } else { false } }
        #expect(prefersBackup ? overwritten >= 300 : overwritten == 0)
        await database.close()
    }

    /// One line for all where no key for them is here; of photos of which the backup says nothing, and what the library has already.
    @Test func whatStaysClosedIsToldOnce() throws {
        let photos = (0..<1000).map { ManyRows.photo($0 + 1, uuid: $0, content: $0, source: $0, in: "backup") }
        let values: Values = Dictionary(
            uniqueKeysWithValues: photos.map { ($0.photo.uuid, [.location: "a place", .notes: "a note"]) })
        let opened = try fields(sealed(values, by: others))
        let contents = try rows.contents(Array(photos.prefix(990)))
        #expect(opened.isEmpty && opened.isLocked && opened.count == 0)
        let lines = try opened.lines(contents, "x") { $0 == photos[0].photo.uuid ? ["notes", "location"] : ["notes"] }
        #expect(
            lines.count == 1 && lines[0].detail?.hasPrefix("999 sealed values of 999 photos are") == true, "\(lines)")
    }

    @Test func aValueIsThereOnce() throws {
        let name = "00000000-0000-4000-8000-000000000001"
        func document(_ values: [(uuid: String, field: String)]) -> Data {
            let bytes = Data(repeating: 1, count: 60).base64EncodedString()
            let list = values.map { #"{"uuid":"\#($0.uuid)","field":"\#($0.field)","sealed":"\#(bytes)"}"# }
            return Data(#"{"version":1,"values":[\#(list.joined(separator: ","))]}"#.utf8)
        }
        func read(_ values: [(uuid: String, field: String)]) throws -> Int? {
            try SealedDocument(reading: DocumentBytes(document(values)), in: rows.scratch)?.values.count
        }
        #expect(try read([(name, "notes"), (name, "tags")]) == 2)
        for wrong in [[(name, "notes"), (name, "tags"), (name, "notes")], [("x", "notes")], [(name, "")]] {
            #expect(throws: MeshError.self) { try read(wrong) }
        }
    }
}
