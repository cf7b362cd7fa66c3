import Foundation
import TestSupport
import Testing

@testable import ZipArchive

/// What our writer makes opens, with all contents equal, in every reader that Debian has.
///
/// A reader that is not installed is skipped by name.
@Suite(.serialized)
struct OtherReadersTests {
    @Test(.enabled(if: Tool.unzip.isPresent, "unzip is not installed"), arguments: SampleArchive.allCases)
    func unzip(_ sample: SampleArchive) throws {
        let folder = try TemporaryFolder("unzip")
        let file = try sample.write(in: folder)
        defer { withExtendedLifetime((folder, file)) {} }
        let archive = file.path
        switch sample {
        case .varied:
            try Tool.unzip.run(["-tq", archive])
            try Tool.unzip.run(["-q", archive, "-d", folder.file("out")])
            #expect(try Tool.digests(below: folder.file("out")) == sample.digests)
        case .manyEntries:
            try Tool.unzip.run(["-tqq", archive])
        case .hugeEntry:
            for (name, bytes) in sample.contents where bytes != nil {
                #expect(try Tool.unzip.run(["-p", archive, name]) == bytes)
            }
        }
    }

    @Test(.enabled(if: Tool.sevenZip.isPresent, "7z is not installed"), arguments: SampleArchive.allCases)
    func sevenZip(_ sample: SampleArchive) throws {
        let folder = try TemporaryFolder("7z")
        let file = try sample.write(in: folder)
        defer { withExtendedLifetime((folder, file)) {} }
        let archive = file.path
        switch sample {
        case .varied:
            try Tool.sevenZip.run(["t", archive])
            try Tool.sevenZip.run(["x", "-o" + folder.file("out"), archive])
            #expect(try Tool.digests(below: folder.file("out")) == sample.digests)
        case .manyEntries:
            try Tool.sevenZip.run(["t", archive])
        case .hugeEntry:
            for (name, bytes) in sample.contents where bytes != nil {
                #expect(try Tool.sevenZip.run(["x", "-so", archive, name]) == bytes)
            }
        }
    }

    @Test(.enabled(if: Tool.bsdtar.isPresent, "bsdtar is not installed"), arguments: SampleArchive.allCases)
    func bsdtar(_ sample: SampleArchive) throws {
        let folder = try TemporaryFolder("bsdtar")
        let file = try sample.write(in: folder)
        defer { withExtendedLifetime((folder, file)) {} }
        let archive = file.path
        let names = String(decoding: try Tool.bsdtar.run(["-tf", archive]), as: UTF8.self).split(separator: "\n")
        #expect(names.count == sample.contents.count)
        switch sample {
        case .varied:
            try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: false)
            try Tool.bsdtar.run(["-xf", archive, "-C", folder.file("out")])
            #expect(try Tool.digests(below: folder.file("out")) == sample.digests)
        case .manyEntries:
            #expect(Set(names.map(String.init)) == Set(sample.contents.map(\.name)))
        case .hugeEntry:
            for (name, bytes) in sample.contents where bytes != nil {
                #expect(try Tool.bsdtar.run(["-xOf", archive, name]) == bytes)
            }
        }
    }

    @Test(.enabled(if: Tool.python.isPresent, "python3 is not installed"), arguments: SampleArchive.allCases)
    func pythonZipfile(_ sample: SampleArchive) throws {
        let folder = try TemporaryFolder("python")
        let file = try sample.write(in: folder)
        defer { withExtendedLifetime((folder, file)) {} }
        let archive = file.path
        let output = try Tool.python.run(["-c", Programs.python, archive, SampleArchive.hugeName])
        #expect(try Tool.digests(listed: output) == sample.digests)
    }

    @Test(.enabled(if: Tool.java.isPresent, "java is not installed"), arguments: SampleArchive.allCases)
    func javaZipInputStream(_ sample: SampleArchive) throws {
        try java("stream", sample)
    }

    @Test(.enabled(if: Tool.java.isPresent, "java is not installed"), arguments: SampleArchive.allCases)
    func javaZipFile(_ sample: SampleArchive) throws {
        try java("file", sample)
    }

    private func java(_ way: String, _ sample: SampleArchive) throws {
        let folder = try TemporaryFolder("java")
        let file = try sample.write(in: folder)
        defer { withExtendedLifetime((folder, file)) {} }
        let archive = file.path
        let program = folder.file("Read.java")
        try Programs.java.write(toFile: program, atomically: false, encoding: .utf8)
        let output = try Tool.java.run(["-Dfile.encoding=UTF-8", program, way, archive, SampleArchive.hugeName])
        #expect(try Tool.digests(listed: output) == sample.digests)
    }

    @Test(.enabled(if: Tool.go.isPresent, "go is not installed"), arguments: SampleArchive.allCases)
    func goArchiveZip(_ sample: SampleArchive) throws {
        let folder = try TemporaryFolder("go")
        let file = try sample.write(in: folder)
        defer { withExtendedLifetime((folder, file)) {} }
        let archive = file.path
        let program = folder.file("read.go")
        try Programs.go.write(toFile: program, atomically: false, encoding: .utf8)
        let output = try Tool.go.run(["run", program, archive, SampleArchive.hugeName])
        #expect(try Tool.digests(listed: output) == sample.digests)
    }

    @Test(arguments: SampleArchive.allCases)
    func ourOwnReader(_ sample: SampleArchive) throws {
        let folder = try TemporaryFolder("own")
        let file = try sample.write(in: folder)
        defer { withExtendedLifetime((folder, file)) {} }
        let reader = try ZipReader(descriptor: file.descriptor)
        #expect(reader.refusals.isEmpty)
        #expect(try reader.entries.map(\.name) == sample.contents.map(\.name))
        let verification = try ZipVerification(reader)
        try verification.work()
        #expect(verification.failures.isEmpty)
        var found: [String: String] = [:]
        for (index, digest) in try verification.digests where try reader.entries[index].name != SampleArchive.hugeName {
            found[try reader.entries[index].name] = digest.sha256.hex
        }
        #expect(found == sample.digests)
        #expect(try verification.digests.count == sample.contents.count)
    }

    @Test(.enabled(if: Tool.python.isPresent, "python3 is not installed"))
    func datesAreInUTCAndWithinTheirFields() throws {
        let folder = try TemporaryFolder("dates")
        let archive = try SampleArchive.varied.write(in: folder)
        defer { withExtendedLifetime((folder, archive)) {} }
        let program = """
            import sys, zipfile
            for i in zipfile.ZipFile(sys.argv[1]).infolist():
                print(i.filename, *i.date_time, len(i.extra), oct(i.external_attr >> 16), i.flag_bits, sep='|')
            """
        let lines = String(decoding: try Tool.python.run(["-c", program, archive.path]), as: UTF8.self)
            .split(separator: "\n")
        #expect(lines.first == "manifest.json|2023|10|1|14|30|22|9|0o100644|2048")
        #expect(lines.contains("photos/before 1980|1980|1|1|0|0|0|0|0o100644|2048"))
        #expect(lines.contains("photos/after 2107|2107|12|31|23|59|58|0|0o100644|2048"))
        let dates = try ZipReader(descriptor: archive.descriptor).entries.map(\.modified)
        #expect(dates.first == 1_696_170_622_000)
    }
}
