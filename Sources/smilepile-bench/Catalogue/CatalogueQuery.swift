import Foundation
import LibraryModel
import ServiceMesh

/// A question that is asked of both catalogues.
struct CatalogueQuery: Sendable {
    let name: String
    /// Seconds.
    var must: Double?
    /// Asks, and says how many it found (on its page).
    let run: @Sendable (Mesh) async throws -> Int
    /// Whether so many are right in a catalogue of so many photos.
    var isRight: @Sendable (Int, Int) -> Bool = { _, _ in true }

    private static func search(
        _ name: String, _ request: SearchPhotos, must: Double? = nil,
        isRight: @escaping @Sendable (Int, Int) -> Bool = { found, _ in found == 100 }
    ) -> CatalogueQuery {
        CatalogueQuery(
            name: name, must: must, run: { try await $0.send(request).photos.count }, isRight: isRight)
    }

    private static func date(_ part: Double) -> LocalDateTime {
        LocalDateTime(
            milliseconds: GeneratedCatalogue.firstDate + Int64(Double(GeneratedCatalogue.span) * part))
    }

    static let all: [CatalogueQuery] = [
        search("page of 100 in a category", SearchPhotos(PhotoFilter(categoryId: 5)), must: 0.002),
        search(
            "page of 100 in a category, far down",
            SearchPhotos(PhotoFilter(categoryId: 5), after: "\(date(0.2).milliseconds).7"), must: 0.002),
        search("page of 100 of all", SearchPhotos(), must: 0.002),
        search(
            "page of favourites in a category, far down",
            SearchPhotos(PhotoFilter(categoryId: 6, favoritesOnly: true), after: "\(date(0.4).milliseconds).7"),
            must: 0.002,
            isRight: { found, photos in found == 100 || photos < 200_000 }),
        search(
            "combined: text, category, dates, favourites",
            SearchPhotos(PhotoFilter(text: "MÖWE", categoryId: 7, from: date(0.1), to: date(0.6), favoritesOnly: true)),
            must: 0.05,
            isRight: { found, photos in found > 0 }),
        search(
            "combined: text, category, dates",
            SearchPhotos(PhotoFilter(text: "lumiere", categoryId: 8, from: date(0.1), to: date(0.6))), must: 0.05),
        search("text in one photo in ten", SearchPhotos(PhotoFilter(text: "kasekuchen")), must: 0.05),
        search(
            "word in one photo in ten, and a category's name",
            SearchPhotos(PhotoFilter(words: ["kasekuchen", GeneratedCatalogue.categories[7]])), must: 0.05),
        search("text in every photo", SearchPhotos(PhotoFilter(text: "img_2")), must: 0.05),
        search("text only in the oldest photos", SearchPhotos(PhotoFilter(text: "img_2005")), must: 0.05),
        search(
            "text in one photo of all", SearchPhotos(PhotoFilter(text: "ÜBERRASCHUNGSGÄSTE")), must: 0.05,
            isRight: { found, _ in found == 1 }),
        search(
            "wildcards: '100 % Café_'", SearchPhotos(PhotoFilter(text: "100 % café_")), must: 0.05,
            isRight: { found, photos in found == min(100, (photos + 9999) / 10_000) }),
        search(
            "text that is nowhere", SearchPhotos(PhotoFilter(text: "xylophonist")), must: 0.05,
            isRight: { found, _ in found == 0 }),
        search("two letters, frequent", SearchPhotos(PhotoFilter(text: "ét")), must: 0.05),
        search(
            "two letters, in one photo in ten thousand", SearchPhotos(PhotoFilter(text: "é_")), must: 0.05,
            isRight: { found, photos in found == min(100, (photos + 9999) / 10_000) }),
        search(
            "two letters that are nowhere", SearchPhotos(PhotoFilter(text: "qx")), must: 0.05,
            isRight: { found, _ in found == 0 }),
        // In one photo in ten, and in none of those asked for: words and filters that shun each other.
        search(
            "word in a tenth, none in the category", SearchPhotos(PhotoFilter(text: "schlitten", categoryId: 9)),
            must: 0.05,
            isRight: { found, _ in found == 0 }),
        search(
            "word in a tenth, none among favourites", SearchPhotos(PhotoFilter(text: "schlitten", favoritesOnly: true)),
            must: 0.05,
            isRight: { found, _ in found == 0 }),
        search(
            "word in a tenth, none in these years", SearchPhotos(PhotoFilter(text: "schlitten", from: date(0.5))),
            must: 0.05,
            isRight: { found, _ in found == 0 }),
        search(
            "one letter, none in the category", SearchPhotos(PhotoFilter(text: "海", categoryId: 9)), must: 0.05,
            isRight: { found, _ in found == 0 }),
        search(
            "one letter that is nowhere", SearchPhotos(PhotoFilter(text: "¿")), must: 0.05,
            isRight: { found, _ in found == 0 }),
        CatalogueQuery(name: "list of categories, with counts") {
            try await $0.send(ListCategories()).categories.count
        },
        CatalogueQuery(name: "status") {
            _ = try await $0.send(GetLibraryStatus()); return 1
        },
    ]
}
