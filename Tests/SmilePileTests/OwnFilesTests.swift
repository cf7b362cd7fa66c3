import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// No request gets this process to open the catalogue as a plain file: closing it again would drop SQLite's locks, and the
/// next program that looks into the catalogue would remove the log of what was acknowledged.
@Suite struct OwnFilesTests {
    private static let own = ["catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm", "library.lock"]

    /// Another name of a file or folder, as somebody may give it one.
    private enum Way: CaseIterable {
        case path, link, hardLink, mount
    }

    /// The kernel's whole list. It comes in pieces, and what reads a file of no size may take the first one for all.
    private func allLocks() throws -> String {
        let descriptor = open("/proc/locks", O_RDONLY)
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(descriptor, &piece, piece.count), count > 0 { text += piece[..<count] }
        return String(decoding: text, as: UTF8.self)
    }

    /// Those of a library that is open, three at least. While others take locks and give them back, the list moves between
    /// its pieces and some are missed, so it counts when it is the same twice.
    private func locks(of test: TestLibrary) throws -> [String] {
        var found = try listedLocks(of: test)
        for _ in 0..<1000 {
            let again = try listedLocks(of: test)
            if again == found, again.count > 2 { break }
            found = again
        }
        return found
    }

    /// The locks that this process has on files of the library for as long as that is open, as the kernel lists them.
    private func listedLocks(of test: TestLibrary) throws -> [String] {
        let inodes = Set(
            try Self.own.compactMap { name in
                try FileManager.default.attributesOfItem(atPath: test.path + "/" + name)[.systemFileNumber] as? UInt64
            })
        return try allLocks().split(separator: "\n").filter { line in
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[4] == "\(getpid())", let inode = fields[5].split(separator: ":").last else {
                return false
            }
            return UInt64(inode).map(inodes.contains) ?? false
        }.compactMap(Self.lasting).sorted()
    }

    /// A line of the list without its number, and without bytes 120 to 127: on these of its shared memory SQLite has locks
    /// while it reads or writes, which other work of the library does meanwhile. The one that lasts is on byte 128, and
    /// the kernel makes one of two that touch.
    private static func lasting(_ line: Substring) -> String? {
        var fields = line.split(separator: " ").dropFirst().map(String.init)
        guard fields.count == 7, fields[0] == "POSIX", let start = Int(fields[5]), (120...128).contains(start) else {
            return fields.joined(separator: " ")
        }
        guard let end = Int(fields[6]), end >= 128 else { return nil }
        fields[5] = "128"
        return fields.joined(separator: " ")
    }

    /// Sends everything that opens a file by the name it is given, and says what was answered.
    private func answers(_ test: TestLibrary, to path: String) async throws -> [String] {
        var answers: [String] = []
        do {
            _ = try await test.mesh.send(InspectBackup(path: path))
            answers.append("inspected")
        } catch {
            answers.append(MeshError(describing: error).message)
        }
        for job in [
            try await test.run(VerifyBackup(path: path)), try await test.run(RestoreBackup(path: path)),
            try await test.run(MigrateLibrary(database: path)),
        ] {
            answers.append(job.error?.message ?? "\(job.state)")
        }
        let lines = try await test.lines(test.importing(path).id)
        answers.append(lines.first?.detail ?? "no line")
        return answers
    }

    @Test(arguments: Self.own, Way.allCases)
    private func isNotOpened(_ name: String, _ way: Way) async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1, album: SampleAlbum(width: 32, height: 24))
        let file = test.path + "/" + name
        var path = test.folder.file("other")
        var mount: Mount?
        switch way {
        case .path: path = file
        case .link: #expect(symlink(file, path) == 0)
        case .hardLink: #expect(link(file, path) == 0)
        case .mount:
            guard let made = try Mount(of: test.path, at: path) else { return await test.library.close() }
            mount = made
            path += "/" + name
        }
        let before = try locks(of: test)
        #expect(before.count > 2, "\(before)")
        let answers = try await answers(test, to: path)
        #expect(
            answers.allSatisfy { $0.contains("library itself") || $0.contains("is not followed") }, "\(answers)")
        #expect(try locks(of: test) == before)
        await test.library.close()
        withExtendedLifetime(mount) {}
    }

    @Test func theLibraryIsNotImportedWhereItIsMountedAgain() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2, album: SampleAlbum(width: 32, height: 24))
        let other = test.folder.file("again")
        guard let mount = try Mount(of: test.path, at: other) else { return await test.library.close() }
        let before = try locks(of: test)
        for folder in ["", "/photos", "/thumbnails", "/staging"] {
            let lines = try await test.lines(test.importing(other + folder).id)
            #expect(lines.map(\.detail) == ["it is the library itself"], "\(folder)")
        }
        #expect(try locks(of: test) == before)
        await test.library.close()
        withExtendedLifetime(mount) {}
    }

    @Test func whatIsNoFileOnADiskIsNotOpened() async throws {
        let test = try await TestLibrary()
        mkfifo(test.folder.file("pipe"), 0o600)
        for path in [test.folder.file("pipe"), "/dev/zero", "/proc/self/maps", "/sys/kernel/uevent_seqnum", test.path] {
            #expect(await status { _ = try await test.mesh.send(InspectBackup(path: path)) } == .invalidArgument)
        }
        await test.library.close()
    }
}

/// A folder mounted a second time; undone when it goes. Nil where this user may not mount.
private final class Mount {
    private let target: String

    init?(of folder: String, at target: String) throws {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        // MS_BIND of mount(2).
        guard mount(folder, target, nil, 4096, nil) == 0 else { return nil }
        self.target = target
    }

    deinit { umount2(target, Int32(MNT_DETACH)) }
}
