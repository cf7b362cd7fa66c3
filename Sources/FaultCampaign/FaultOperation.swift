import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// What a daemon is doing when it is killed, or when a call of it fails.
package enum FaultOperation: String, CaseIterable, Sendable {
    case importing = "import"
    case originals
    case backup
    /// A backup for the phone apps.
    case phone
    /// Backups into a folder that holds each file once, and an import between them.
    case folder
    case merge
    case replace
    case purge
    case photos
    case categories
    case swipes
    /// Notes that are sealed, kept through the trash, and sealed anew with another key.
    case seal
    case clean
    case migrate
    /// An import, edits and a purge at once.
    case mixed
    /// A client names the library's own files, and another program reads the catalogue.
    case visit
    /// The daemon's end after SIGTERM.
    case stop
    /// A start after a kill in one of the others.
    case recovery
    /// A start with the catalogue of an older version.
    case upgrade

    /// Whether it is the start itself that is disturbed.
    var isStart: Bool { self == .recovery || self == .upgrade }

    /// Those that are broken off so that a recovery has something to do.
    static let recovered: [FaultOperation] = [
        .importing, .backup, .folder, .merge, .replace, .purge, .seal, .mixed, .migrate,
    ]
}

/// Everything that an operation works with: a client of a library whose contents are known.
struct FaultScene {
    let client: FaultClient
    /// The library as the template made it.
    let template: FaultTemplate
    let place: FaultPlace
    var random: SeededChoices

    private func photo(_ index: Int) -> Photo { template.contents.photos[index % template.contents.photos.count] }

    private func category(_ index: Int) -> Category {
        template.contents.categories[index % template.contents.categories.count]
    }

    mutating func perform(_ operation: FaultOperation) throws {
        switch operation {
        case .importing: try importPhotos(originals: false)
        case .originals: try importPhotos(originals: true)
        case .backup: try backUp()
        case .phone: try backUp(forPhone: true)
        case .folder:
            try saveIntoFolder()
            try importPhotos(originals: random.oneIn(2))
            try saveIntoFolder()
        case .merge: try restore(.merge)
        case .replace: try restore(.replace)
        case .purge: try purge()
        case .photos: try editPhotos()
        case .categories: try editCategories()
        case .swipes: try swipe()
        case .seal: try seal()
        case .clean: try clean()
        case .migrate: try migrate()
        case .mixed: try mix()
        case .visit: try visit()
        case .stop: try editPhotos()
        case .recovery, .upgrade: break
        }
    }

    /// A change by which it is seen whether the library still takes one.
    func touch() throws {
        let caption = "afterwards"
        try client.change(SetCaption(id: photo(0).id, caption: caption)) { [name = photo(0).name] world in
            world.photos[name]?.caption = caption
        }
    }

    // MARK: Jobs

    private mutating func importPhotos(originals: Bool) throws {
        try client.finish(try startImport(originals: originals))
    }

