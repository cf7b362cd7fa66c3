import LibraryModel
import LibraryStorage
import ServiceMesh

/// Whether a picture and a film are one photo that moves, where the camera (Apple's) has written two files, or a picture and a raw
/// file one shot.
///
/// A film by what it wrote into both. Where one of them has lost that, as programs that save a picture anew let it be lost, by name and time:
/// the same name before the ending, and camera's clocks within two seconds, which both files themselves say. Times of files and
/// dates out of names count for nothing here: of a folder that was copied all are the same. A raw file by name, time and camera, for
/// there is nothing else that cameras write into both.
enum PhotoPair {
    /// Milliseconds. Apple's films have three seconds; one of minutes that says it belongs to a picture lies, and stays a film.
    private static let longestFilm: Int64 = 10_000
    /// Where name and time alone say it.
    private static let longestUnsigned: Int64 = 5_000
    /// Between the two clocks.
    private static let longestGap: Int64 = 2_000

    static func isOne(picture: Photo, film: Photo) -> Bool {
        guard picture.kind == nil, picture.companion == nil, film.isFilm, let duration = film.duration,
            duration <= longestFilm
        else {
            return false
        }
        if let own = picture.contentIdentifier, let other = film.contentIdentifier { return own == other }
        guard duration <= longestUnsigned, hasName(picture, among: pictureEndings), hasName(film, among: filmEndings),
            isSameName(picture, film), let first = clock(of: picture), let second = clock(of: film)
        else { return false }
        return abs(first - second) <= longestGap
    }

    /// A picture has one companion at most: with a film beside it, a raw file stays a photo of its own.
    static func isOne(picture: Photo, raw: Photo) -> Bool {
        guard picture.kind == nil, picture.companion == nil, !isRaw(picture), hasName(picture, among: pictureEndings),
            isRaw(raw), raw.companion == nil, isSameName(picture, raw), let first = clock(of: picture),
            let second = clock(of: raw), abs(first - second) <= longestShot
        else { return false }
        return picture.camera == nil || raw.camera == nil || picture.camera == raw.camera
    }

    /// By what its original is called, which an import calls so by its content. Not of one that cannot be seen: that was not decoded,
    /// so that nothing but its name says what it is.
    static func isRaw(_ photo: Photo) -> Bool {
        photo.isRaw && photo.unseenBy == nil && hasName(photo, among: rawEndings)
    }

    /// As ``picture(of:among:)`` of a film.
    static func picture(ofRaw raw: Photo, among pictures: [Photo]) -> Photo? {
        only(pictures.filter { isOne(picture: $0, raw: raw) })
    }

    static func raw(of picture: Photo, among others: [Photo]) -> Photo? {
        only(others.filter { isOne(picture: picture, raw: $0) })
    }

    /// Of several pictures that one film may belong to, the one that is called like it; none where that is not one.
    static func picture(of film: Photo, among pictures: [Photo]) -> Photo? {
        let all = pictures.filter { isOne(picture: $0, film: film) }
        return all.count == 1 ? all[0] : only(all.filter { isSameName($0, film) })
    }

    static func film(of picture: Photo, among films: [Photo]) -> Photo? {
        let all = films.filter { isOne(picture: picture, film: $0) }
        return all.count == 1 ? all[0] : only(all.filter { isSameName($0, picture) })
    }

    private static func only(_ photos: [Photo]) -> Photo? { photos.count == 1 ? photos[0] : nil }

    /// What to look for.
    static func query(of photo: Photo, areFilms: Bool) -> PairQuery {
        let clock = clock(of: photo)
        return PairQuery(
            // A raw file says nothing that its picture says too.
            areFilms: areFilms, identifier: areFilms || photo.isFilm ? photo.contentIdentifier : nil,
            stem: photo.sourceName.map(stem),
            clocks: clock.map { $0 - longestGap...$0 + longestGap })
    }

