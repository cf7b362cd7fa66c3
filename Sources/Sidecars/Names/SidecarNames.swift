/// Which files of one folder stand beside which, by their names alone.
///
/// ```swift
/// let sidecars = SidecarNames(names)
/// let selection = sidecars.selection(for: "x.jpg") { candidate in try? facts(of: candidate.name) }
/// ```
///
/// Every file that is no sidecar itself is taken for a picture, since only its content can tell; a caller asks for the
/// pictures. Names are compared by their bytes; where nothing has the same, in Unicode's normal form C; and where nothing
/// has that, in lower case. Of two pictures whose names differ in capitals alone, each has the sidecar that is written as
/// it is, and a third spelling is nobody's. No sidecar is given to two pictures, except that one which was edited in
/// Google Photos has those of its original if it has none.
///
/// Making it takes time in proportion to the names, whatever they are, and asking about one picture takes bounded time.
public struct SidecarNames: Sendable {
    /// A sidecar that more pictures than this could own is nobody's: real folders come to a dozen, and a folder full of
    /// such names would take time with the square of their number.
    public static let maximumRivals = 32
    /// For the same reason a picture has at most so many candidates, the best.
    public static let maximumCandidates = 16

    struct Sidecar {
        let name: String
        var form = SidecarCandidate.Form.xmp
        /// Indices of the pictures with the best claim.
        var owners: [Int] = []
        /// Those that it may say that it belongs to: its owners, and of `x.xmp` every file that is called `x`, then every
        /// one that is called `X`.
        var rivals: [Int] = []
        /// How many of them are called as it is.
        var nearRivals = 0
        /// How many of these have it among their claims.
        var claimants = 0
        var likeness = PictureIndex.Likeness.bytes
        /// The picture's own name is not whole in it.
        var isNameCut = false
    }

    var index = PictureIndex()
    var sidecars: [Sidecar] = []
    /// By picture, its sidecars, the best first.
    var claims: [[Int]] = []
    /// By picture, the one that it was edited from.
    var originals: [Int?] = []
    private var pictures: [FolderName: Int] = [:]

    /// Sidecars that belong to no file of the folder, by name: of pictures that were deleted or lie elsewhere. Other
    /// files of JSON and Takeout's documents about albums are not among them.
    public private(set) var unclaimed: [String] = []

