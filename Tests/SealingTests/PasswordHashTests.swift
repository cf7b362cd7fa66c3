import CSodium
import Testing

@testable import Sealing

@Suite struct PasswordHashTests {
    private static let secret = Array("1234 grün".utf8)

    private func cheap() throws -> PasswordHash.Cost { try #require(PasswordHash.Cost(passes: 1, checkedMemory: 8)) }

    @Test func theSecretMatchesAndNothingElseDoes() throws {
        let hash = try PasswordHash(of: Self.secret, cost: cheap())
        #expect(try hash.matches(Self.secret))
        for other in [[], [0], Array("1234".utf8), Self.secret + [0], Array(Self.secret.dropLast())] {
            #expect(try !hash.matches(other))
        }
        let empty = try PasswordHash(of: [], cost: cheap())
        #expect(try empty.matches([]))
        #expect(try !empty.matches([0]))
    }

    @Test func oneSecretHasAnotherTextEachTime() throws {
        let texts = try (0..<3).map { _ in try PasswordHash(of: Self.secret, cost: cheap()).text }
        #expect(Set(texts).count == 3)
        for text in texts { #expect(try PasswordHash(text: text).matches(Self.secret)) }
    }

    @Test func whatIsKeptCostsWhatWasDecided() throws {
        let hash = try PasswordHash(of: Self.secret)
        #expect(hash.text.hasPrefix("$argon2id$v=19$m=65536,t=2,p=1$"))
        #expect(try PasswordHash(text: hash.text) == hash)
    }

    /// The form is argon2's own and not only ours: the library's own functions read it, and it reads theirs.
    @Test func othersReadIt() throws {
        let ours = try PasswordHash(of: Self.secret, cost: cheap()).text
        let secret = Self.secret.map { CChar(bitPattern: $0) }
        #expect(crypto_pwhash_str_verify(ours, secret, UInt64(secret.count)) == 0)
        var theirs = [CChar](repeating: 0, count: crypto_pwhash_strbytes())
        try #require(crypto_pwhash_str(&theirs, secret, UInt64(secret.count), 1, 8192) == 0)
        let text = String(decoding: theirs.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #expect(try PasswordHash(text: text).matches(Self.secret))
    }

    @Test(arguments: [
        "", "$", "1234", "$argon2i$v=19$m=8,t=1,p=1$AAAA$AAAA", "$argon2id$v=16$m=8,t=1,p=1$AAAA$AAAA",
        "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA",
    ])
    func whatIsNoHashIsRefused(_ text: String) {
        #expect(throws: PasswordHash.Failure.notAHash) { try PasswordHash(text: text) }
    }

    @Test(arguments: [
        "m=8,t=0,p=1", "m=8,t=17,p=1", "m=7,t=1,p=1", "m=262145,t=1,p=1", "m=4294967295,t=1,p=1", "m=-8,t=1,p=1",
        "m=8,t=1,p=2", "m=99999999999999999999,t=1,p=1", "t=1,m=8,p=1", "m=8,t=1", "m=٨,t=1,p=1", "m=+8,t=1,p=1",
    ])
    func aCostThatIsNotOursIsRefusedBeforeItIsPaid(_ cost: String) throws {
        let text = try PasswordHash(of: Self.secret, cost: cheap()).text
        #expect(throws: PasswordHash.Failure.notAHash) {
            try PasswordHash(text: text.replacing("m=8,t=1,p=1", with: cost))
        }
    }

    @Test func everyDamageIsRefusedOrMatchesNothing() throws {
        let text = try PasswordHash(of: Self.secret, cost: cheap()).text
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count {
            #expect(throws: PasswordHash.Failure.notAHash) {
                try PasswordHash(text: String(decoding: bytes.prefix(length), as: UTF8.self))
            }
        }
        for index in bytes.indices {
            for bit in 0..<7 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                // A cost that is another one, and in its range, is a hash of another text.
                guard let hash = try? PasswordHash(text: String(decoding: damaged, as: UTF8.self)) else { continue }
                #expect(try !hash.matches(Self.secret), "byte \(index), bit \(bit)")
            }
        }
    }
}
