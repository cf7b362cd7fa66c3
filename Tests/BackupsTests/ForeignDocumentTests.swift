import Files
import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import TestSupport
import Testing

/// Documents of the phone apps that say little, or too much. They lie bare in their files, which needs no archive.
@Suite struct ForeignDocumentTests {
    private func file(_ test: TestLibrary, _ text: String) throws -> String {
        let path = test.folder.file("document.json")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Android leaves out whatever is the usual value: each that is not there is told once, with how many times.
    @Test func whatIsNotSaidIsListed() async throws {
        let test = try await TestLibrary("little")
        let path = try file(
            test,
            ##"{"categories": [{"id": 1, "displayName": "Sea", "colorHex": "#123456"}], "photos": [{"id": 1}, {}]}"##)
        // No date: that of the file.
        let date = Timestamp(rfc3339: "2019-05-04T03:02:01Z")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(date?.milliseconds ?? 0) / 1000)], ofItemAtPath: path
        )
        #expect(try await test.mesh.send(InspectBackup(path: path)).timestamp == date)
        let job = try await test.run(RestoreBackup(path: path))
        #expect(job.state == .finished, "\(job)")
        let assumed = try await test.lines(job.id).filter { $0.outcome == "assumed" }.compactMap(\.detail)
        #expect(
            assumed == [
                "not said once, 'appVersion' of the document: unknown",
                "not said once, 'createdAt' of categories: today",
                "not said once, 'exportDate' of the document: the date of the file",
                "not said 2 times, 'fileSize' of photos: as the picture has",
                "not said once, 'format' of the document: ZIP",
                "not said 2 times, 'height' of photos: as the picture has",
                "not said once, 'isDefault' of categories: false",
                "not said once, 'photoManifest' of the document: entries are found by their names",
                "not said once, 'position' of categories: 0",
                "not said once, 'settings' of the document: none",
                "not said once, 'version' of the document: 2",
                "not said 2 times, 'width' of photos: as the picture has",
            ], "\(assumed)")
        await test.library.close()
    }

    /// What a small file can say many times is refused before it is taken in.
    @Test func listsThatNoLibraryHasAreRefused() async throws {
        let test = try await TestLibrary("much")
        let many: [(String, Int)] = [("categories", 1001), ("photos", 100_001)]
        for (key, count) in many {
            let list = String(repeating: "{},", count: count - 1) + "{}"
            let path = try file(test, #"{"version": 1, "\#(key)": [\#(list)]}"#)
            await #expect(throws: MeshError.self) { try await test.mesh.send(InspectBackup(path: path)) }
            do { _ = try await test.mesh.send(InspectBackup(path: path)) } catch {
                let error = MeshError(describing: error)
                #expect(
                    error.status == .dataLoss && error.message.contains("more than \(count - 1) \(key)"), "\(error)")
            }
        }
        let twice = try file(test, #"{"version": 1, "photos": [], "photos": [{"id": 1}]}"#)
        do {
            _ = try await test.mesh.send(InspectBackup(path: twice))
            Issue.record("it was taken")
        } catch {
            #expect(MeshError(describing: error).message.contains("'photos' twice"), "\(error)")
        }
        await test.library.close()
    }
}
