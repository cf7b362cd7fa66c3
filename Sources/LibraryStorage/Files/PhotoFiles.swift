import Files
import LibraryModel
import ServiceMesh

/// Where the files of photos, thumbnails and previews are kept. Everything blocks: it belongs on a `BlockingPool`.
///
/// A new file is written to a local staging place first, because image workers and archives write to descriptors. Then it
/// is published: it stands at its place, durably, under a name that no other file had, and the staging place still knows
/// it. Then the catalogue's transaction commits, and the file is settled: the staging place forgets it. So the staging
/// place is the record of what was under way, without a second journal: after a kill, whatever it knows either has a row,
/// and is settled, or has none, and is withdrawn. Files that nobody knows are never touched: they may be pictures that
/// exist once.
package protocol PhotoFiles: Sendable {
    // MARK: Staging

    /// Makes a new, empty file, which nobody else knows of.
    /// - Parameter name: that it is to be published under, where that is known: publishing it costs less then.
    /// - Returns: its name in the staging place, and a descriptor to read and write it, which the caller closes.
    func stage(as name: StoredName?) throws -> (name: String, descriptor: Int32)
    /// Makes the bytes of all staged files durable, which costs less than to do that for each.
    /// - Throws: a failure, also where it was found since the last time, or is of another file on the disk.
    func syncStaged() throws
    /// Opens a staged file to read it.
    /// - Returns: its descriptor, which the caller closes.
    func openStaged(_ name: String) throws -> Int32
    /// Removes staged files that have not been published. What cannot be removed is left to the next start.
    func unstage(_ names: [String])
    /// Puts staged files at their places, durably. The files' own contents must be durable already, but for those of previews. The catalogue's rows
    /// come next, then ``settle(_:)``; where they do not come, ``withdraw(_:)``, and where nobody can tell, neither: see
    /// `MeshError.mayHaveBeenStored`.
    /// - Throws: ``NameTaken``; a failure. Nothing is left in place then, and staged files may be gone.
    func publish(_ files: [StagedFile]) throws
    /// Puts a staged thumbnail or preview at its place, durably, over the one that may be there, and at no moment without one. Nothing
    /// else is ever replaced: these can be made again. Then as ``publish(_:)``: whether the photo is still there comes
    /// next, and ``settle(_:)`` or ``withdraw(_:)``. One file must not be replaced by two at once.
    /// - Throws: a failure. The one that was in place is there still, or the new one is; the staged file may be gone.
    func replace(_ made: StagedFile) throws
    /// The rows are durable: the staging place forgets these files.
    func settle(_ names: [StoredName]) throws
    /// There are no rows: the published files go, durably, and then the staged ones.
    func withdraw(_ names: [StoredName]) throws
    /// What a kill left in the staging place, under the names that the files were to have; one that had none yet is among
    /// them under a name that no photo has.
    func leftovers() throws -> [StoredName]

    /// Of ``leftovers()``, those that no process still works with.
    func abandoned() throws -> [StoredName]
    /// - Throws: why files that the catalogue does not name must stay at this moment: what says so may not be the library's
    ///   own catalogue, or not all of it.
    func requireMayRemove() throws

    // MARK: Stored files

    /// Nil where there is nothing of that name.
    func facts(_ name: StoredName) throws -> StoredFileFacts?
    /// Runs `body` with the bytes of a stored file.
    func withReader<Value>(_ name: StoredName, _ body: (any ByteSource) throws -> Value) throws -> Value
    /// Opens a stored file to be read, or a copy of it, for an image worker.
    /// - Returns: a descriptor of a regular file, which the caller closes.
    func open(_ name: StoredName) throws -> Int32
    /// All files of a kind, in no order, whether or not anybody knows them.
    func forEach(_ kind: StoredName.Kind, _ body: (StoredFile) throws -> Void) throws
    /// Removes files, durably. One that is gone already counts.
    /// - Returns: those that are gone for good.
    func remove(_ names: [StoredName]) -> [StoredName]
    /// Bytes that there is room for.
    func room() throws -> Int64

    // MARK: Files as other programs see them

    /// The path at which other programs can read a stored file; nil where there is none.
    func path(of name: StoredName) -> String?
    /// Whether an absolute path lies where stored files are, whether or not there is one.
    func owns(_ path: String) -> Bool
    /// The stored file that an absolute path would be.
    func name(at path: String) -> StoredName?
}

extension PhotoFiles {
    package func abandoned() throws -> [StoredName] { try leftovers() }

    package func requireMayRemove() throws {}

    package func stage() throws -> (name: String, descriptor: Int32) { try stage(as: nil) }

    /// Staged files that are not wanted: what is published of them goes, and what is staged. What cannot be removed is
    /// left to the next start.
    package func abandon(_ files: [StagedFile]) {
        guard (try? withdraw(files.map(\.name))) != nil else { return }
        unstage(files.map(\.staged))
    }
}

extension PhotoFiles {
    /// Files of a kind by name, from the one behind `name` on.
    /// - Parameter limit: at most; some twice as many are in memory meanwhile.
    package func list(_ kind: StoredName.Kind, after name: String?, limit: Int = .max) throws -> [StoredFile] {
        var files: [StoredFile] = []
        func keepFirst() {
            files.sort { $0.name < $1.name }
            if files.count > limit { files.removeSubrange(limit...) }
        }
        try forEach(kind) { file in
            guard name.map({ file.name.fileName > $0 }) ?? true else { return }
            files.append(file)
            if files.count / 2 > limit { keepFirst() }
        }
        keepFirst()
        return files
    }
}

/// A file in the staging place, and the name that it is to have.
package struct StagedFile: Codable, Sendable {
    /// In the staging place.
    package let staged: String
    package let name: StoredName

    package init(_ staged: String, as name: StoredName) {
        self.staged = staged
        self.name = name
    }
}

/// A photo was to be published under a name that another file has.
package struct NameTaken: MeshErrorConvertible {
    package let name: StoredName

    package init(_ name: StoredName) { self.name = name }

    package var meshError: MeshError { MeshError(.alreadyExists, "There is a file \(name.path) already.") }
}

/// What can be known of a stored file without reading it.
package struct StoredFileFacts: Sendable {
    /// Bytes.
    package let size: Int64
    /// False for a folder, a link, a device.
    package let isFile: Bool

    package init(size: Int64, isFile: Bool) {
        self.size = size
        self.isFile = isFile
    }
}

/// A file in a list of stored files.
package struct StoredFile: Codable, Sendable {
    package let name: StoredName
    /// Bytes.
    package let size: Int64

    package init(name: StoredName, size: Int64) {
        self.name = name
        self.size = size
    }
}
