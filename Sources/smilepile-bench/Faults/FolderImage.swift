import Foundation

/// Files and folders below one, in memory: written out anew for every round, which takes a millisecond.
struct FolderImage: Sendable {
    /// By their path inside the folder.
    var files: [String: Data] = [:]
    var folders: Set<String> = []

    init() {}

    init(of path: String) throws {
        guard let names = FileManager.default.enumerator(atPath: path) else { return }
        for case let name as String in names {
            var found = stat()
            guard lstat(path + "/" + name, &found) == 0 else { continue }
            switch found.st_mode & S_IFMT {
            case S_IFDIR: folders.insert(name)
            case S_IFREG: files[name] = try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
            default: break
            }
        }
    }

    /// Makes the folder hold this and nothing else.
    func write(to path: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        for folder in [""] + folders.sorted() {
            guard mkdir(path + "/" + folder, 0o700) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }
        for (name, content) in files {
            let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
            defer { close(file) }
            let written = content.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            guard written == content.count else { throw CocoaError(.fileWriteOutOfSpace) }
        }
    }
}
