import LibraryModel
import ServiceMesh
import TextFolding

/// A session of uploads in memory: which files it is to get, and where each of them stands. Its ``SessionFile`` has the same on the
/// disk.
struct UploadSession: Sendable {
    /// A file as its device announced it.
    struct File: Codable, Sendable, Hashable {
        let name: String
        let folder: String?
        let size: Int64
        /// Milliseconds since 1970.
        let modifiedAt: Int64?
        /// Of this file alone; absent for the session's.
        var categoryId: Int64?
    }

    enum State: Sendable, Equatable {
        /// Bytes of it are to come; of the upload where it was begun.
        case missing(upload: String?)
        case arrived(upload: String)
        /// In the batch that is being imported.
        case taken
        /// Its line is written down, or is to be told.
        case settled
    }

    /// Files that are imported together, because one may say something of another: those of one folder whose names begin alike.
    private struct Group: Sendable {
        var files: [Int] = []
        /// Those of which bytes are to come.
        var open = 0
        /// Whether it has more than pictures, which say nothing of each other.
        var isMixed = false

        mutating func add(_ number: Int, isPicture: Bool) {
            files.append(number)
            open += 1
            if !isPicture { isMixed = true }
        }
    }

    /// Files that lie in a folder of their own, until they are settled.
    struct Batch: Codable, Sendable {
        /// The folder's name.
        let folder: String
        let files: [Int]
    }

    let device: String
    let categoryId: Int64?
    /// Whether all files have come when none came for some seconds. They are added whole.
    let endsWhenIdle: Bool
    var job: JobID?
    /// Whether no more files are announced.
    private(set) var isWhole = false
    /// Whether what is missing is not waited for.
    private(set) var isEnded = false
    private(set) var files: [File] = []
    private(set) var states: [State] = []
    /// What the receipt calls them: each differs, in capitals or not.
    private(set) var items: [String] = []
    private(set) var batch: Batch?
    /// Of files that will not come, and are not told yet.
    private(set) var lines: [ReceiptLine] = []
    private(set) var missing = 0
    private(set) var missingBytes: Int64 = 0
    private(set) var settled = 0
    private(set) var bytes: Int64 = 0
    private(set) var settledBytes: Int64 = 0

    private var numbers: [File: Int] = [:]
    private var taken: Set<String> = []
    private var groups: [String: Group] = [:]
    /// Files that have arrived and wait for no other, in the order in which they did.
    private var ready: [Int] = []

    init(device: String, categoryId: Int64?, endsWhenIdle: Bool = false) {
        self.device = device
        self.categoryId = categoryId
        self.endsWhenIdle = endsWhenIdle
    }

    // MARK: What is to come

    func number(of file: File) -> Int? { numbers[file] }

    func isMissing(_ number: Int) -> Bool { if case .missing = states[number] { true } else { false } }

    /// The names of files that are missing, from a number on.
    func missingNames(from first: Int, limit: Int) -> (names: [String], next: Int?) {
        var names: [String] = []
        for number in files.indices.dropFirst(first) where isMissing(number) {
            if names.count == limit { return (names, number) }
            names.append(items[number])
        }
        return (names, nil)
    }

    mutating func add(_ file: File) -> Int {
        let number = files.count
        let folder = file.folder.flatMap(UploadName.harmless(folder:))
        let name = UploadName.harmless(file.name) ?? "file-\(number)"
        let item = (1...).lazy.map { number in
            (folder.map { $0 + "/" } ?? "") + UploadName.numbered(name, number)
        }.first { taken.insert($0.caseFolded).inserted }
        files.append(file)
        items.append(item ?? name)
        states.append(.missing(upload: nil))
        numbers[file] = number
        missing += 1
        missingBytes.add(clamping: file.size)
        bytes.add(clamping: file.size)
        groups[groupKey(number), default: Group()].add(number, isPicture: FileContent.isNamedPicture(name))
        return number
    }

    private func groupKey(_ number: Int) -> String { UploadGroup.key(of: items[number]) }

    /// As those are known that belong together.
    mutating func setWhole() { isWhole = true }

    /// What is missing is not waited for any more, and has a line.
    mutating func end() {
        guard !isEnded else { return }
        (isWhole, isEnded) = (true, true)
        for number in files.indices where isMissing(number) { settle(number, .notSent, nil) }
    }

    // MARK: What comes

    mutating func begin(_ number: Int, upload: String) {
        if isMissing(number) { states[number] = .missing(upload: upload) }
    }

    /// The upload of a file is gone: its bytes are to come anew.
    mutating func lose(_ number: Int, upload: String) {
        switch states[number] {
        case .missing(upload): states[number] = .missing(upload: nil)
        case .arrived(upload):
            states[number] = .missing(upload: nil)
            missing += 1
            missingBytes.add(clamping: files[number].size)
            ready.removeAll { $0 == number }
            groups[groupKey(number)]?.open += 1
            if isEnded { settle(number, .notSent, nil) }
        case .missing, .arrived, .taken, .settled: break
        }
    }

