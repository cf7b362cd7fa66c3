import BenchSupport
import Foundation
import LibraryModel

/// Thumbnails a second over HTTP by `wrk`, beside nginx with the same files.
enum ThumbnailRate {
    /// Different ones that are asked for, in turn.
    private static let pictures = 2000
    private static let seconds = 5
    private static let connections = 16
    private static let must = 0.5

    /// - Parameter cookie: of a paired browser.
    static func figures(_ programs: WebPrograms, _ cookie: String, in work: WorkFolder) async throws -> [Figure] {
        let what = "thumbnails a second, \(connections) connections"
        guard Tool.wrk.path != nil else { return [.missing(what, ours: "not measured", .wrk)] }
        note("web: thumbnails a second")
        let photos = try await newest(programs)
        let our = try Wrk(
            programs.address, photos.map { "/photos/\($0.uuid)/thumbnail?v=\($0.contentDigest)" },
            connections: connections, seconds: seconds, header: "Cookie: " + cookie, in: work)
        guard Tool.nginx.path != nil else {
            let rate = try our.run(in: work).perSecond
            return [.missing(what, ours: Format.rate(rate, "pictures"), .nginx, must: Format.ratio(must))]
        }
        let server = try Nginx(root: programs.library.path, in: work)
        defer { server.stop() }
        let their = try Wrk(
            server.address, photos.map { "/" + $0.thumbnailPath }, connections: connections, seconds: seconds, in: work)
        let rates = try await Measuring.interleaved(
            runs: 3, [{ try our.run(in: work).perSecond }, { try their.run(in: work).perSecond }])
        let ratio = rates[0] / rates[1]
        return [
            Figure(
                what, ours: Format.rate(rates[0], "pictures"), peer: Format.rate(rates[1], "pictures"),
                command: "nginx -c nginx.conf & \(their); nginx.conf: \(server.configuration)",
                ratio: ratio, must: "\(Format.ratio(must)), aim 1.00x", holds: ratio >= must)
        ]
    }

    private static func newest(_ programs: WebPrograms) async throws -> [Photo] {
        let client = try programs.client()
        var photos: [Photo] = []
        var next: String?
        repeat {
            let page = try await client.call(SearchPhotos(limit: 1000, after: next))
            photos += page.photos
            next = page.next
        } while next != nil && photos.count < pictures
        return photos
    }
}