    private mutating func startImport(originals: Bool) throws -> FaultClient.Running {
        let folder = try place.newFolder("album")
        let target = category(random.roll(3))
        var items: [(String, FaultStep.Change)] = []
        for index in 0..<random.roll(2...3) {
            let name = "new-\(place.nextNumber())"
            try template.pictures[FaultTemplate.photos + index].write(to: URL(fileURLWithPath: "\(folder)/\(name).jpg"))
            // It says nothing of the picture, and is kept with it all the same.
            if random.oneIn(2) {
                try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).jpg.json"))
            }
            let facts = FaultWorld.PhotoFacts(category: target.displayName)
            items.append(("\(folder)/\(name).jpg", { $0.photos[name] = facts }))
        }
        if random.oneIn(2) {
            try Data("This is no picture.".utf8).write(to: URL(fileURLWithPath: folder + "/text.jpg"))
        }
        return try client.start(
            job: ImportPhotos(paths: [folder], categoryId: target.id, originals: originals), items)
    }

    private mutating func backUp(forPhone: Bool = false) throws {
        // Beside the library, or where the daemon puts it.
        let path = random.oneIn(3) ? nil : place.backups + "/new.zip"
        let request = CreateBackup(path: path, forPhone: forPhone ? true : nil)
        let running = try client.start(job: request, [], backup: .some(path))
        try client.finish(running)
    }

    private func saveIntoFolder() throws {
        let request = CreateBackup(path: place.backupFolder, incremental: true)
        try client.finish(try client.start(job: request, [], backup: .some(nil)))
    }

    private mutating func restore(_ mode: RestoreMode) throws {
        // So that it is not quite the library that the template was.
        if random.oneIn(2) { try touch() }
        let backup = template.backupWorld
        let change: FaultStep.Change = { world in
            if mode == .merge { world.merge(backup) } else { world.replace(with: backup) }
        }
        try client.finish(
            try client.start(
                job: RestoreBackup(path: place.backups + "/" + FaultTemplate.backup, mode: mode), [("", change)]))
    }

    private func migrate() throws {
        var items: [(String, FaultStep.Change)] = [
            (
                FaultTemplate.oldCategory,
                { $0.categories.append(.init(name: FaultTemplate.oldCategory, color: "#2196F3")) }
            )
        ]
        for name in FaultTemplate.oldPhotos {
            let facts = FaultWorld.PhotoFacts(category: FaultTemplate.oldCategory)
            items.append((place.phone + "/\(name).jpg", { $0.photos[name] = facts }))
        }
        try client.finish(
            try client.start(
                job: MigrateLibrary(database: place.phone + "/" + FaultTemplate.oldDatabase, photos: place.phone), items
            ))
    }

    // MARK: Requests

    private mutating func purge() throws {
        let photo = photo(random.roll(5))
        if random.oneIn(2) {
            try client.change(DeletePhotos(ids: [photo.id])) { $0.moveToTrash(photo.name) }
        }
        if random.oneIn(2) {
            try client.change(PurgeTrash(all: true)) { $0.trash = [:] }
        } else {
            for item in template.contents.trash {
                try client.change(PurgeTrash(ids: [item.photo.id])) { $0.takeFromTrash(item.photo.name) }
            }
        }
    }

    private mutating func editPhotos() throws {
        for _ in 0..<4 {
            let photo = photo(random.roll(template.contents.photos.count - 1))
            let other = template.contents.trash[0]
            switch random.roll(5) {
            case 0:
                let value = random.oneIn(2)
                try client.change(SetFavorite(ids: [photo.id], isFavorite: value)) {
                    $0.photos[photo.name]?.isFavorite = value
                }
            case 1:
                let caption = "caption \(random.roll(1000))"
                try client.change(SetCaption(id: photo.id, caption: caption)) {
                    $0.photos[photo.name]?.caption = caption
                }
            case 2:
                let target = category(random.roll(3))
                try client.change(MovePhotos(ids: [photo.id], categoryId: target.id)) {
                    $0.photos[photo.name]?.category = target.displayName
                }
            case 3: try client.change(DeletePhotos(ids: [photo.id])) { $0.moveToTrash(photo.name) }
            default:
                let facts = FaultWorld.PhotoFacts(
                    category: other.categoryName, caption: other.photo.caption, isFavorite: other.photo.isFavorite)
                try client.change(RestorePhotos(ids: [other.photo.id])) {
                    $0.takeFromTrash(other.photo.name)
                    $0.photos[other.photo.name] = facts
                }
            }
        }
    }

    private mutating func editCategories() throws {
        let name = "Pile \(random.roll(1000))"
        let color = random.pick(CategoryColor.palette) ?? CategoryColor.fallback
        try client.change(AddCategory(displayName: name, colorHex: color)) {
            $0.categories.append(.init(name: name, color: color))
        }
        let edited = category(random.roll(template.contents.categories.count))
        let newName = "\(edited.displayName) \(random.roll(1000))"
        try client.change(EditCategory(id: edited.id, displayName: newName)) {
            $0.rename(category: edited.displayName, to: newName)
        }
        let deleted = category(0).id == edited.id ? category(1) : category(0)
        let heir = category(2).id == edited.id ? category(3) : category(2)
        let movesPhotos = random.oneIn(2)
        try client.change(
            DeleteCategory(
                id: deleted.id, deletePhotos: movesPhotos ? nil : true, moveTo: movesPhotos ? heir.id : nil)
        ) { world in
            for (name, facts) in world.photos where facts.category == deleted.displayName {
                if movesPhotos { world.photos[name]?.category = heir.displayName } else { world.moveToTrash(name) }
            }
            world.categories.removeAll { $0.name == deleted.displayName }
        }
        let threshold = Double(random.roll(1...9)) / 10
        try client.change(ChangeSettings(swipeThreshold: threshold)) { $0.threshold = threshold }
    }

    private mutating func swipe() throws {
        let started = try client.change(
            StartSwipeSession(), { $0.sessions[FaultWorld.unknownSession] = .init() },
            told: { reply in { $0.sessions[reply.sessionID] = .init() } })
        guard let id = started?.sessionID else { return }
        var decided: [(name: String, action: SwipeAction)] = []
        for index in 0..<3 {
            let photo = photo(index)
            let action = random.pick(SwipeAction.allCases) ?? .keep
            let reply = try client.change(
                RecordSwipe(
                    sessionID: id, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: action)
            ) { $0.sessions[id]?.decisions += 1 }
            guard reply != nil else { return }
            decided.append((photo.name, action))
        }
        if random.oneIn(2) {
            guard try client.change(UndoSwipes(sessionID: id, count: 1), { $0.sessions[id]?.decisions -= 1 }) != nil
            else { return }
            decided.removeLast()
        }
        try client.change(FinishSwipeSession(sessionID: id)) { $0.sessions[id]?.isFinished = true }
        let effects = decided
        try client.change(ProcessSwipes(sessionID: id)) { world in
            for (name, action) in effects {
                if action == .favorite { world.photos[name]?.isFavorite = true }
                if action == .trash { world.moveToTrash(name) }
            }
        }
    }

    private mutating func seal() throws {
        for index in 0..<3 {
            let photo = photo(index)
            let notes = "notes \(random.roll(1000))"
            try client.change(SetPhotoDetail(id: photo.id, notes: notes)) { $0.photos[photo.name]?.notes = notes }
            guard index == 0, random.oneIn(2), var facts = template.world.photos[photo.name] else { continue }
            facts.notes = notes
            try client.change(DeletePhotos(ids: [photo.id])) { $0.moveToTrash(photo.name) }
            try client.change(RestorePhotos(ids: [photo.id])) { [facts] world in
                world.takeFromTrash(photo.name)
                world.photos[photo.name] = facts
            }
        }
        let rotation = try client.start(job: RotateKeys(), [("", { _ in })])
        let photo = photo(3)
        try client.change(SetPhotoDetail(id: photo.id, notes: "meanwhile")) {
            $0.photos[photo.name]?.notes = "meanwhile"
        }
        try client.finish(rotation)
        let first = self.photo(1)
        try client.change(SetPhotoDetail(id: first.id, clear: [.notes])) { $0.photos[first.name]?.notes = nil }
    }

    /// Whoever closes a descriptor of a file that SQLite has open drops SQLite's locks on it. The next program that reads
    /// the catalogue then believes to be alone with it, and takes the log away when it leaves.
    private mutating func visit() throws {
        for suffix in ["", "-wal", "-shm"] {
            _ = try client.ask(InspectBackup(path: place.library + "/catalogue.sqlite" + suffix))
        }
        try editPhotos()
        place.readCatalogue()
        try touch()
    }

    private func clean() throws {
        try client.change(CleanStorage()) { _ in }
    }

    private mutating func mix() throws {
        let running = try startImport(originals: random.oneIn(2))
        for index in 0..<4 {
            let photo = photo(index)
            let caption = "meanwhile \(random.roll(1000))"
            try client.begin(SetCaption(id: photo.id, caption: caption)) { $0.photos[photo.name]?.caption = caption }
        }
        try client.begin(PurgeTrash(all: true)) { $0.trash = [:] }
        try client.wait()
        try client.finish(running)
    }
}
