import LibraryModel
import LibraryStorage
import ServiceMesh

/// Whether a picture and a film are one photo that moves, where the camera (Apple's) has written two files.
///
/// By what it wrote into both. Where one of them has lost that, as programs that save a picture anew let it be lost, by name and time:
/// the same name before the ending, and camera's clocks within two seconds, which both files themselves say. Times of files and
/// dates out of names count for nothing here: of a folder that was copied all are the same.
enum PhotoPair {
    /// Milliseconds. Apple's films have three seconds; one of minutes that says it belongs to a picture lies, and stays a film.
    private static let longestFilm: Int64 = 10_000
    /// Where name and time alone say it.
    private static let longestUnsigned: Int64 = 5_000
    /// Between the two clocks.
    private static let longestGap: Int64 = 2_000

    static func isOne(picture: Photo, film: Photo) -> Bool {
        guard picture.kind == nil, film.isFilm, let duration = film.duration, duration <= longestFilm else {
            return false
        }
        if let own = picture.contentIdentifier, let other = film.contentIdentifier { return own == other }
        guard duration <= longestUnsigned, hasName(picture, among: pictureEndings), hasName(film, among: filmEndings),
            isSameName(picture, film), let first = clock(of: picture), let second = clock(of: film)
        else { return false }
        return abs(first - second) <= longestGap
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
    static func query(of photo: Photo) -> PairQuery {
        let clock = clock(of: photo)
        return PairQuery(
            areFilms: !photo.isFilm, identifier: photo.contentIdentifier, stem: photo.sourceName.map(stem),
            clocks: clock.map { $0 - longestGap...$0 + longestGap })
    }

    private static let pictureEndings: Set = ["heic", "heif", "jpg", "jpeg"]
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

extension CatalogueTransaction {
    /// The other half of a photo, as ``FindOtherHalf`` says. A film that somebody has said something of, or put elsewhere, is no half.
    func otherHalf(of photo: Photo) throws -> Photo? {
        func others(_ photo: Photo) throws -> [Photo] {
            try photos.pairCandidates(PhotoPair.query(of: photo)).filter { $0.uuid != photo.uuid }
        }
        guard !photo.isFilm else { return PhotoPair.picture(of: photo, among: try others(photo)) }
        guard photo.kind == nil, let film = PhotoPair.film(of: photo, among: try others(photo)),
            // Two that claim one film: unless one is called like it, nobody can tell which tells the truth.
            PhotoPair.picture(of: film, among: try others(film) + [photo])?.uuid == photo.uuid,
            try isUntouched(film, beside: photo)
        else { return nil }
        return film
    }

    private func isUntouched(_ film: Photo, beside photo: Photo) throws -> Bool {
        guard film.name == film.sourceName.map(PhotoPair.stem), film.caption == nil || film.caption == photo.caption,
            !film.isFavorite, film.categoryId == photo.categoryId, film.lastDecision == nil, film.dateSource != .person,
            film.sidecars.isEmpty, film.originalPath != nil
        else { return false }
        // Where it was taken the film said itself, and goes on saying.
        return try sealedFields.values(of: film.uuid).allSatisfy { $0.name.field == SealedField.location.rawValue }
    }
}