    /// What was done, for tests of how it grows.
    var steps = 0

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
        for picture in claims.indices { dropFartherClaims(of: picture) }
        for number in sidecars.indices where isUnclaimed(sidecars[number]) { unclaimed.append(sidecars[number].name) }
        for picture in claims.indices { sortClaims(of: picture) }
        unclaimed.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        steps += index.steps
    }

    // MARK: Asking

    /// The files that by their names may belong to `picture`, the surest first; empty for a name that is not in the
    /// folder.
    public func candidates(for picture: String) -> [SidecarCandidate] {
        var seen: Set<Int> = []
        return bearers(of: picture).flatMap { bearer in
            claims[bearer].filter { seen.insert($0).inserted }.map { candidate($0, of: bearer) }
        }
    }

    /// The files that belong to `picture`: its XMP, and of Takeout's documents those of the surest form that is there.
    /// - Parameter facts: what the candidate says; nil where it cannot be read. It is asked only for candidates whose
    ///   names do not decide, for each as often as it comes into question.
    public func selection(
        for picture: String, facts: (SidecarCandidate) -> SidecarFacts? = { _ in nil }
    ) -> SidecarSelection {
        for bearer in bearers(of: picture) {
            let selection = selection(of: bearer, facts)
            if selection != SidecarSelection() { return selection }
        }
        return SidecarSelection()
    }

    private func selection(
        of picture: Int, _ facts: (SidecarCandidate) -> SidecarFacts?
    ) -> SidecarSelection {
        var selection = SidecarSelection()
        let forms = Dictionary(grouping: claims[picture]) { sidecars[$0].form }
        for form in [SidecarCandidate.Form.xmp, .xmpOfStem] {
            for number in forms[form] ?? [] {
                let owners = owners(ofXMP: number, asked: picture, facts)
                guard owners.contains(picture) else { continue }
                if owners.count == 1, !isOneSpellingOfSeveral(number, of: picture) {
                    selection.names.append(sidecars[number].name)
                } else {
                    selection.ambiguous.append(sidecars[number].name)
                }
            }
        }
        for form in [SidecarCandidate.Form.takeout, .takeoutShortened, .takeoutOfStem] {
            let (taken, ambiguous) = decide(forms[form] ?? [], of: picture, facts)
            selection.names += taken
            selection.ambiguous += ambiguous
            if !taken.isEmpty || !ambiguous.isEmpty { break }
        }
        return selection
    }

    /// The pictures whose sidecars `name` may have: itself, and while no name decides that one is its own, what it was
    /// edited from. All of them together have at most ``maximumCandidates``.
    private func bearers(of name: String) -> [Int] {
        guard let picture = pictures[FolderName(name.utf8)] else { return [] }
        var bearers: [Int] = []
        var count = 0
        var next: Int? = picture
        // An original's name is shorter, so this ends.
        while let bearer = next {
            count += claims[bearer].count
            guard count <= Self.maximumCandidates else { break }
            if !claims[bearer].isEmpty { bearers.append(bearer) }
            next = claims[bearer].allSatisfy { needsReading($0, of: bearer) } ? originals[bearer] : nil
        }
        return bearers
    }

    private func candidate(_ number: Int, of picture: Int) -> SidecarCandidate {
        let sidecar = sidecars[number]
        return SidecarCandidate(
            name: sidecar.name, form: sidecar.form, needsReading: needsReading(number, of: picture))
    }

    private func needsReading(_ number: Int, of picture: Int) -> Bool {
        let sidecar = sidecars[number]
        switch sidecar.form {
        case .xmp: return false
        case .xmpOfStem: return sidecar.rivals.count > 1
        default:
            if sidecar.owners.count > 1 || sidecar.isNameCut { return true }
            return sidecar.form > .takeout && claims[picture].count { sidecars[$0].form == sidecar.form } > 1
                || isOneSpellingOfSeveral(number, of: picture)
        }
    }

    /// Whether other sidecars of its form differ from it in capitals, and none is written as the picture is: one picture
    /// had one of them, and the others belong to pictures that are not here.
    private func isOneSpellingOfSeveral(_ number: Int, of picture: Int) -> Bool {
        let sidecar = sidecars[number]
        guard sidecar.likeness == .lowerCase else { return false }
        return claims[picture].contains { $0 != number && sidecars[$0].form == sidecar.form }
    }

    /// The files that an XMP sidecar means by the extension that it names; without one, or with one that no file has,
    /// its owners.
    private func owners(
        ofXMP number: Int, asked picture: Int, _ facts: (SidecarCandidate) -> SidecarFacts?
    ) -> [Int] {
        let candidate = candidate(number, of: picture)
        let sidecar = sidecars[number]
        guard candidate.needsReading, let named = facts(candidate)?.fileExtension else { return sidecar.owners }
        let fileExtension = FolderName(".".utf8) + FolderName(named.utf8).lowercased
        for rivals in [sidecar.rivals.prefix(sidecar.nearRivals), sidecar.rivals.dropFirst(sidecar.nearRivals)] {
            let owners = rivals.filter { index.pictures[$0].fileExtension.lowercased == fileExtension }
            if !owners.isEmpty { return owners }
        }
        return sidecar.owners
    }

    /// Of Takeout's documents of one form, those that are the picture's, and those that nobody can tell.
    private func decide(
        _ numbers: [Int], of picture: Int, _ facts: (SidecarCandidate) -> SidecarFacts?
    ) -> (taken: [String], ambiguous: [String]) {
        var certain: [String] = []
        var titled: [String] = []
        var doubtful: [String] = []
        for number in numbers {
            let sidecar = sidecars[number]
            let candidate = candidate(number, of: picture)
            guard candidate.needsReading else {
                certain.append(sidecar.name)
                continue
            }
            guard let title = facts(candidate)?.title.map({ FolderName($0.utf8) }) else {
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
