/// Which files of one folder stand beside which, by their names alone.
///
/// ```swift
/// let sidecars = SidecarNames(names)
/// for candidate in sidecars.candidates(for: "x.jpg") where candidate.wantsTitle { … }  // read their titles
/// let selection = sidecars.selection(for: "x.jpg") { titles[$0.name] }
/// ```
///
/// Every file that is no sidecar itself is taken for a picture, since only its content can tell; a caller asks for the
/// pictures. Names are compared by their bytes, and where nothing has the same, in Unicode's normal form C. No sidecar
/// is given to two pictures, except that one which was edited in Google Photos has those of its original if it has
/// none.
///
/// Making it takes time in proportion to the names, whatever they are, and asking about one picture takes bounded time.
public struct SidecarNames: Sendable {
    /// A sidecar that more pictures than this could own is nobody's: real folders come to a dozen, and a folder full of
    /// such names would take time with the square of their number.
    public static let maximumRivals = 32
    /// For the same reason a picture has at most so many candidates, the best.
    public static let maximumCandidates = 16

    private struct Sidecar {
        let name: String
        var form = SidecarCandidate.Form.xmp
        /// Indices of the pictures with the best claim.
        var owners: [Int] = []
        /// The picture's own name is not whole in it.
        var isNameCut = false
    }

    private var index = PictureIndex()
    private var sidecars: [Sidecar] = []
    /// By picture, its sidecars, the best first.
    private var claims: [[Int]] = []
    /// By picture, the one that it was edited from.
    private var originals: [Int?] = []
    private var pictures: [FolderName: Int] = [:]

    /// Sidecars that belong to no file of the folder, by name: of pictures that were deleted or lie elsewhere. Other
    /// files of JSON and Takeout's documents about albums are not among them.
    public private(set) var unclaimed: [String] = []

    /// What was done, for tests of how it grows.
    private(set) var steps = 0

    /// Whether it can only be a sidecar, or a document of JSON.
    public static func isSidecar(_ name: String) -> Bool {
        let name = FolderName(name.utf8)
        return name.dropping(".xmp") != nil || name.dropping(".json") != nil
    }

    /// - Parameter names: of the files of one folder, without its path, in any order.
    public init(_ names: [String]) {
        var seen: Set<FolderName> = []
        for name in names.map({ FolderName($0.utf8) }) where seen.insert(name).inserted {
            if name.dropping(".xmp") != nil || name.dropping(".json") != nil {
                sidecars.append(Sidecar(name: String(decoding: name.bytes, as: UTF8.self)))
            } else {
                pictures[name] = index.pictures.count
                index.insert(PictureName(name))
            }
        }
        findOriginals()
        claims = Array(repeating: [], count: index.pictures.count)
        for number in sidecars.indices { findOwners(ofSidecar: number) }
        for picture in claims.indices { sortClaims(of: picture) }
        unclaimed.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        steps += index.steps
    }

    // MARK: Asking

    /// The files that by their names may belong to `picture`, the surest first; empty for a name that is not in the
    /// folder.
    public func candidates(for picture: String) -> [SidecarCandidate] {
        guard let picture = owner(picture) else { return [] }
        return claims[picture].map { number in
            let sidecar = sidecars[number]
            return SidecarCandidate(
                name: sidecar.name, form: sidecar.form, wantsTitle: wantsTitle(number, of: picture))
        }
    }