    /// Between the two clocks of a shot: a camera may write its files one after the other.
    private static let longestShot: Int64 = 1_000

    private static let pictureEndings: Set = ["heic", "heif", "hif", "jpg", "jpeg"]
    private static let rawEndings = Set(StoredName.rawExtensions.map { String($0.dropFirst()) })
    private static let filmEndings: Set = ["mov", "mp4"]

    private static func hasName(_ photo: Photo, among endings: Set<String>) -> Bool {
        guard let name = photo.sourceName, let dot = name.lastIndex(of: ".") else { return false }
        return endings.contains(name[name.index(after: dot)...].lowercased())
    }

    private static func isSameName(_ first: Photo, _ second: Photo) -> Bool {
        guard let name = first.sourceName, let other = second.sourceName else { return false }
        return stem(name).lowercased() == stem(other).lowercased()
    }

    static func stem(_ name: String) -> String { name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name }

    /// Milliseconds; nil where the file itself says none to the second.
    private static func clock(of photo: Photo) -> Int64? {
        guard let source = photo.dateSource, !source.isGuess, photo.datePrecision == .second, let clock = photo.takenAt
        else { return nil }
        // A backup may say any; from these there is room to count.
        return possibleClocks.contains(clock.milliseconds) ? clock.milliseconds : nil
    }

    private static let possibleClocks = -(Int64(1) << 52)...Int64(1) << 52
}

extension Photo {
    /// Whether it is called as the file is that it was made of, because nobody has called it otherwise.
    package var isNamedByFile: Bool { name == sourceName.map(PhotoPair.stem) }
}

extension CatalogueTransaction {
    /// The other half of a photo, as ``FindOtherHalf`` says. What somebody has said something of, or put elsewhere, is no half.
    func otherHalf(of photo: Photo) throws -> Photo? {
        guard !photo.isFilm else { return PhotoPair.picture(of: photo, among: try others(photo, areFilms: false)) }
        guard !PhotoPair.isRaw(photo) else {
            // What its own sidecars say of it has no place beside a picture that has other ones, or none.
            guard photo.sidecars.isEmpty else { return nil }
            return PhotoPair.picture(ofRaw: photo, among: try others(photo, areFilms: false))
        }
        guard photo.kind == nil else { return nil }
        if let film = PhotoPair.film(of: photo, among: try others(photo, areFilms: true)) {
            // Two that claim one film: unless one is called like it, nobody can tell which tells the truth.
            guard
                PhotoPair.picture(of: film, among: try others(film, areFilms: false) + [photo])?.uuid == photo.uuid,
                try isUntouched(film, beside: photo)
            else { return nil }
            return film
        }
        guard let raw = PhotoPair.raw(of: photo, among: try others(photo, areFilms: false)),
            PhotoPair.picture(ofRaw: raw, among: try others(raw, areFilms: false) + [photo])?.uuid == photo.uuid,
            try isUntouched(raw, beside: photo)
        else { return nil }
        return raw
    }

    private func others(_ photo: Photo, areFilms: Bool) throws -> [Photo] {
        try photos.pairCandidates(PhotoPair.query(of: photo, areFilms: areFilms)).filter { $0.uuid != photo.uuid }
    }

    private func isUntouched(_ half: Photo, beside photo: Photo) throws -> Bool {
        guard half.isNamedByFile, half.caption == nil || half.caption == photo.caption, !half.isFavorite,
            half.categoryId == photo.categoryId, half.lastDecision == nil, half.dateSource != .person,
            half.rotation == nil, half.sidecars.isEmpty, half.originalPath != nil
        else { return false }
        // Whoever has the address is to see it for as long as was meant.
        guard try !links.contains(half.uuid) else { return false }
        // Where it was taken the file said itself, and goes on saying.
        return try sealedFields.values(of: half.uuid).allSatisfy { $0.name.field == SealedField.location.rawValue }
    }
}
