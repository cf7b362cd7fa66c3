import Foundation
import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh
import TextFolding

/// What a request writes into a photo's sealed fields, after the rules have been applied.
struct DetailChange: Sendable {
    /// As it is sealed.
    let values: [SealedField: [UInt8]]
    let cleared: [SealedField]

    /// - Throws: `invalid_argument`.
    init(_ request: SetPhotoDetail) throws {
        var values: [SealedField: [UInt8]] = [:]
        var cleared = Set(request.clear ?? [])
        let texts: [(SealedField, String?)] = [
            (.childName, request.childName), (.childAge, request.childAge), (.notes, request.notes),
            (.milestone, request.milestone), (.location, request.location), (.metadata, request.metadata),
        ]
        var given = texts.compactMap { field, text in text.map { (field, [$0]) } }
        if let tags = request.tags { given.append((.tags, tags)) }
        for (field, texts) in given {
            guard !cleared.contains(field) else {
                throw MeshError(.invalidArgument, "Either give '\(field.rawValue)' or clear it, not both.")
            }
            let validated = try Self.validated(texts, field)
            if let value = try DetailText.encode(validated, field) {
                values[field] = value
            } else {
                cleared.insert(field)
            }
        }
        guard !values.isEmpty || !cleared.isEmpty else {
            let names = SealedField.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw MeshError(.invalidArgument, "Say what changes: \(names), or 'clear'.")
        }
        self.values = values
        self.cleared = cleared.sorted { $0.rawValue < $1.rawValue }
    }

    /// Without those that say nothing.
    static func validated(_ texts: [String], _ field: SealedField) throws -> [String] {
        var seen: Set<String> = []
        let trimmed = try texts.map { try validated($0, field) }.filter {
            !$0.isEmpty && seen.insert($0.nameFolded).inserted
        }
        guard trimmed.count <= SealedField.maximumTags else {
            throw MeshError(.invalidArgument, "A photo has \(SealedField.maximumTags) tags at most. Leave some out.")
        }
        return trimmed
    }

    private static func validated(_ text: String, _ field: SealedField) throws -> String {
        let most = field.maximumLength
        // Cheap first: what is far too long is not trimmed and counted.
        guard text.utf8.count <= most * 64 else { throw tooLong(field) }
        let trimmed = text.trimmingWhitespace
        guard trimmed.count <= most, trimmed.utf8.count <= most * 4 else { throw tooLong(field) }
        let isClean = trimmed.unicodeScalars.allSatisfy { scalar in
            scalar.properties.generalCategory != .control || field.isLong && (scalar == "\n" || scalar == "\t")
        }
        guard isClean else {
            throw MeshError(
                .invalidArgument,
                field.isLong
                    ? "'\(field.rawValue)' must not have control characters but line breaks and tabs."
                    : "'\(field.rawValue)' must be one line without control characters.")
        }
        return trimmed
    }

    private static func tooLong(_ field: SealedField) -> MeshError {
        let what = field == .tags ? "A tag" : "'\(field.rawValue)'"
        return MeshError(.invalidArgument, "\(what) has \(field.maximumLength) characters at most. Shorten it.")
    }

    /// Writes it, where that overwrites nothing that does not open.
    /// - Throws: `failed_precondition` where it would.
    func apply(to uuid: String, _ keyring: Keyring?, in transaction: any CatalogueTransaction) throws {
        let sealedFields = transaction.sealedFields
        for row in try sealedFields.values(of: uuid) {
            guard let field = SealedField(rawValue: row.name.field), values[field] != nil else { continue }
            guard DetailText.opened(row, keyring) != nil else {
                throw MeshError(
                    .failedPrecondition,
                    "'\(field.rawValue)' has a value that does not open, and is not overwritten. Import its key (smilepile "
                        + "keys import FILE), or clear it first.")
            }
        }
        if let keyring {
            try sealedFields.set(
                Dictionary(
                    uniqueKeysWithValues: values.map { field, value in
                        let place = SealedFields.place(.init(uuid: uuid, field: field.rawValue))
                        return (field, keyring.seal(value, at: place))
                    }), of: uuid)
        }
        _ = try sealedFields.remove(cleared, of: uuid)
    }
}

/// What a field says, as it is sealed: its text in UTF-8; of tags a JSON list.
package enum DetailText {
    /// - Parameter texts: one, but of tags any number.
    /// - Returns: nil where they say nothing.
    static func encode(_ texts: [String], _ field: SealedField) throws -> [UInt8]? {
        guard let first = texts.first else { return nil }
        return field == .tags ? Array(try JSONEncoder().encode(texts)) : Array(first.utf8)
    }

    /// - Returns: nil for what no version of this program sealed.
    static func decode(_ bytes: [UInt8], _ field: SealedField) -> [String]? {
        if field == .tags { return try? JSONDecoder().decode([String].self, from: Data(bytes)) }
        return String(validating: bytes, as: UTF8.self).map { [$0] }
    }

    /// Whether it is what a request could have written: what was sealed elsewhere may be anything.
    package static func isValid(_ bytes: [UInt8], _ field: SealedField) -> Bool {
        guard let texts = decode(bytes, field), !texts.isEmpty else { return false }
        return (try? DetailChange.validated(texts, field)) == texts
    }

    /// - Returns: nil for what does not open, and for a field of a later version.
    static func opened(_ row: SealedRow, _ keyring: Keyring?) -> [String]? {
        guard let field = SealedField(rawValue: row.name.field), let keyring,
            let bytes = try? keyring.open(row.sealed, at: SealedFields.place(row.name))
        else { return nil }
        return decode(bytes, field)
    }

    /// What the rows of one photo say.
    static func detail(ofPhoto id: Int64, _ rows: [SealedRow], _ keyring: Keyring?) -> PhotoDetail {
        var said: [SealedField: [String]] = [:]
        var unreadable: [SealedField] = []
        for row in rows {
            guard let field = SealedField(rawValue: row.name.field) else { continue }
            if let texts = opened(row, keyring) { said[field] = texts } else { unreadable.append(field) }
        }
        func text(_ field: SealedField) -> String? { said[field]?.first }
        return PhotoDetail(
            photoId: id, childName: text(.childName), childAge: text(.childAge), notes: text(.notes), tags: said[.tags],
            milestone: text(.milestone), location: text(.location), metadata: text(.metadata), unreadable: unreadable)
    }
}
