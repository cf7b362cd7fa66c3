import Foundation
import TestSupport
import Testing

/// ZIP files as phones write them.
enum StreamedZIP {
    /// Writes entries in this order as Java's stream does: deflated, sizes behind the data.
    static func write(_ entries: [(String, Data)], to path: String) throws {
        let folder = try TemporaryFolder("entries")
        for (index, entry) in entries.enumerated() {
            try entry.1.write(to: URL(fileURLWithPath: folder.file(String(index))))
        }
        let names = try JSONSerialization.data(withJSONObject: entries.map(\.0))
        try names.write(to: URL(fileURLWithPath: folder.file("names")))
        let script = """
            import io, json, sys, zipfile
            class Stream(io.RawIOBase):
                def __init__(self, file): self.file = file
                def writable(self): return True
                def write(self, bytes): return self.file.write(bytes)
            with open(sys.argv[2], "wb") as file, zipfile.ZipFile(Stream(file), "w", zipfile.ZIP_DEFLATED) as archive:
                for number, name in enumerate(json.load(open(sys.argv[1] + "/names"))):
                    archive.writestr(name, open(sys.argv[1] + "/" + str(number), "rb").read())
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, folder.path, path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
