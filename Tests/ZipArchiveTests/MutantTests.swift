import Foundation
import TestSupport
import Testing

@testable import ZipArchive

/// What is called sound here opens elsewhere, with equal contents: of every structural lie about an archive, each one that
/// other readers refuse, or read as something else, is refused here too.
///
/// A reader that is not installed is skipped by name.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct MutantTests {
    private let folder: TemporaryFolder
    private let contents: [[UInt8]]
    /// Names of files in `folder` and what was done to them, of those that are called sound here.
    private let sound: [(file: String, what: String)]
    private let refused: [String: String]

    init() throws {
        folder = try TemporaryFolder("mutants")
        let file = try TestFile(creating: folder.file("good"))
        let entries: KeyValuePairs<String, [UInt8]> = [
            "manifest.json": Array("{}".utf8), "photos/one.jpg": noise(40, seed: 1),
            "photos/two.jpg": noise(30, seed: 2),
        ]
        contents = entries.map(\.value)
        // What the others are to find, one after the other.
        _ = try TestFile(creating: folder.file("contents"), bytes: Array(contents.joined()))
        let layout = try ZipLayout(
            entries: entries.map { .init(name: $0.key, size: Int64($0.value.count), modified: 1_696_170_622_000) })
        let writer = ZipWriter(descriptor: file.descriptor, layout: layout)
        for (index, bytes) in contents.enumerated() { try writer.writeEntry(index, bytes: bytes) }
        try writer.finish()
        var sound: [(String, String)] = []
        var refused: [String: String] = [:]
        for (index, mutant) in Mutants(of: try file.bytes()).all.enumerated() {
            let name = "\(index).zip"
            let file = try TestFile(creating: folder.file(name), bytes: mutant.bytes)
            if let refusal = try Self.refusal(file, contents) {
                refused[mutant.what] = refusal
            } else {
                sound.append((name, mutant.what))
            }
        }
        self.sound = sound
        self.refused = refused
    }

    /// As a backup is verified. Nil where everything in it is what it was.
    private static func refusal(_ file: TestFile, _ contents: [[UInt8]]) throws -> String? {
        do throws(ZipError) {
            let reader = try ZipReader(descriptor: file.descriptor)
            if reader.bytesInFront > 0 { return "bytes in front" }
            if let refusal = reader.refusals.first { return refusal.description }
            let verification = try ZipVerification(reader, forOthers: true)
            try verification.work()
            if let failure = verification.failures.first { return failure.description }
            let found = try verification.digests
            let digests = contents.indices.map { found[$0]?.sha256 }
            return digests == contents.map { ContentDigest(of: $0).sha256 } ? nil : "other contents"
        } catch {
            if error.archiveProblem == nil { throw error }
            return error.description
        }
    }

    @Test func someAreSoundAndEveryRefusalSaysWhy() {
        #expect(sound.count > 200 && refused.count > 400, "\(sound.count) sound, \(refused.count) refused")
        #expect(refused.values.allSatisfy { !$0.isEmpty })
        let kinds = Set(sound.map(\.what))
        for harmless in [
            "version 45, both", "flags 2050, both", "extra 3 zeros, both", "extra 7777 of 4, both", "time 0, both",
            "descriptor 32, local fields empty, both", "descriptor bare 64, local fields empty, both",
            "deflated, whole", "ZIP64, deferred true", "archive comment of 65535", "a gap between entries",
        ] {
            #expect(kinds.contains(harmless), "\(harmless): \(refused[harmless] ?? "is no mutant")")
        }
    }

    @Test(.enabled(if: Tool.python.isPresent, "python3 is not installed"))
    func pythonZipfile() throws {
        let program = """
            import sys, zipfile
            for path in sys.stdin.read().split():
                try:
                    with zipfile.ZipFile(path) as archive:
                        contents = b''.join(archive.read(i) for i in archive.infolist())
                        print(path, 'equal' if contents == open('contents', 'rb').read() else 'other')
                except Exception as error:
                    print(path, type(error).__name__)
            """
        try expectEqualContents(Tool.python.run(["-c", program], in: folder.path, input: fileNames))
    }

    // Warnings are for people: 1 is unzip's status for them.
    @Test(
        .enabled(if: Tool.shell.isPresent, "there is no shell"),
        arguments: [
            (Tool.unzip, "unzip -p $f", 1), (Tool.sevenZip, "7z x -so -bd $f", 0), (Tool.bsdtar, "bsdtar -xOf $f", 0),
        ])
    func otherPrograms(_ tool: Tool, _ command: String, _ highestStatus: Int) throws {
        guard tool.isPresent else {
            print("MutantTests: skipped '\(command)', which is not installed")
            return
        }
        let script = """
            while read -r f; do
                \(command) >out 2>/dev/null
                status=$?
                [ $status -le \(highestStatus) ] && cmp -s out contents && status=equal
                echo "$f $status"
            done
            """
        try expectEqualContents(Tool.shell.run(["-c", script], in: folder.path, input: fileNames))
    }

    private var fileNames: [UInt8] { Array((sound.map(\.file).joined(separator: "\n") + "\n").utf8) }

    /// - Parameter output: lines of a file's name and `equal`, or what else there was.
    private func expectEqualContents(_ output: [UInt8]) throws {
        var found: [Substring: Substring] = [:]
        for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            found[words[0]] = words.last
        }
        for (file, what) in sound { #expect(found[Substring(file)] == "equal", "\(what)") }
    }
}
