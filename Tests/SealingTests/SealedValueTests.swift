@testable import Sealing
import Testing

/// What is sealed opens where it was sealed, and nowhere and in no way else.
@Suite struct SealedValueTests {
    private let place = SealedPlace(table: "sealed_fields", column: "notes", row: "7a0c")
    private let text = Array("took her first steps, ÄÖ 🙂".utf8)

    @Test func whatIsSealedOpens() throws {
        let key = try DataKey()
        for plaintext in [[], [0], text, [UInt8](repeating: 7, count: 100_000)] {
            let stored = key.seal(plaintext, at: place).bytes
            #expect(stored.count == plaintext.count + SealedValue.overhead && stored[0] == 1)
            #expect(try key.open(SealedValue(stored), at: place) == plaintext)
        }
    }

    @Test func nothingOfThePlaintextOrOfEarlierSealingsIsSeen() throws {
        let key = try DataKey()
        let first = key.seal(text, at: place).bytes
        let second = key.seal(text, at: place).bytes
        let secret = Array(first.dropFirst(1 + KeyID.count))
        #expect(secret != Array(second.dropFirst(1 + KeyID.count)))
        #expect(!String(decoding: first, as: UTF8.self).contains("steps"))
    }

    @Test func aMovedValueDoesNotOpen() throws {
        let key = try DataKey()
        let value = key.seal(text, at: place)
        let others = [
            SealedPlace(table: "sealed_fields", column: "notes", row: "7a0d"),
            SealedPlace(table: "sealed_fields", column: "milestone", row: "7a0c"),
            SealedPlace(table: "other", column: "notes", row: "7a0c"),
            // The same bytes in a row, if lengths did not say where each part ends.
            SealedPlace(table: "sealed_fieldsn", column: "otes", row: "7a0c"),
            SealedPlace(table: "sealed_fields", column: "notes7", row: "a0c"),
            SealedPlace(table: "sealed_fields", column: "", row: "notes7a0c"),
        ]
        for other in others { #expect(throws: SealingError.notAuthentic) { try key.open(value, at: other) } }
    }

    @Test func everyBitCounts() throws {
        let key = try DataKey()
        let stored = key.seal(text, at: place).bytes
        for index in stored.indices {
            for bit in 0..<8 {
                var changed = stored
                changed[index] ^= 1 << bit
                let error = #expect(throws: SealingError.self) { try key.open(SealedValue(changed), at: place) }
                switch index {
                case 0: #expect(error == .unknownVersion(changed[0]))
                case 1...KeyID.count: #expect(error == .unknownKey(KeyID(changed[1...KeyID.count])))
                default: #expect(error == .notAuthentic)
                }
            }
        }
    }

    @Test func everyTruncationIsRefused() throws {
        let key = try DataKey()
        let stored = key.seal(text, at: place).bytes
        for count in stored.indices {
            let error = #expect(throws: SealingError.self) {
                try key.open(SealedValue(Array(stored.prefix(count))), at: place)
            }
            #expect(error == (count < SealedValue.overhead ? .malformed : .notAuthentic))
        }
        #expect(throws: SealingError.notAuthentic) { try key.open(SealedValue(stored + [0]), at: place) }
    }

    @Test func anotherKeyDoesNotOpenIt() throws {
        let (key, other) = (try DataKey(), try DataKey())
        let stored = key.seal(text, at: place).bytes
        #expect(throws: SealingError.unknownKey(key.id)) { try other.open(SealedValue(stored), at: place) }
        // Nor one that has its id.
        let impostor = DataKey(id: key.id, secret: other.secret)
        #expect(throws: SealingError.notAuthentic) { try impostor.open(SealedValue(stored), at: place) }
        #expect(!impostor.isSame(as: key) && key.isSame(as: key))
    }

    @Test func aKeyringSealsWithItsActiveKeyAndOpensWithAll() throws {
        let (old, new) = (try DataKey(), try DataKey())
        let keyring = Keyring(active: new, others: [old])
        let stored = keyring.seal(text, at: place)
        #expect(try SealedValue(stored).keyID == new.id)
        #expect(try keyring.open(stored, at: place) == text)
        #expect(try keyring.open(old.seal(text, at: place).bytes, at: place) == text)
        let foreign = try DataKey()
        #expect(throws: SealingError.unknownKey(foreign.id)) {
            try keyring.open(foreign.seal(text, at: place).bytes, at: place)
        }
    }

    @Test func aWrappedKeyIsUnwrappedByItsWrappingKeyAlone() throws {
        let (wrapping, other) = (try WrappingKey.random(), try WrappingKey.random())
        let (key, second) = (try DataKey(), try DataKey())
        let wrapped = wrapping.wrap(key)
        #expect(try wrapping.unwrap(wrapped, id: key.id).isSame(as: key))
        #expect(wrapping.id != other.id && wrapping.id.count == 32)
        #expect(throws: SealingError.notAuthentic) { try other.unwrap(wrapped, id: key.id) }
        #expect(throws: SealingError.notAuthentic) { try wrapping.unwrap(wrapped, id: second.id) }
        for index in wrapped.indices {
            var changed = wrapped
            changed[index] ^= 0x10
            #expect(throws: SealingError.self) { try wrapping.unwrap(changed, id: key.id) }
            #expect(throws: SealingError.self) { try wrapping.unwrap(Array(wrapped.prefix(index)), id: key.id) }
        }
    }

    @Test func keyIDsAreWrittenAndRead() throws {
        let id = try DataKey().id
        #expect(KeyID(id.description) == id && id.description.count == 32)
        #expect(KeyID(String(id.description.dropLast())) == nil && KeyID(id.description.dropLast() + "g") == nil)
        #expect(KeyID("") == nil)
    }
}
