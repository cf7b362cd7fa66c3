import Foundation
import TestSupport
import Testing

@testable import ZipArchive

struct ContentDigestTests {
    @Test func knownValues() throws {
        // FIPS 180-4's example, and the check value of CRC-32.
        let abc = ContentDigest(of: Data("abc".utf8))
        #expect(abc.sha256.hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(ContentDigest(of: Data("123456789".utf8)).crc32 == 0xCBF4_3926)
        let nothing = ContentDigest(of: Data())
        #expect(nothing.sha256.hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(nothing.crc32 == 0 && nothing.size == 0)
    }

    @Test(arguments: [0, 1, 262_143, 262_144, 262_145, 900_001])
    func aFileHasTheDigestOfItsBytes(_ size: Int) throws {
        let folder = try TemporaryFolder("digest")
        let bytes = noise(size, seed: UInt64(size))
        let file = try TestFile(creating: folder.file("f"), bytes: bytes)
        lseek(file.descriptor, 5, SEEK_SET)
        #expect(try ContentDigest(ofDescriptor: file.descriptor) == ContentDigest(of: bytes))
        #expect(lseek(file.descriptor, 0, SEEK_CUR) == 5)
    }

    @Test func aHasherStartsAnewAfterEachDigest() {
        let hasher = SHA256Hasher()
        hasher.update(Array("ab".utf8))
        hasher.update([])
        hasher.update(Array("c".utf8))
        let first = hasher.finish()
        hasher.update(Array("abc".utf8))
        #expect(hasher.finish() == first)
        #expect(hasher.finish() != first)
    }

    @Test func digestsGoThroughTextAndBytes() throws {
        let digest = ContentDigest(of: Data("abc".utf8)).sha256
        #expect(SHA256Digest(hex: digest.hex) == digest)
        #expect(SHA256Digest(hex: digest.hex.uppercased()) == digest)
        #expect(SHA256Digest(bytes: digest.bytes) == digest)
        #expect(SHA256Digest(hex: String(digest.hex.dropLast())) == nil)
        #expect(SHA256Digest(hex: String("g" + digest.hex.dropFirst())) == nil)
        #expect(SHA256Digest(bytes: digest.bytes.dropLast()) == nil)
    }

    @Test func cancelled() throws {
        let folder = try TemporaryFolder("digest")
        let file = try TestFile(creating: folder.file("f"), bytes: [1])
        #expect(throws: ZipError.cancelled) { try ContentDigest(ofDescriptor: file.descriptor, cancelled: { true }) }
    }

    /// A lane that goes back after a failure must not carry bytes of that file into the next one's digest.
    @Test func aFailedFileLeavesNothingBehind() throws {
        let folder = try TemporaryFolder("digest")
        let bytes = noise(600_000, seed: 4)
        let file = try TestFile(creating: folder.file("f"), bytes: bytes)
        for _ in 0..<20 {
            var asked = 0
            #expect(throws: ZipError.cancelled) {
                try ContentDigest(
                    ofDescriptor: file.descriptor,
                    cancelled: {
                        asked += 1
                        return asked == 2
                    })
            }
            #expect(try ContentDigest(ofDescriptor: file.descriptor) == ContentDigest(of: bytes))
        }
    }
}
