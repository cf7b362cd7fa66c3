import Foundation
import Testing
import WebPage

@testable import WebServer

@Suite struct PageFilesTests {
    /// The folder that the program's files come from.
    private let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/WebPage/Resources").path

    @Test func everyFileOfTheFolderIsInTheProgramAsItIs() throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
            var isFolder = ObjCBool(false)
            return FileManager.default.fileExists(atPath: folder + "/" + name, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
        let paths = names.map { $0 == "index.html" ? "/" : "/" + $0 }
        #expect(
            PageFiles.all.map(\.path).sorted() == paths.sorted(),
            "Sources/CWebPage/files.c has to name each file of Sources/WebPage/Resources: two lines for each.")
        for file in PageFiles.all {
            let name = file.path == "/" ? "/index.html" : file.path
            #expect(Data(file.bytes.buffer) == (try Data(contentsOf: URL(fileURLWithPath: folder + name))), "\(name)")
            #expect(file.digest.count == 32)
            #expect(
                file.mediaType != "application/octet-stream", "WebPage/PageFiles.swift does not know what \(name) is")
        }
    }

    @Test func aBrowserThatHasItIsToldSo() async throws {
        try await withSite(files: PageFiles.all) { site in
            let first = try await site.ask("GET", "/", ["Accept-Encoding: gzip, br"])
            #expect(first.status == 200 && first.header("content-encoding") == "gzip")
            #expect(first.body.starts(with: [0x1F, 0x8B]))
            let tag = try #require(first.header("etag"))
            let second = try await site.ask("GET", "/", ["Accept-Encoding: gzip", "If-None-Match: \(tag)"])
            #expect(second.status == 304 && second.header("etag") == tag)
            let plain = try await site.ask("GET", "/", ["If-None-Match: \(tag)", "Accept-Encoding: gzip;q=0"])
            #expect(plain.status == 200 && plain.header("content-encoding") == nil)
            #expect(plain.header("cache-control") == "no-cache")
            let digest = try #require(PageFiles.all.first { $0.path == "/" }).digest
            let fixed = try await site.ask("GET", "/?v=" + digest.prefix(12))
            #expect(fixed.header("cache-control") == "public, max-age=31536000, immutable")
            #expect(try await site.ask("POST", "/", ["Origin: \(site.origin)"]).status == 405)
        }
    }
}
