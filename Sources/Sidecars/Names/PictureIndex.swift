/// Finds pictures by the parts of their names that sidecars are called by.
struct PictureIndex {
    enum Part: UInt8 {
        /// `x.jpg`
        case name
        /// `x.jpg` of `x(1).jpg`, together with the number
        case title
        /// The first 46 UTF-16 units of a longer title, with the number if there is one
        case cutTitle
        /// `x` of `x.jpg`, with the number if there is one
        case stem
    }

    /// How the text of a name is like another's, the surest first. Each includes those before it.
    enum Likeness: Int, CaseIterable {
        /// The same bytes.
        case bytes
        /// The same in normal form C, which macOS undoes.
        case normalForm
        /// The same but for capitals, as after a copy through Windows.
        case lowerCase
    }

    private struct Key: Hashable {
        let part: Part
        let text: FolderName
    }

    private(set) var pictures: [PictureName] = []
    private var exact: [Key: [Int]] = [:]
    /// Those whose text is not in normal form C, by that form.
    private var normalized: [Key: [Int]] = [:]
    /// Those whose normal form C has capitals, by that in lower case.
    private var lowercased: [Key: [Int]] = [:]
    /// Keys that were written or looked up, and pictures that were looked at.
    private(set) var steps = 0

    mutating func insert(_ picture: PictureName) {
        let index = pictures.count
        pictures.append(picture)
        insert(.name, picture.name, index)
        insert(.stem, picture.stem, index)
        insertCut(picture.name, nil, index)
        if let (base, number) = picture.numbered {
            insert(.title, Self.text(picture.title, number), index)
            insert(.stem, Self.text(base, number), index)
            insertCut(picture.title, number, index)
        }
    }

    private mutating func insertCut(_ title: FolderName, _ number: FolderName?, _ index: Int) {
        // It may have been cut before or after the normal form was lost.
        for title in Set([title, title.normalized]) {
            if let cut = title.cut(toUTF16: TakeoutName.units) { insert(.cutTitle, Self.text(cut, number), index) }
        }
    }

    private mutating func insert(_ part: Part, _ text: FolderName, _ index: Int) {
        steps += 1
        exact[Key(part: part, text: text), default: []].append(index)
        let (form, lower) = (text.normalized, text.lowercased)
        if form != text {
            steps += 1
            normalized[Key(part: part, text: form), default: []].append(index)
        }
        if lower != form {
            steps += 1
            lowercased[Key(part: part, text: lower), default: []].append(index)
        }
    }

    /// No name holds a zero byte.
    private static func text(_ text: FolderName, _ number: FolderName?) -> FolderName {
        number.map { text + FolderName([0]) + $0 } ?? text
    }

    /// Those whose part is like `text`; ones in the folder before absent ones. Empty as well where there are more than
    /// ``SidecarNames/maximumRivals``.
    mutating func pictures(
        by part: Part, _ text: FolderName, _ number: FolderName? = nil, as likeness: Likeness
    ) -> [Int] {
        steps += 1
        let text = Self.text(text, number)
        let lists: [[Int]?]
        switch likeness {
        case .bytes: lists = [exact[Key(part: part, text: text)]]
        case .normalForm:
            let key = Key(part: part, text: text.normalized)
            lists = [exact[key], normalized[key]]
        case .lowerCase:
            let key = Key(part: part, text: text.lowercased)
            lists = [exact[key], normalized[key], lowercased[key]]
        }
        // They are counted before they are joined: each may have all of a hostile folder.
        let count = lists.reduce(0) { $0 + ($1?.count ?? 0) }
        guard count > 0, count <= SidecarNames.maximumRivals else { return [] }
        steps += count
        let found = lists.flatMap { $0 ?? [] }
        let present = found.filter { !pictures[$0].isAbsent }
        var seen: Set<Int> = []
        return (present.isEmpty ? found : present).filter { seen.insert($0).inserted }
    }

    /// Those of them that a name without an extension means: with `order`, the first kinds that are there.
    func preferred(_ found: [Int], _ order: [[PictureName.Kind]]) -> [Int] {
        for kinds in order {
            let chosen = found.filter { kinds.contains(pictures[$0].kind) }
            if !chosen.isEmpty { return chosen }
        }
        return []
    }

    static let picturesFirst: [[PictureName.Kind]] = [[.picture, .raw], [.other], [.video]]
    /// `x.xmp` beside a raw picture and a JPEG is the raw picture's: Adobe writes a JPEG's XMP into it.
    static let rawFirst: [[PictureName.Kind]] = [[.raw], [.picture], [.other], [.video]]
}
