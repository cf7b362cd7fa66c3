/// Which pictures the files beside them are called after.
extension SidecarNames {
    mutating func findOriginals() {
        originals = Array(repeating: nil, count: index.pictures.count)
        // An original that is not there is put there when all that are there have been found, so that the order of the names
        // does not matter.
        var missing: [(picture: Int, original: FolderName)] = []
        for picture in originals.indices {
            guard let name = index.pictures[picture].original else { continue }
            steps += 1
            let found = originals(called: name)
            if found.count == 1 { originals[picture] = found[0] }
            if found.isEmpty { missing.append((picture, name)) }
        }
        var absent: [FolderName: Int] = [:]
        for (picture, name) in missing {
            if absent[name] == nil {
                absent[name] = index.pictures.count
                originals.append(nil)
                index.insert(PictureName(name, isAbsent: true))
            }
            originals[picture] = absent[name]
        }
    }

    private mutating func originals(called name: FolderName) -> [Int] {
        for likeness in PictureIndex.Likeness.allCases {
            let named = index.pictures(by: .name, name, as: likeness)
            if !named.isEmpty { return named }
            // What is edited is saved as JPEG, whatever the original is.
            let called = index.preferred(index.pictures(by: .stem, name.parts.stem, as: likeness), [[.picture, .raw]])
            if !called.isEmpty { return called }
        }
        return []
    }

    mutating func findOwners(ofSidecar number: Int) {
        let name = FolderName(sidecars[number].name.utf8)
        let takeout = TakeoutName(name)
        for likeness in PictureIndex.Likeness.allCases where sidecars[number].owners.isEmpty {
            sidecars[number].likeness = likeness
            if let base = name.dropping(".xmp") {
                claim(number, .xmp, index.pictures(by: .name, base, as: likeness))
                let called = index.pictures(by: .stem, base, as: likeness)
                claim(
                    number, .xmpOfStem, index.preferred(called, PictureIndex.rawFirst), rivals: called,
                    farRivals: called.isEmpty ? [] : index.pictures(by: .stem, base, as: .lowerCase))
            } else if let takeout {
                findOwners(ofSidecar: number, takeout, likeness)
            }
        }
    }

    /// The first way to read the name that leads to a picture counts.
    private mutating func findOwners(
        ofSidecar number: Int, _ name: TakeoutName, _ likeness: PictureIndex.Likeness
    ) {
        claim(number, .takeout, index.pictures(by: .name, name.base, as: likeness))
        let whole = TakeoutName.withoutSupplement(name.base)
        let counted = TakeoutName.withoutSupplement(name.unnumbered)
        if whole.was != .none {
            let form: SidecarCandidate.Form = whole.was == .whole ? .takeout : .takeoutShortened
            claim(number, form, index.pictures(by: .name, whole.text, as: likeness))
        }
        if let digits = name.number {
            claim(number, .takeout, index.pictures(by: .title, name.unnumbered, digits, as: likeness))
            if counted.was != .none {
                let form: SidecarCandidate.Form = counted.was == .whole ? .takeout : .takeoutShortened
                claim(number, form, index.pictures(by: .title, counted.text, digits, as: likeness))
            }
        }
        claim(number, .takeoutShortened, index.pictures(by: .cutTitle, name.base, as: likeness), isNameCut: true)
        if let digits = name.number {
            let cut = index.pictures(by: .cutTitle, name.unnumbered, digits, as: likeness)
            claim(number, .takeoutShortened, cut, isNameCut: true)
        }
        guard !name.isAboutAlbum else { return }
        for (text, digits) in [(whole.text, nil), (counted.text, name.number)] {
            let found = index.pictures(by: .stem, text, digits, as: likeness)
            claim(number, .takeoutOfStem, index.preferred(found, PictureIndex.picturesFirst))
        }
    }

    /// - Parameters:
    ///   - rivals: those that the sidecar may name, where they are more than its owners.
    ///   - farRivals: those that it may name where it means none of these.
    private mutating func claim(
        _ number: Int, _ form: SidecarCandidate.Form, _ owners: [Int], rivals near: [Int]? = nil,
        farRivals: [Int] = [], isNameCut: Bool = false
    ) {
        guard sidecars[number].owners.isEmpty, !owners.isEmpty else { return }
        let near = near ?? owners
        let rivals = near + farRivals.filter { !near.contains($0) }
        sidecars[number].nearRivals = near.count
        sidecars[number].form = form
        sidecars[number].owners = owners
        sidecars[number].rivals = rivals
        sidecars[number].claimants = rivals.count
        sidecars[number].isNameCut = isNameCut
        for rival in rivals { claims[rival].append(number) }
        steps += rivals.count
    }

    /// A picture whose sidecar is written as it is has none of the same form that is written otherwise: that was
    /// another's, which is not here any more or lies beside it.
    mutating func dropFartherClaims(of picture: Int) {
        steps += claims[picture].count
        var nearest: [SidecarCandidate.Form: Int] = [:]
        for number in claims[picture] {
            let sidecar = sidecars[number]
            nearest[sidecar.form] = min(nearest[sidecar.form] ?? .max, sidecar.likeness.rawValue)
        }
        let far = claims[picture].filter { sidecars[$0].likeness.rawValue > nearest[sidecars[$0].form] ?? .max }
        guard !far.isEmpty else { return }
        for number in far { sidecars[number].claimants -= 1 }
        let dropped = Set(far)
        claims[picture].removeAll { dropped.contains($0) }
    }

    func isUnclaimed(_ sidecar: Sidecar) -> Bool {
        guard sidecar.claimants == 0 else { return false }
        return TakeoutName(FolderName(sidecar.name.utf8))?.looksLikePictures ?? true
    }

    /// Of one form the longer name first: what was cut less, and the newer of Takeout's two.
    mutating func sortClaims(of picture: Int) {
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
