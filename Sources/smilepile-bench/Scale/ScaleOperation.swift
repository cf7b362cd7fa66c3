import BenchSupport

/// Something that a family does with its library, as a command that people type.
struct ScaleOperation: Sendable {
    let name: String
    /// What stands ready before it is timed.
    private let prepare: @Sendable (ScaledLibrary) throws -> Void
    private let run: @Sendable (ScaledLibrary) throws -> ScaleSample

    private init(
        _ name: String, prepare: @escaping @Sendable (ScaledLibrary) throws -> Void = { _ in },
        run: @escaping @Sendable (ScaledLibrary) throws -> ScaleSample
    ) {
        (self.name, self.prepare, self.run) = (name, prepare, run)
    }

    func measure(_ library: ScaledLibrary) throws -> ScaleSample {
        try prepare(library)
        return try run(library)
    }

    /// About the first half of the photos, 10,000 at most.
    private static func some(
        _ name: String, prepare: @escaping @Sendable (ScaledLibrary) throws -> Void = { _ in },
        _ words: @escaping @Sendable (String, ScaledLibrary) -> [String]
    ) -> ScaleOperation {
        ScaleOperation(name, prepare: prepare) { library in
            try library.measure(words("1-\(library.some)", library), photos: library.some)
        }
    }

    /// A job that is about all photos.
    private static func all(
        _ name: String, prepare: @escaping @Sendable (ScaledLibrary) throws -> Void = { _ in },
        _ words: @escaping @Sendable (ScaledLibrary) -> [String]
    ) -> ScaleOperation {
        ScaleOperation(name, prepare: prepare) { library in
            try library.measure(words(library), photos: library.photos)
        }
    }

    /// In an order in which each finds what it needs.
    static let all: [ScaleOperation] = [
        some("favourites", prepare: { try $0.run(["photos", "unfavorite", "1-\($0.some)"]) }) { ids, _ in
            ["photos", "favorite", ids]
        },
        some("captions") { ids, library in ["photos", "caption", ids, library.work.newPath("On the beach")] },
        some("dates shifted") { ids, _ in ["photos", "edit", ids, "--shift", "1h"] },
        some(
            "another category",
            prepare: { try $0.run(["photos", "move", "1-\($0.some)", "--to", $0.categories.0]) },
            { ids, library in ["photos", "move", ids, "--to", library.categories.1] }),
        some(
            "into the trash", prepare: { try? $0.run(["trash", "restore", "1-\($0.some)"]) },
            { ids, _ in ["photos", "delete", ids] }),
        some(
            "out of the trash", prepare: { try? $0.run(["photos", "delete", "1-\($0.some)"]) },
            { ids, _ in ["trash", "restore", ids] }),
        ScaleOperation("import", prepare: { try $0.writeSources() }) { library in
            try library.measure(["import", library.sources], photos: library.few)
        },
        ScaleOperation("known files imported", prepare: { try $0.importKnown() }) { library in
            try library.measure(["import", library.known.folder], photos: library.known.files)
        },
        all("storage check") { _ in ["storage", "check"] },
        all("dates found again") { _ in ["photos", "redate"] },
        all("export") { ["photos", "export", "--all", "--to", $0.work.newPath("exported")] },
        all("backup into a file", prepare: { $0.archive = $0.work.newPath("backup") + ".zip" }) {
            ["backup", "create", $0.archive]
        },
        all("backup file verified", prepare: needsArchive) { ["backup", "verify", $0.archive] },
        all("backup file merged", prepare: needsArchive) { ["backup", "restore", $0.archive, "--merge", "--yes"] },
        ScaleOperation("backup file restored", prepare: needsArchive) { library in
            let other = try library.another()
            return try other.measure(
                ["backup", "restore", library.archive, "--yes"], photos: library.photos, marked: 0, in: library.work)
        },
        all("backup into a folder", prepare: { $0.folder = $0.work.newPath("folder") }) {
            ["backup", "create", $0.folder, "--incremental"]
        },
        all(
            "backup into that folder again",
            prepare: { library in
                try needsFolder(library)
                try library.writeSources()
                try library.run(["import", library.sources])
            }, { ["backup", "create", $0.folder, "--incremental"] }),
        all("backup folder verified", prepare: needsFolder) { ["backup", "verify", $0.folder] },
        some("gone for good", prepare: { try? $0.run(["photos", "delete", "1-\($0.some)"]) }) { ids, _ in
            ["trash", "purge", ids]
        },
    ]

    @Sendable
    private static func needsArchive(_ library: ScaledLibrary) throws {
        guard library.archive.isEmpty else { return }
        library.archive = library.work.newPath("backup") + ".zip"
        try library.run(["backup", "create", library.archive])
    }

    @Sendable
    private static func needsFolder(_ library: ScaledLibrary) throws {
        guard library.folder.isEmpty else { return }
        library.folder = library.work.newPath("folder")
        try library.run(["backup", "create", library.folder, "--incremental"])
    }
}

extension ScaledLibrary {
    fileprivate func run(_ words: [String]) throws { try daemon.run(words, in: work) }

    fileprivate func measure(_ words: [String], photos: Int) throws -> ScaleSample {
        try daemon.measure(words, photos: photos, marked: some + 1, in: work)
    }
}
