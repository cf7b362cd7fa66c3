import Files
import Scratch
import ServiceMesh

/// What a backup's documents say of its entries, and where each of them stands in the archive: four bytes in memory for each, and
/// eight where one is asked for that is not the next.
struct PromisedEntries: Sendable {
    private let files: DeferredIndex<BackupManifest.File>
    /// By place in the list.
    private var places: [UInt32]

    var list: SpooledList<BackupManifest.File> { files.list }

    /// - Throws: `data_loss` for an entry that is promised twice.
    init(_ list: SpooledList<BackupManifest.File>) throws {
        files = DeferredIndex(list, by: \.path)
        if let second = try list.firstRepeated(by: \.path) {
            let path = try list.element(at: second).path
            throw MeshError(refusingBackup: "the manifest names '\(path.prefix(200))' twice.", entry: path)
        }
        places = Array(repeating: .max, count: list.count)
    }

    /// Nil for what is not promised.
    subscript(path: String) -> BackupManifest.File? { get throws { try files.index()[path] } }

    /// Finds what is promised, for one who asks in about the order of the list.
    /// - Parameter place: of about the first.
    func finder(from place: Int = 0) -> SpooledFinder<BackupManifest.File> { SpooledFinder(files, from: place) }

    func contains(_ path: String) throws -> Bool { try files.index().place(of: path) != nil }

    /// Where the entry stands in the archive that is promised at a place of the list; nil where it is not there.
    func index(of place: Int) -> Int? { places[place] == .max ? nil : Int(places[place]) }

    mutating func note(_ index: Int, of place: Int) { places[place] = UInt32(index) }
}
