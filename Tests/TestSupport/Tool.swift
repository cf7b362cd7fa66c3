import Foundation

/// Another program that reads archives.
package struct Tool: Sendable {
    package static let unzip = Tool("unzip")
    package static let zip = Tool("zip")
    package static let sevenZip = Tool("7z")
    package static let bsdtar = Tool("bsdtar")
    package static let python = Tool("python3")
    package static let java = Tool("java")
    package static let go = Tool("go")
    package static let shell = Tool("bash")
    package static let ffmpeg = Tool("ffmpeg")
    package static let exiftool = Tool("exiftool")
    package static let magick = Tool("convert")
    package static let cjxl = Tool("cjxl")
    package static let rclone = Tool("rclone")
    package static let cadaver = Tool("cadaver")
    package static let heifEncoder = Tool("heif-enc")
    package static let openJPEG = Tool("opj_compress")

    private let name: String
    private let path: String?

    private init(_ name: String) {
        self.name = name
        path = ProcessInfo.processInfo.environment["PATH", default: "/usr/bin"].split(separator: ":")
            .map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    package var isPresent: Bool { path != nil }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs the program to its end and returns what it printed; anything but success is an error.
    @discardableResult
    package func run(_ arguments: [String], in folder: String? = nil, input: [UInt8]? = nil) throws -> [UInt8] {
        guard let path else { throw Failure(description: "\(name) is not installed") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        // Names are UTF-8 whatever the locale of whoever runs the tests.
        process.environment = ProcessInfo.processInfo.environment.merging(["LC_ALL": "C.UTF-8"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.standardError
        // As a file, since a pipe would have to be filled and emptied at once.
        let inputs = try input.map { bytes in
            let inputs = try TemporaryFolder("input")
            try Data(bytes).write(to: URL(fileURLWithPath: inputs.file("input")))
            return inputs
        }
        defer { withExtendedLifetime(inputs) {} }
        process.standardInput =
            try inputs.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0.file("input"))) }
            ?? FileHandle.nullDevice
        try process.run()
        let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Failure(description: "\(name) ended with \(process.terminationStatus)")
        }
        return bytes
    }

    /// The digest of each file below a folder, by its path from there: SHA-256, hex.
    package static func digests(below folder: String) throws -> [String: String] {
        let output = try shell.run(["-c", "find . -type f -printf '%P\\0' | xargs -0r sha256sum -z"], in: folder)
        var digests: [String: String] = [:]
        for line in output.split(separator: 0).map({ String(decoding: $0, as: UTF8.self) }) {
            // A digest, a space, a mark, and the name.
            digests[String(line.dropFirst(66))] = String(line.prefix(64))
        }
        return digests
    }

    /// The digests that one of `Programs` printed: a digest, a space and a name on each line.
    package static func digests(listed output: [UInt8]) throws -> [String: String] {
        var digests: [String: String] = [:]
        for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { throw Failure(description: String(line)) }
            let previous = digests.updateValue(
                String(line[..<space]), forKey: String(line[line.index(after: space)...]))
            guard previous == nil else { throw Failure(description: "twice: \(line)") }
        }
        return digests
    }
}

/// Readers written in other languages. Each prints digest and name of every entry, read to its end with the
/// library's own checks, the entry named by the last argument left out.
package enum Programs {
    package static let python = """
        import hashlib, sys, zipfile
        archive = zipfile.ZipFile(sys.argv[1])
        if not any(i.filename == sys.argv[2] for i in archive.infolist()):
            assert archive.testzip() is None
        for info in archive.infolist():
            if info.filename != sys.argv[2]:
                print(hashlib.sha256(archive.read(info)).hexdigest(), info.filename)
        """

    package static let java = """
        import java.io.*; import java.nio.file.*; import java.security.*; import java.util.*; import java.util.zip.*;
        class Read {
            static PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false);
            static void print(InputStream in, String name) throws Exception {
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                byte[] buffer = new byte[1 << 16];
                for (int n; (n = in.read(buffer)) > 0;) digest.update(buffer, 0, n);
                out.write((HexFormat.of().formatHex(digest.digest()) + " " + name + "\\n").getBytes("UTF-8"));
            }
            public static void main(String[] a) throws Exception {
                if (a[0].equals("stream")) {
                    try (var zip = new ZipInputStream(new BufferedInputStream(new FileInputStream(a[1]), 1 << 16))) {
                        for (ZipEntry e; (e = zip.getNextEntry()) != null;)
                            if (e.getName().equals(a[2])) zip.closeEntry(); else print(zip, e.getName());
                    }
                } else try (var zip = new ZipFile(a[1])) {
                    for (var e : Collections.list(zip.entries()))
                        if (!e.getName().equals(a[2])) print(zip.getInputStream(e), e.getName());
                }
                out.flush();
            }
        }
        """

    package static let go = """
        package main
        import ("archive/zip"; "bufio"; "crypto/sha256"; "fmt"; "io"; "os")
        func main() {
            archive, err := zip.OpenReader(os.Args[1])
            if err != nil { panic(err) }
            out := bufio.NewWriter(os.Stdout)
            defer out.Flush()
            for _, file := range archive.File {
                if file.Name == os.Args[2] { continue }
                in, err := file.Open()
                if err != nil { panic(err) }
                digest := sha256.New()
                if _, err := io.Copy(digest, in); err != nil { panic(err) }
                fmt.Fprintf(out, "%x %s\\n", digest.Sum(nil), file.Name)
            }
        }
        """
}
