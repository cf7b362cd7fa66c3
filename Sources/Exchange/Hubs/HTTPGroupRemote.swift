import Foundation
import HTTPClient
import LibraryModel
import ServiceMesh

/// A hub over HTTP, as dayly-data-layer.md's phone app speaks to its server.
package final class HTTPGroupRemote: GroupRemote {
    /// Bytes of an answer that is no picture.
    private static let answerBytes = 1 << 20
    private let base: HTTPURL
    private let token: HTTPHeader
    private let client: HTTPClient
    private let questionTime: Duration
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
        base = try HTTPURL(address.text)
        self.token = try HTTPHeader("Authorization", "Bearer " + token)
        client = try HTTPClient(authorities: authorities)
        (self.questionTime, self.pictureTime) = (questionTime, pictureTime)
    }

    package func close() async { await client.stop() }

    // MARK: Questions

    package func groups(utcOffset: Int) async throws -> [HubGroup] {
        let url = try base.appending(["api", "groups"], query: [("utc_offset", String(utcOffset))])
        let answer = try await ask(.get(url, headers: [token]))
        // The phone app's server has an array; others name it.
        if let list = try? decoder.decode([HubGroup].self, from: answer.data) { return list }
        return try decode(HubGroupList.self, answer).groups
    }

    package func photos(of group: String, utcOffset: Int) async throws -> (photos: [HubPhoto], time: Timestamp?) {
        let url = try base.appending(
            ["api", "photos", group, "today"], query: [("utc_offset", String(utcOffset)), ("unexpired", "1")])
        let answer = try await ask(.get(url, headers: [token]), of: .part)
        let photos =
            if let list = try? decoder.decode([HubPhoto].self, from: answer.data) {
                list
            } else {
                try decode(HubPhotoList.self, answer).photos
            }
        return (photos, answer.date.map(Timestamp.init(milliseconds:)))
    }

    package func fetch(_ photo: HubPhoto, into file: OwnedFile) async throws {
        let request = HTTPRequest.get(try place(of: photo), headers: [token])
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
        let answer = try await client.send(
            request, receiving: .file(file, atMost: GroupPhoto.maximumBytes, from: offset), within: pictureTime)
        // 416: the file ended where we are.
        if answer.status == 416, offset > 0 { throw HTTPClientError.cannotResume }
        try Self.require(answer, of: .picture)
    }

    /// Where a photo's picture is: on the hub and nowhere else, because the token goes along, and because a hub has no say in
    /// which other machines this one asks. One behind a proxy may not know under which address it is reached, and is asked under ours.
    private func place(of photo: HubPhoto) throws -> HTTPURL {
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
        let url = try base.appending(["api", "photos", photo.groupId])
        var fields = [try FormField("age_ms", String(photo.ageMs))]
        if let offset = photo.utcOffset { fields.append(try FormField("utc_offset", String(offset))) }
        let file = try FormFile(
            "photo", fileName: photo.id + ".jpg", type: .jpeg, file: content, count: photo.size)
        let request = HTTPRequest.post(
            url, body: .form(fields, file: file), headers: [token, try HTTPHeader("Idempotency-Key", photo.id)])
        let answer = try await client.send(
            request, receiving: .memory(atMost: Self.answerBytes), within: pictureTime)
        try Self.require(answer, of: .part)
        return try decode(HubPhoto.self, answer)
    }

    package func leave(_ group: String) async throws {
        let url = try base.appending(["api", "groups", group, "members", "me"])
        _ = try await ask(.delete(url, headers: [token]), of: .part)
    }

    // MARK: Answers

    private var decoder: JSONDecoder { JSONDecoder() }

    private func ask(_ request: HTTPRequest, of subject: Subject = .hub) async throws -> HTTPResponse {
        let answer = try await client.send(
            request, receiving: .memory(atMost: Self.answerBytes), within: questionTime)
        try Self.require(answer, of: subject)
        return answer
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ answer: HTTPResponse) throws -> Value {
        do {
            return try decoder.decode(type, from: answer.data)
        } catch {
            throw Self.stranger
        }
    }

    /// Not `unavailable`: it answers, and will not answer otherwise in a second.
    static let stranger = MeshError(
        .failedPrecondition,
        "What answers at this address is no SmilePile that lets others in. Check the address, and what stands in front of it."
    )

    /// What an answer is about.
    enum Subject {
        /// Everything: without it there is nothing to go on with.
        case hub
        /// One group or photo. Who says in a hub's way that it cannot be had now is the hub, which may have the others.
        case part
        /// A photo's picture, which a hub may keep elsewhere than all else: whatever is wrong there says nothing of the others.
        case picture
    }

    static func require(_ answer: HTTPResponse, of subject: Subject = .hub) throws {
        if answer.isSuccess {
            // Of a network that one has to sign in to, which says so to everything. No worker has to find out that it is no
            // picture, which would be for good.
            let type = answer.headers.first { $0.name == "content-type" }?.value.lowercased()
            guard type?.hasPrefix("text/html") == true else { return }
            if subject == .picture { throw HubDeclined(stranger) }
            throw stranger
        }
        let status = (try? JSONDecoder().decode(Refused.self, from: answer.data))?.error.data.status
        let refusal = refusal(answer.status, status.flatMap(MeshStatus.init(rawValue:)))
        if subject == .picture && refusal.status == .permissionDenied { throw HubDeclined(stranger) }
        if refusal.isRetryable && (subject == .picture || subject == .part && status != nil) {
            throw HubDeclined(refusal)
        }
        throw refusal
    }

    /// Whoever refuses has to be the hub, by how it says so: a proxy in front of it, or a router's page, answers with the
    /// same numbers, and what waits here must not get lost for that.
    private static func refusal(_ number: Int, _ status: MeshStatus?) -> MeshError {
        switch (number, status) {
        case (401, .unauthenticated):
            MeshError(
                .unauthenticated,
                "The other machine does not know this token, or not any more. Ask for a new invitation.")
        case (401, _):
            MeshError(
                .permissionDenied,
                "The other machine, or what stands in front of it, does not let this one in. Ask for a new invitation."
            )
        case (404, .notFound): MeshError(.notFound, "The other machine does not have it, or not any more.")
        case (409, .alreadyExists): MeshError(.alreadyExists, "Another photo of that day was there before.")
        case (400, .invalidArgument), (413, _?), (415, .invalidArgument):
            MeshError(.invalidArgument, "The other machine does not take it (\(number)).")
        case (408, _), (409, _?), (429, _), (500...599, _):
            MeshError(.unavailable, "The other machine cannot do it now (\(number)). It is tried again.")
        default: stranger
        }
    }

    private struct Refused: Decodable {
        struct Problem: Decodable {
            struct Details: Decodable {
                let status: String
            }
            let data: Details
        }
        let error: Problem
    }
}