    /// The files that belong to `picture`: its XMP, and of Takeout's documents those of the surest form that is there.
    /// - Parameter title: what the candidate's document says under `title`; nil where it says nothing or cannot be
    ///   read. It is asked only for candidates that want it.
    public func selection(
        for picture: String, title: (SidecarCandidate) -> String? = { _ in nil }
    ) -> SidecarSelection {
        var selection = SidecarSelection()
        guard let picture = owner(picture) else { return selection }
        let forms = Dictionary(grouping: claims[picture]) { sidecars[$0].form }
        for form in [SidecarCandidate.Form.xmp, .xmpOfStem] {
            for number in forms[form] ?? [] {
                if sidecars[number].owners.count == 1 {
                    selection.names.append(sidecars[number].name)
                } else {
                    selection.ambiguous.append(sidecars[number].name)
                }
            }
        }
        for form in [SidecarCandidate.Form.takeout, .takeoutShortened, .takeoutOfStem] {
            let (taken, ambiguous) = decide(forms[form] ?? [], of: picture, title)
            selection.names += taken
            selection.ambiguous += ambiguous
            if !taken.isEmpty || !ambiguous.isEmpty { break }
        }
        return selection
    }

    /// The picture whose sidecars `name` has: itself, or what it was edited from.
    private func owner(_ name: String) -> Int? {
        guard var picture = pictures[FolderName(name.utf8)] else { return nil }
        // An original's name is shorter, so this ends.
        while claims[picture].isEmpty, let original = originals[picture] { picture = original }
        return picture
    }

    private func wantsTitle(_ number: Int, of picture: Int) -> Bool {
        let sidecar = sidecars[number]
        guard sidecar.form >= .takeout else { return false }
        if sidecar.owners.count > 1 || sidecar.isNameCut { return true }
        return sidecar.form > .takeout && claims[picture].count { sidecars[$0].form == sidecar.form } > 1
    }

    /// Of Takeout's documents of one form, those that are the picture's, and those that nobody can tell.
    private func decide(
        _ numbers: [Int], of picture: Int, _ title: (SidecarCandidate) -> String?
    ) -> (taken: [String], ambiguous: [String]) {
        var certain: [String] = []
        var titled: [String] = []
        var doubtful: [String] = []
        for number in numbers {
            let sidecar = sidecars[number]
            guard wantsTitle(number, of: picture) else {
                certain.append(sidecar.name)
                continue
            }
            let candidate = SidecarCandidate(name: sidecar.name, form: sidecar.form, wantsTitle: true)
            guard let title = title(candidate).map({ FolderName($0.utf8) }) else {
                // Nothing speaks against the only picture whose name begins like this.
                doubtful.append(sidecar.name)
                continue
            }
            let named = owners(of: sidecar, title: title)
            if named == [picture] {
                titled.append(sidecar.name)
            } else if named.contains(picture) {
                doubtful.append(sidecar.name)
            }
        }
        if !certain.isEmpty { return (certain, []) }
        if titled.count == 1 { return (titled, []) }
        if titled.isEmpty, numbers.count == 1, doubtful.count == 1, sidecars[numbers[0]].owners.count == 1 {
            return (doubtful, [])
        }
        return ([], titled + doubtful)
    }

    /// Those of the sidecar's pictures that `title` means: ones that are called so, else ones that may be.
    private func owners(of sidecar: Sidecar, title: FolderName) -> [Int] {
        let fits = sidecar.owners.map { (picture: $0, fit: TitleFit(index.pictures[$0], title)) }
        let called = fits.filter { $0.fit == .same }
        return (called.isEmpty ? fits.filter { $0.fit == .similar } : called).map(\.picture)
    }
}

// MARK: Matching

extension SidecarNames {
    private mutating func findOriginals() {
        originals = Array(repeating: nil, count: index.pictures.count)
        for picture in 0..<index.pictures.count {
            guard let name = index.pictures[picture].original else { continue }
            steps += 1
            var found = index.pictures(by: .name, name)
            if found.isEmpty {
                // What is edited is saved as JPEG, whatever the original is.
                found = index.preferred(index.pictures(by: .stem, name.parts.stem), [[.picture, .raw]])
            }
            if found.count == 1 {
                originals[picture] = found[0]
            } else if found.isEmpty {
                originals[picture] = index.pictures.count
                originals.append(nil)
                index.insert(PictureName(name, isAbsent: true))
            }
        }
    }