    mutating func arrive(_ number: Int, upload: String) {
        guard isMissing(number) else { return }
        states[number] = .arrived(upload: upload)
        close(number)
    }

    /// A file that will not be imported.
    mutating func refuse(_ number: Int, _ outcome: ImportOutcome, _ reason: String) { settle(number, outcome, reason) }

    private mutating func settle(_ number: Int, _ outcome: ImportOutcome, _ detail: String?) {
        guard isMissing(number) else { return }
        states[number] = .settled
        lines.append(ReceiptLine(item: items[number], outcome: outcome.rawValue, detail: detail))
        settled += 1
        settledBytes.add(clamping: files[number].size)
        close(number)
    }

    /// Of this file no byte is to come.
    private mutating func close(_ number: Int) {
        missing -= 1
        missingBytes -= files[number].size
        let key = groupKey(number)
        guard var group = groups[key] else { return }
        group.open -= 1
        groups[key] = group
        let together = group.isMixed ? (group.open == 0 ? group.files : []) : [number]
        // Of files that are added one by one, some may wait already.
        let waiting = group.isMixed ? Set(ready) : []
        ready += together.filter { number in
            if case .arrived = states[number] { !waiting.contains(number) } else { false }
        }
    }

    // MARK: What is imported

    var hasReady: Bool { !ready.isEmpty }
    var isSettled: Bool { isWhole && settled == files.count }

    /// The next files, with their uploads: some of one category, and all that belong together.
    func next(_ count: Int) -> [(number: Int, upload: String)] {
        var next: [(number: Int, upload: String)] = []
        var isOpen = ""
        for number in ready {
            let key = groupKey(number)
            if next.count >= count, key != isOpen { break }
            if let first = next.first, files[first.number].categoryId != files[number].categoryId { break }
            isOpen = key
            if case .arrived(let upload) = states[number] { next.append((number, upload)) }
        }
        return next
    }

    mutating func take(_ batch: Batch) {
        let taken = Set(batch.files)
        for number in batch.files {
            // One that was read from a file may not have come in that order.
            if isMissing(number) { arrive(number, upload: "") }
            states[number] = .taken
        }
        ready.removeAll { taken.contains($0) }
        self.batch = batch
    }

    /// The files of the batch are not in it after all.
    mutating func giveBack(_ uploads: [(number: Int, upload: String)]) {
        for (number, upload) in uploads { states[number] = .arrived(upload: upload) }
        ready = uploads.map(\.number) + ready
        guard let batch else { return }
        let returned = Set(uploads.map(\.number))
        let rest = batch.files.filter { !returned.contains($0) }
        self.batch = rest.isEmpty ? nil : Batch(folder: batch.folder, files: rest)
    }

    /// Nothing of the batch was moved, and where its files are is not known.
    mutating func dropBatch() {
        for number in batch?.files ?? [] where states[number] == .taken {
            states[number] = .arrived(upload: "")
            lose(number, upload: "")
        }
        batch = nil
    }

    mutating func settleBatch() {
        for number in batch?.files ?? [] where states[number] == .taken {
            states[number] = .settled
            settled += 1
            settledBytes.add(clamping: files[number].size)
        }
        batch = nil
    }

    mutating func takeLines() -> [ReceiptLine] {
        defer { lines = [] }
        return lines
    }
}

/// Which files of a session may say something of each other.
enum UploadGroup {
    /// Characters of a name that count: as far as Takeout writes it out.
    private static let length = 40

    /// The folder, and the beginning of the name: up to its first dot, without `(1)` and `-edited` in whatever language at its end.
    ///
    /// Of names with dots in them, as `2019.06.12 0001.jpg`, many are alike by that; where they are pictures alone that changes nothing.
    static func key(of item: String) -> String {
        let folder = item.lastIndex(of: "/").map { item[...$0] } ?? ""
        var stem = item[folder.endIndex...].prefix { $0 != "." }
        while let shorter = withoutEnding(stem) { stem = shorter }
        return (folder + stem.prefix(length)).lowercased()
    }

    private static func withoutEnding(_ stem: Substring) -> Substring? {
        if stem.last == ")", let open = stem.lastIndex(of: "("), open > stem.startIndex {
            let number = stem[stem.index(after: open)...].dropLast()
            if !number.isEmpty, number.allSatisfy(\.isNumber) { return stem[..<open] }
        }
        if let dash = stem.lastIndex(of: "-"), dash > stem.startIndex {
            let word = stem[stem.index(after: dash)...]
            if !word.isEmpty, word.allSatisfy({ $0.isLetter || $0 == " " }) { return stem[..<dash] }
        }
        return nil
    }
}
