import CLinux
import Files
import Foundation
import ServiceMesh

/// Which folders had a library in them when they were opened on this machine. Where one of them is empty, its disk is not
/// mounted: a new library there would lie under the mount point, unseen once the disk is there again, and what was imported
/// meanwhile with it.
///
/// A file of the user's, with a path in each line, written as a JSON string; a line that cannot be read is passed over.
package struct OpenedLibraries: Sendable {
    /// More than anybody opens: what lies beyond is not looked at.
    private static let maximumBytes = 1 << 20

    private let file: String

    /// - Parameter file: it and its folder are made when the first library is noted.
    package init(file: String) { self.file = file }

    package func contains(_ path: String) -> Bool { lines().contains(path) }

    /// - Throws: ``/Files/FileSystem/Failure`` where the file cannot be written.
    package func note(_ path: String) throws {
        guard !contains(path) else { return }
        try FileSystem.makeFolder(FileSystem.parent(of: file))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Begun with a new line, since an earlier one may have been cut off by a full disk.
        let line = try Array("\n".utf8) + encoder.encode(path)
        try FileSystem.withFile(file, O_WRONLY | O_CREAT | O_APPEND) { descriptor in
            try FileSystem.check(write(descriptor, line, line.count) == line.count ? 0 : -1, "write", file)
        }
    }

    private func lines() -> [String] {
        guard let handle = FileHandle(forReadingAtPath: file) else { return [] }
        defer { try? handle.close() }
        let bytes = (try? handle.read(upToCount: Self.maximumBytes)) ?? Data()
        return bytes.split(separator: UInt8(ascii: "\n"))
            .compactMap { try? JSONDecoder().decode(String.self, from: $0) }
    }
}
