import Files
import Foundation
import LibraryTestSupport
import Randomness
import SampleAlbum
import TestSupport
import Testing

@Suite struct FilePathTests {
    /// The bytes as Latin-1, which has a letter for each.
    @Test(arguments: [
        ("/home/ada/caf\u{E9}.jpg", "/home/ada/caf\u{C3}\u{A9}.jpg"), (#"/a\b/c\\d"#, #"/a\b/c\\d"#),
        (#"/caf\xE9.jpg"#, "/caf\u{E9}.jpg"), (#"/a\b/\\\xFF"#, "/a\\b/\\\u{FF}"),
        (#"/caf\\xE9.jpg"#, #"/caf\xE9.jpg"#), (#"/\xC3x"#, "/\u{C3}x"),
    ])
    func aNameAndItsText(text: String, latin: String) {
        let bytes = latin.unicodeScalars.map { UInt8($0.value) }
        #expect(FilePath(bytes: bytes).text == text)
        #expect(FilePath(text: text).bytes == bytes)
    }

    /// Escapes that would name something else than a part of one path stand for themselves.
    @Test(arguments: [#"\x00"#, #"\x2F"#, #"\x4"#, #"\xG1"#, #"\x+1"#])
    func whatIsNoTextOfANameStandsForItself(text: String) {
        #expect(FilePath(text: text).bytes == Array(text.utf8))
    }

    @Test func everyNameHasATextOfItsOwn() {
        var random = SplitMix64(seed: 7)
        var texts: [String: [UInt8]] = [:]
        // Few letters, so that escapes, halves of characters and slashes meet.
        let letters: [UInt8] = [0x5C, 0x78, 0x45, 0x39, 0x2F, 0xC3, 0xA9, 0xE9, 0xF0, 0x9F, 0x98, 0x80, 0x61]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...9, using: &random)
            let bytes = (0..<count).map { _ in letters.randomElement(using: &random) ?? 0x61 }
            let path = FilePath(bytes: bytes)
            #expect(path.bytes == bytes)
            #expect(
                path.withCString { Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
                    == bytes.map(CChar.init(bitPattern:)))
            if let other = texts.updateValue(bytes, forKey: path.text) { #expect(other == bytes) }
        }
    }

    /// As where some photos came over a Mac, which writes accents behind their letters.
    @Test func namesThatLookTheSameAreTwo() async throws {
        let names = ["\u{C9}t\u{E9}", "E\u{301}te\u{301}"]
        #expect(Set(names.map { FilePath(text: $0) }).count == 2)
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 4, to: test.folder.file("new"))
        let pictures = try FileManager.default.contentsOfDirectory(atPath: test.folder.file("new")).sorted()
        for (index, name) in names.enumerated() {
            try FileManager.default.createDirectory(atPath: "\(album)/\(name)", withIntermediateDirectories: true)
            for (number, target) in ["\(name).jpg", "\(name)/a.jpg"].enumerated() {
                try FileManager.default.copyItem(
                    atPath: test.folder.file("new/" + pictures[2 * index + number]), toPath: "\(album)/\(target)")
            }
        }
        #expect(try await test.importing(album).outcomes == ["imported": 4])
        await test.library.close()
    }

    @Test func aFolderTellsItsNames() throws {
        let folder = try TemporaryFolder()
        let name: [UInt8] = [0x61, 0xE9]
        let path = FilePath(bytes: Array((folder.path + "/").utf8) + name)
        #expect(path.withCString { open($0, O_CREAT | O_WRONLY, 0o600) } >= 0)
        #expect(try FileSystem.entries(of: FilePath(bytes: folder.path.utf8)).map(\.bytes) == [name])
        #expect(try FileSystem.names(in: folder.path) == [nil])
        #expect(FileSystem.isThere(path) && path.name == #"a\xE9"# && path.parent.text == folder.path)
    }
}
