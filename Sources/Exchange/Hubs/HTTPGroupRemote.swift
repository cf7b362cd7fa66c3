import Foundation
import HTTPClient
import LibraryModel
import ServiceMesh

/// A hub over HTTP, as dayly-data-layer.md's phone app speaks to its server.
package final class HTTPGroupRemote: GroupRemote {
    private let http: PeerHTTP
    private let pictureTime: Duration

    /// - Parameters:
    ///   - authorities: a file of certificates (PEM) that are trusted in place of the machine's.
    ///   - questionTime: for an answer that is no picture.
    ///   - pictureTime: for a picture, either way.
    /// - Throws: `invalid_argument` for a token that no header can have.
    package init(
        _ address: HubAddress, token: String, authorities: String? = nil, questionTime: Duration = .seconds(30),
        pictureTime: Duration = .seconds(180)
    ) throws {
        http = try PeerHTTP(address, token: token, authorities: authorities, questionTime: questionTime)
        self.pictureTime = pictureTime
    }

    package func close() async { await http.client.stop() }

    // MARK: Questions

    package func groups(utcOffset: Int) async throws -> [HubGroup] {
        let url = try http.base.appending(["api", "groups"], query: [("utc_offset", String(utcOffset))])
        let answer = try await http.ask(.get(url, headers: [http.token]))
        // The phone app's server has an array; others name it.
        if let list = try? JSONDecoder().decode([HubGroup].self, from: answer.data) { return list }
        return try http.decode(HubGroupList.self, answer).groups
    }

    package func photos(of group: String, utcOffset: Int) async throws -> (photos: [HubPhoto], time: Timestamp?) {
        let url = try http.base.appending(
            ["api", "photos", group, "today"], query: [("utc_offset", String(utcOffset)), ("unexpired", "1")])
        let answer = try await http.ask(.get(url, headers: [http.token]), of: .part)
        let photos =
            if let list = try? JSONDecoder().decode([HubPhoto].self, from: answer.data) {
                list
            } else {
                try http.decode(HubPhotoList.self, answer).photos
            }
        return (photos, answer.date.map(Timestamp.init(milliseconds:)))
    }

    package func fetch(_ photo: HubPhoto, into file: OwnedFile) async throws {
        let request = HTTPRequest.get(try place(of: photo), headers: [http.token])
        var status = stat()
        guard file.withDescriptor({ fstat($0, &status) }) == 0 else { throw HTTPClientError.disk(errno) }
        var there = Int64(status.st_size)
        // Nothing is left to ask for where only the answer's end was missing.
        if there >= GroupPhoto.maximumBytes { there = 0 }
        do {
            try await receive(request, file, from: there)
        } catch HTTPClientError.cannotResume {
            try await receive(request, file, from: 0)
        }
    }

    private func receive(_ request: HTTPRequest, _ file: OwnedFile, from offset: Int64) async throws {
        let answer = try await http.client.send(
            request, receiving: .file(file, atMost: GroupPhoto.maximumBytes, from: offset), within: pictureTime)
        // 416: the file ended where we are.
        if answer.status == 416, offset > 0 { throw HTTPClientError.cannotResume }
        try PeerHTTP.require(answer, of: .picture)
    }

    /// Where a photo's picture is: on the hub and nowhere else, because the token goes along, and because a hub has no say in
    /// which other machines this one asks. One behind a proxy may not know under which address it is reached, and is asked under ours.
    private func place(of photo: HubPhoto) throws -> HTTPURL {
        let base = http.base
        if let url = photo.url.flatMap({ try? HTTPURL($0) }), url.scheme == base.scheme, url.host == base.host,
            url.port == base.port, Self.path(of: url).hasPrefix(Self.path(of: base))
        {
            return url
        }
        return try base.appending(["api", "photos", photo.groupId, photo.id])
    }

    private static func path(of url: HTTPURL) -> Substring {
        url.text.dropFirst(url.scheme.count + 3).drop { $0 != "/" }
    }

    package func send(_ photo: OutgoingPhoto, _ content: OwnedFile) async throws -> HubPhoto {
        let url = try http.base.appending(["api", "photos", photo.groupId])
        var fields = [try FormField("age_ms", String(photo.ageMs))]
        if let offset = photo.utcOffset { fields.append(try FormField("utc_offset", String(offset))) }
        let file = try FormFile(
            "photo", fileName: photo.id + ".jpg", type: .jpeg, file: content, count: photo.size)
        let request = HTTPRequest.post(
            url, body: .form(fields, file: file), headers: [http.token, try HTTPHeader("Idempotency-Key", photo.id)])
        let answer = try await http.client.send(
            request, receiving: .memory(atMost: PeerHTTP.answerBytes), within: pictureTime)
        try PeerHTTP.require(answer, of: .part)
        return try http.decode(HubPhoto.self, answer)
    }

    package func leave(_ group: String) async throws {
        let url = try http.base.appending(["api", "groups", group, "members", "me"])
        _ = try await http.ask(.delete(url, headers: [http.token]), of: .part)
    }
}
