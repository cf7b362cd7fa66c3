import BenchSupport
import Foundation

/// A file system as it may be after a power cut.
///
/// What is promised: a file's bytes are on the disk once it was synced, and a name once its folder was. What was not
/// synced may be there or not: all of it, none, up to some moment, or any part, also half of a write in steps of 512
/// bytes. A rename is whole or absent, as every file system with a journal has it. This is less than most file systems
/// promise, which keep the order of names or sync a new file's name with its bytes; more than a disk that lies about
/// syncs, or damages what it is not writing. Folders themselves are always there.
struct CrashModel {
    enum Edit {
        case write(offset: Int, Data)
        case truncate(Int)
        /// The whole, where others have written into it.
        case content(Data)

        func apply(to data: inout Data) {
            switch self {
            case .content(let all): data = all
            case .truncate(let size): Self.resize(&data, size)
            case .write(let offset, let bytes):
                if data.count < offset + bytes.count { Self.resize(&data, offset + bytes.count) }
                data.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            }
        }

        /// The same with only the first of its sectors written.
        func torn(_ random: inout SeededChoices) -> Edit? {
            guard case .write(let offset, let bytes) = self, bytes.count > 512 else { return nil }
            return .write(offset: offset, Data(bytes.prefix(512 * random.roll(1...((bytes.count - 1) / 512)))))
        }

        private static func resize(_ data: inout Data, _ size: Int) {
            if data.count > size { data = Data(data.prefix(size)) } else { data.append(Data(count: size - data.count)) }
        }
    }

    private struct File {
        var durable: Data
        /// Since the last sync.
        var edits: [Edit] = []
        /// Where the library knows it by that.
        var keptInode: UInt64?

        var latest: Data { edits.reduce(into: durable) { $1.apply(to: &$0) } }
    }

    /// Names that change together, each to a file or to nothing.
    private struct NameChange {
        var names: [(path: String, file: Int?)]
    }

    private let root: String
    private let folders: Set<String>
    private var files: [File] = []
    private var byInode: [UInt64: Int] = [:]
    private var names: [String: Int] = [:]
    private var durableNames: [String: Int] = [:]
    private var nameChanges: [NameChange] = []
    /// Nothing is promised at all: a disk that says that it has synced, and has not.
    var liesAboutSyncs = false

    /// - Parameters:
    ///   - image: what `root` holds, all of it on the disk.
    init(_ image: FolderImage, at root: String) {
        self.root = root
        folders = image.folders
        for (name, content) in image.files {
            var found = stat()
            guard lstat(root + "/" + name, &found) == 0 else { continue }
            let file = byInode[UInt64(found.st_ino)] ?? files.count
            byInode[UInt64(found.st_ino)] = file
            names[root + "/" + name] = file
            if file == files.count {
                files.append(File(durable: content, keptInode: Self.kept(name, UInt64(found.st_ino))))
            }
        }
        durableNames = names
    }

    private static func kept(_ name: String, _ inode: UInt64) -> UInt64? {
        name.hasSuffix(".partial") ? inode : nil
    }

    /// Files that are to be the same ones in every state.
    var keptInodes: Set<UInt64> { Set(files.compactMap(\.keptInode)) }

    // MARK: What happens

    mutating func apply(_ change: CrashJournal.Change) {
        switch change {
        case .create(let path, let inode):
            byInode[inode] = files.count
            files.append(File(durable: Data(), keptInode: Self.kept(path, inode)))
            name([(path, files.count - 1)])
        case .edit(let inode, let edit):
            if let file = byInode[inode] { files[file].edits.append(edit) }
        case .sync(let inode):
            guard !liesAboutSyncs, let file = byInode[inode] else { return }
            files[file].durable = files[file].latest
            files[file].edits = []
        case .folderSync(let path):
            if !liesAboutSyncs { syncFolder(path) }
        case .rename(let from, let to): name([(to, names[from]), (from, nil)])
        case .link(let from, let to): name([(to, names[from])])
        case .unlink(let path): name([(path, nil)])
        }
    }

    private mutating func name(_ changed: [(path: String, file: Int?)]) {
        for (path, file) in changed { names[path] = file }
        nameChanges.append(NameChange(names: changed))
    }

    private mutating func syncFolder(_ path: String) {
        let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
        func isInside(_ name: String) -> Bool {
            name.hasPrefix(folder + "/") && !name.dropFirst(folder.count + 1).contains("/")
        }
        for index in nameChanges.indices {
            for (name, file) in nameChanges[index].names where isInside(name) { durableNames[name] = file }
            nameChanges[index].names.removeAll { isInside($0.path) }
        }
        nameChanges.removeAll { $0.names.isEmpty }
    }

    // MARK: What is left

    /// Everything that happened: what the folder holds as long as the machine runs.
    var latest: FolderImage { image(names) { files[$0].latest } }

    /// What a power cut now leaves, and what it took, in words.
    func crashed(_ random: inout SeededChoices) -> (image: FolderImage, lost: [String]) {
        var lost: [String] = []
        var left = durableNames
        for (index, isKept) in random.choose(nameChanges.count).enumerated() {
            for (path, file) in nameChanges[index].names {
                if isKept { left[path] = file } else { lost.append((file == nil ? "removal of " : "") + short(path)) }
            }
        }
        var contents: [Int: Data] = [:]
        for file in Set(left.values).sorted() where !files[file].edits.isEmpty {
            var data = files[file].durable
            var dropped = 0
            for (edit, isKept) in zip(files[file].edits, random.choose(files[file].edits.count)) {
                let torn = isKept ? nil : random.oneIn(4) ? edit.torn(&random) : nil
                if isKept { edit.apply(to: &data) } else { dropped += 1 }
                torn?.apply(to: &data)
            }
            contents[file] = data
            let path = left.first { $0.value == file }?.key ?? ""
            if dropped > 0 && !path.hasSuffix("/library.lock") {
                lost.append("\(dropped) of \(files[file].edits.count) changes of \(short(path))")
            }
        }
        return (image(left) { contents[$0] ?? files[$0].durable }, lost)
    }

    private func short(_ path: String) -> String { String(path.dropFirst(root.count + 1)) }

    private func image(_ names: [String: Int], _ content: (Int) -> Data) -> FolderImage {
        var image = FolderImage()
        image.folders = folders
        for (path, file) in names {
            image.files[short(path)] = content(file)
            image.links[short(path)] = UInt64(file)
            image.inodes[short(path)] = files[file].keptInode
        }
        return image
    }
}

extension SeededChoices {
    /// Which of so many changes, in their order, have come to the disk: all, none, those up to one of them, or any.
    fileprivate mutating func choose(_ count: Int) -> [Bool] {
        switch roll(4) {
        case 0: return Array(repeating: true, count: count)
        case 1: return Array(repeating: false, count: count)
        case 2:
            let kept = roll(0...count)
            return (0..<count).map { $0 < kept }
        default: return (0..<count).map { _ in oneIn(2) }
        }
    }
}
