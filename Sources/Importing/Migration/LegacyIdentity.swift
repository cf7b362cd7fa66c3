import AndroidDatabase
import Foundation
import LibraryServices

/// The uuids of old photos in this library.
enum LegacyIdentity {
    /// The photo's own id where it is a UUID, in lower case; else one made from what the row says, the same in every
    /// run, so that a second one finds the first one's photo again.
    static func uuid(of photo: LegacyLibrary.Photo) -> String {
        if let own = UUID(uuidString: photo.id) { return own.uuidString.lowercased() }
        return DerivedUUID.of([photo.id, photo.uri, photo.timestamp.map(String.init) ?? ""])
    }

    /// One for each photo. Ids that are alike but for case name several photos and cannot be one uuid.
    static func uuids(of photos: [LegacyLibrary.Photo]) -> [String] {
        var taken: Set<String> = []
        return photos.enumerated().map { index, photo in
            let own = uuid(of: photo)
            if taken.insert(own).inserted { return own }
            let other = DerivedUUID.of([photo.id, photo.uri, String(index)])
            taken.insert(other)
            return other
        }
    }
}