    private mutating func findOwners(ofSidecar number: Int) {
        let name = FolderName(sidecars[number].name.utf8)
        if let base = name.dropping(".xmp") {
            claim(number, .xmp, index.pictures(by: .name, base))
            claim(number, .xmpOfStem, index.preferred(index.pictures(by: .stem, base), PictureIndex.rawFirst))
            if sidecars[number].owners.isEmpty { unclaimed.append(sidecars[number].name) }
        } else if let takeout = TakeoutName(name) {
            findOwners(ofSidecar: number, takeout)
            if sidecars[number].owners.isEmpty, takeout.looksLikePictures { unclaimed.append(sidecars[number].name) }
        }
    }

    /// The first way to read the name that leads to a picture counts.
    private mutating func findOwners(ofSidecar number: Int, _ name: TakeoutName) {
        claim(number, .takeout, index.pictures(by: .name, name.base))
        let whole = TakeoutName.withoutSupplement(name.base)
        let counted = TakeoutName.withoutSupplement(name.unnumbered)
        if whole.was != .none {
            claim(number, whole.was == .whole ? .takeout : .takeoutShortened, index.pictures(by: .name, whole.text))
        }
        if let digits = name.number {
            claim(number, .takeout, index.pictures(by: .title, name.unnumbered, digits))
            if counted.was != .none {
                let form: SidecarCandidate.Form = counted.was == .whole ? .takeout : .takeoutShortened
                claim(number, form, index.pictures(by: .title, counted.text, digits))
            }
        }
        claim(number, .takeoutShortened, index.pictures(by: .cutTitle, name.base), isNameCut: true)
        if let digits = name.number {
            claim(number, .takeoutShortened, index.pictures(by: .cutTitle, name.unnumbered, digits), isNameCut: true)
        }
        guard !name.isAboutAlbum else { return }
        for (text, digits) in [(whole.text, nil), (counted.text, name.number)] {
            let found = index.pictures(by: .stem, text, digits)
            claim(number, .takeoutOfStem, index.preferred(found, PictureIndex.picturesFirst))
        }
    }

    private mutating func claim(
        _ number: Int, _ form: SidecarCandidate.Form, _ owners: [Int], isNameCut: Bool = false
    ) {
        guard sidecars[number].owners.isEmpty, !owners.isEmpty else { return }
        sidecars[number].form = form
        sidecars[number].owners = owners
        sidecars[number].isNameCut = isNameCut
        for owner in owners { claims[owner].append(number) }
        steps += owners.count
    }

    /// Of one form the longer name first: what was cut less, and the newer of Takeout's two.
    private mutating func sortClaims(of picture: Int) {
        steps += claims[picture].count
        claims[picture].sort { left, right in
            let (left, right) = (sidecars[left], sidecars[right])
            if left.form != right.form { return left.form < right.form }
            if left.name.utf8.count != right.name.utf8.count { return left.name.utf8.count > right.name.utf8.count }
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        claims[picture] = Array(claims[picture].prefix(Self.maximumCandidates))
    }
}

/// Whether a document's title can be that of a picture. Google's title is whole, and has signs that a file's name
/// cannot have; the file's name was cut to 47 UTF-16 units before the extension.
private enum TitleFit {
    case same, similar, none

    init(_ picture: PictureName, _ title: FolderName) {
        let form = title.normalized
        let (titleStem, titleExtension) = title.folded.parts
        let (stem, fileExtension) = picture.title.folded.parts
        let isCut = stem.cut(toUTF16: TakeoutName.units - 1) != nil
        if form == picture.title.normalized || form == picture.name.normalized {
            self = .same
        } else if titleStem == stem, titleExtension == fileExtension {
            self = .similar
        } else if title.folded == stem || title.folded == picture.name.folded {
            self = .similar
        } else if isCut, titleStem.bytes.starts(with: stem.bytes),
            titleExtension == fileExtension || titleExtension.bytes.isEmpty
        {
            self = .similar
        } else {
            self = .none
        }
    }
}
