import Foundation
import LibraryModel
@testable import Exchange
import LibraryStorage
import ServiceMesh
import ServiceMeshTesting
import Synchronization
import ZipArchive

extension SimulatedNeighbour {
    static let home = "http://127.0.0.1:1"
    /// Whoever is there says nothing at times.
    static let silent = "http://127.0.0.1:2"

    private static func digest(_ photo: Int) -> String { ContentDigest(of: Data("photo \(photo)".utf8)).sha256.hex }

    /// Photos with the ids from 1 on. Their contents are the same in every library, and their uuids are this one's.
    func addPhotos(_ count: Int, of library: Int) async throws {
        let photos = (1...count).map { number in
            let uuid = "0b1c2d3e-0000-4000-8000-0000000\(library)000\(number)"
            return Photo(
                id: Int64(number), uuid: uuid, path: "photos/IMG_20260101_000000_0000000\(number).jpg", categoryId: 1,
                name: "photo \(number)", caption: nil, isFromAssets: false, createdAt: Timestamp(milliseconds: 0),
                fileSize: 7, width: 1, height: 1, isFavorite: false, takenAt: nil,
                contentDigest: Self.digest(number), mediaType: "image/jpeg")
        }
        _ = try await send(
            AddPhotos(
                photos: photos.map { SourcedPhoto(photo: $0, sourceDigest: $0.contentDigest, sourceSize: 7) }))
    }

    func syncReviews(with machine: String? = nil) async throws -> (ReviewSyncReceipt, [ReceiptLine]) {
        let started = try await send(SyncReviews(machineId: machine))
        let end = try await send(WaitForJob(job: started.job))
        let receipt = try JSONDecoder().decode(ReviewSyncReceipt.self, from: JSONEncoder().encode(end.receipt))
        return (receipt, try await send(GetJobReceipt(job: started.job)).lines)
    }

    static func identity(_ action: PhotoAction) -> String {
        "\(action.contentDigest) at \(action.timestamp) in \(action.sessionID): \(action.action)"
    }

    /// What all should have the same of.
    func reviews() async throws -> (sessions: Set<String>, decisions: [String: PhotoAction]) {
        let sessions = try await send(ListSwipeSessions(limit: 1000)).sessions.map {
            "\($0.sessionID) from \($0.startTime) to \($0.endTime?.description ?? "-")"
        }
        let actions = try await send(ListSwipeHistory(limit: 1000)).actions
        return (Set(sessions), Dictionary(actions.map { (Self.identity($0), $0) }) { first, _ in first })
    }

    /// A photo says what was decided last about what it shows.
    func checkLastDecisions() async throws {
        let decisions = try await send(ListSwipeHistory(limit: 1000)).actions
        for photo in try await send(SearchPhotos(limit: 1000)).photos {
            let last = decisions.filter { $0.contentDigest == photo.contentDigest }.max {
                ($0.timestamp, $0.sessionID, $0.action.rawValue) < ($1.timestamp, $1.sessionID, $1.action.rawValue)
            }
            guard photo.lastDecision == last?.action else {
                throw BrokenRule(
                    "'\(photo.name)' says \(String(describing: photo.lastDecision)), and last was decided "
                        + (last.map(Self.identity) ?? "nothing"))
            }
        }
    }
}

struct SimulatedReviewRemote: ReviewRemote {
    let network: SimulatedNetwork
    let address: HubAddress
    let token: String

    private func wait() async throws {
        guard address.text == SimulatedNeighbour.silent, network.isSilent.withLock({ $0 }) else { return }
        try await network.simulation.clock.sleep(for: .seconds(86_400))
    }

    func changes(after cursor: String) async throws -> ReviewChanges {
        try await wait()
        return try await network.carry { hub in
            try await hub.send(ListHubReviews(token: token, after: cursor.isEmpty ? nil : cursor))
        }
    }

    func take(_ changes: ReviewChanges) async throws {
        try await wait()
        let isLost = network.losesUpdates && network.simulation.oneIn(4)
        _ = try await network.carry { hub in
            isLost ? .none : try await hub.send(TakeHubReviews(token: token, changes: changes))
        }
    }

    func close() async {}
}
