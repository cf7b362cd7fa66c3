import Executors
import Files
import Foundation
import Imaging
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Brings the groups of one hub and this library together, once: what was left and sent here goes out, then the groups, their members
/// and their photos come in. It can be broken off anywhere and begun anew: what is done stays done, and is not done twice.
///
/// Where both have something else, the hub's is right, since it decides for all members: a photo of the day that was sent here
/// while another one was taken there is gone, and a line says so.
struct HubSync: Sendable {
    let hub: StoredGroupHub
    let link: PeerLink<any GroupRemote>
    let catalogue: any Catalogue
    let folder: GroupPhotoFolder
    let pictures: GroupPictures
    let files: BlockingPool
    let clocks: GroupTime.Clocks

    /// Photos that fail in one turn, each way; the others are left to the next. A hub that is asked for too much has one more reason
    /// to refuse.
    private static let mostFailures = 8

    /// - Parameter progressed: called after each change that somebody may look at.
    func run(job: Job?, progressed: @Sendable () async -> Void) async throws -> SyncOutcome {
        var outcome = SyncOutcome()
        let offset = GroupTime.offset(at: clocks.wall.now())
        try await tellDepartures(&outcome)
        try await takeGroups(offset, &outcome)
        await progressed()
        try await sendOut(job, &outcome, progressed)
        if outcome.isBrokenOff { return outcome }
        for group in try await groups() {
            try await takePhotos(of: group, offset, &outcome)
        }
        await progressed()
        try await fetch(job, &outcome, progressed)
        return outcome
    }

    private func groups() async throws -> [String] {
        let hub = hub.id
        return try await catalogue.read { try $0.groups.groups(nil).filter { $0.hub == hub }.map(\.id) }
    }

    private func line(_ photo: StoredGroupPhoto, _ outcome: String, _ detail: String? = nil) -> ReceiptLine {
        ReceiptLine(item: photo.id, outcome: outcome, detail: detail)
    }

    // MARK: Groups

    private func tellDepartures(_ outcome: inout SyncOutcome) async throws {
        let hub = hub.id
        for group in try await catalogue.read({ try $0.groupHubs.departures(from: hub) }) {
            do {
                try await link.ask { try await $0.leave(group) }
            } catch let error as MeshError where error.status == .notFound {
                // Out of it already.
            } catch let error as MeshError where error.status == .unauthenticated {
                // Perhaps out of all of them: the next question shows.
                continue
            } catch let declined as HubDeclined {
                outcome.meet(declined.meshError)
                continue
            }
            try await catalogue.write { try $0.groupHubs.removeDepartures([group], from: hub) }
        }
    }

    private func takeGroups(_ offset: Int, _ outcome: inout SyncOutcome) async throws {
        let sent = try await link.ask { try await $0.groups(utcOffset: offset) }
        let (hub, clocks) = (hub.id, clocks)
        let (gone, notes, lost) = try await catalogue.write { transaction in
            let all = try transaction.groups.groups(nil)
            let there = all.filter { $0.hub == hub }
            let known = Dictionary(there.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            let left = Set(try transaction.groupHubs.departures(from: hub))
            let time = try clocks.time(in: transaction)
            let now = time.wall
            let groups = try HubAnswers.groups(sent, of: hub, at: now, known: known).filter { !left.contains($0.id) }
            let gone = Set(known.keys).subtracting(groups.map(\.id))
            // As many new ones as there is room for, the first ones.
            let here = Set(all.map(\.id))
            let new = groups.filter { !here.contains($0.id) }
            let tooMany = Set(new.dropFirst(max(0, Group.maximumCount - all.count + gone.count)).map(\.id))
            let leftAlone = try transaction.groupHubs.put(groups.filter { !tooMany.contains($0.id) })
            var notes = groups.compactMap { group -> ReceiptLine? in
                let detail: String? =
                    if leftAlone.contains(group.id) {
                        "another machine keeps a group with this id"
                    } else if tooMany.contains(group.id) {
                        "there are \(Group.maximumCount) groups here, which is the most"
                    } else {
                        nil
                    }
                return detail.map { ReceiptLine(item: group.id, outcome: "refused", detail: $0) }
            }
            var (photos, lost): ([StoredGroupPhoto], [StoredGroupPhoto]) = ([], [])
            let ofGone = Dictionary(grouping: try transaction.groups.photos(of: Array(gone)), by: \.groupId)
            for group in there where gone.contains(group.id) {
                let those = ofGone[group.id] ?? []
                photos += those
                lost += those.filter { $0.transfer == .outgoing }
                let count = those.count { $0.expiresAt > time.now }
                let went = count == 0 ? "" : "; with it went \(count == 1 ? "1 photo" : "\(count) photos")"
                let detail = "'\(group.name)' is gone, or you are not in it any more\(went)"
                notes.append(ReceiptLine(item: group.id, outcome: "gone", detail: detail))
            }
            try transaction.groupHubs.noteUndelivered(lost, of: there, at: now, .groupGone)
            try transaction.groups.remove(Array(gone))
            return (photos.map(\.id), notes, lost)
        }
        outcome.lost += lost.count
        outcome.lines += lost.map { line($0, "lost", "its group is gone, or you are not in it any more") }
        outcome.lines += notes
        let refused = notes.filter { $0.outcome == "refused" }
        if let why = refused.first?.detail {
            let count = refused.count == 1 ? "1 of its groups is" : "\(refused.count) of its groups are"
            outcome.notice = "\(count) not taken: \(why)."
        }
        await remove(gone)
    }

    private func remove(_ ids: [String]) async {
        guard !ids.isEmpty else { return }
        let (files, folder) = (files, folder)
        // What stays now is met by the next sweep.
        try? await uncancelled { try await files.run { folder.remove(ids) } }
    }

    // MARK: Out

    private func sendOut(_ job: Job?, _ outcome: inout SyncOutcome, _ progressed: @Sendable () async -> Void)
        async throws
    {
        let (hub, clocks) = (hub.id, clocks)
        let (waiting, time) = try await catalogue.read { transaction in
            let groups = Set(try transaction.groups.groups(nil).filter { $0.hub == hub }.map(\.id))
            let time = try clocks.time(in: transaction)
            let photos = try transaction.groups.photos(of: nil).filter {
                $0.transfer == .outgoing && groups.contains($0.groupId) && $0.expiresAt > time.now
            }
            return (photos.sorted { $0.createdAt < $1.createdAt }, time)
        }
        if !waiting.isEmpty { job?.begin(phase: "sending", items: Int64(waiting.count)) }
        var failures = 0
        for photo in link.ordered(waiting) where failures < Self.mostFailures {
            guard try outcome.mayContinue(job) else { return }
            do {
                let answer = try await send(photo, at: time)
                try await settle(photo, answer)
                outcome.sent += 1
                outcome.lines.append(line(photo, "sent"))
            } catch {
                link.noteFailure(of: photo.id)
                let error = try Self.ofOnePhoto(error)
                if Self.isRefusal(error) {
                    try await giveUp(photo, error)
                    await remove([photo.id])
                    outcome.lost += 1
                    outcome.lines.append(line(photo, "lost", error.message))
                } else {
                    failures += 1
                    outcome.meet(error)
                }
            }
            job?.advance(items: 1)
            await progressed()
        }
    }

    private func giveUp(_ photo: StoredGroupPhoto, _ error: MeshError) async throws {
        let clocks = clocks
        let isTaken = error.status == .alreadyExists
        try await catalogue.write { transaction in
            // Whoever has left the group since has given it up themselves.
            guard let group = try transaction.groups.groups(photo.groupId).first else { return }
            try transaction.groupHubs.noteUndelivered(
                [photo], of: [group], at: clocks.wall.now(), isTaken ? .anotherPhoto : .refused,
                detail: isTaken ? nil : error.message)
            try transaction.groups.removePhotos([photo.id])
        }
    }

    /// Whether the hub has decided, so that asking again changes nothing. Whatever else goes wrong may be over tomorrow.
    private static func isRefusal(_ error: MeshError) -> Bool {
        [.alreadyExists, .notFound, .invalidArgument].contains(error.status)
    }

    /// What went wrong with one photo, and must not keep the others waiting.
    /// - Throws: what is wrong with the hub, or the way to it; `CancellationError`.
    private static func ofOnePhoto(_ error: any Error) throws -> MeshError {
        if let declined = error as? HubDeclined { return declined.meshError }
        let described = MeshError(describing: error)
        let isOfHub = [.unauthenticated, .permissionDenied, .cancelled].contains(described.status)
        guard !(error is CancellationError), !(error is CircuitOpen), !described.isRetryable, !isOfHub else {
            throw error
        }
        return described
    }

    private func send(_ photo: StoredGroupPhoto, at time: GroupTime) async throws -> HubPhoto {
        let folder = folder
        let content: OwnedFile
        do {
            content = try await files.run { try folder.open(photo.id) }
        } catch let failure as FileSystem.Failure where failure.code == ENOENT {
            throw MeshError(.notFound, "Its picture is gone from this machine.")
        }
        let lifetime = Int64(GroupPhoto.lifetimeHours) * 3_600_000
        // By the clock that nobody can set back.
        let age = lifetime - (photo.expiresAt.milliseconds - time.now.milliseconds)
        let outgoing = OutgoingPhoto(
            id: photo.id, groupId: photo.groupId, ageMs: min(max(0, age), lifetime), utcOffset: photo.utcOffset,
            size: photo.fileSize)
        return try await link.ask { try await $0.send(outgoing, content) }
    }

    /// It is there: from now on it is what the hub says.
    private func settle(_ photo: StoredGroupPhoto, _ answer: HubPhoto) async throws {
        let isStale = try await catalogue.write { transaction -> Bool in
            guard let stored = try transaction.groups.photo(photo.id), stored.transfer == .outgoing else {
                return false
            }
            guard var accepted = try HubAnswers.accepted(answer, stored) else {
                try transaction.groups.removePhotos([stored.id])
                return true
            }
            // Another one that waits may have that day here.
            let isTaken = try transaction.groups.photos(of: stored.groupId).contains {
                $0.id != stored.id && $0.senderId == stored.senderId && $0.day == accepted.day
            }
            if isTaken { accepted.day = stored.day }
            try transaction.groups.update(accepted)
            return false
        }
        if isStale { await remove([photo.id]) }
    }

    // MARK: In

    private func takePhotos(of group: String, _ offset: Int, _ outcome: inout SyncOutcome) async throws {
        let answer: (photos: [HubPhoto], time: Timestamp?)
        do {
            answer = try await link.ask { try await $0.photos(of: group, utcOffset: offset) }
        } catch let error as MeshError where error.status == .notFound {
            // Gone since the groups were told; the next time it is not among them.
            return
        } catch let declined as HubDeclined {
            return outcome.meet(declined.meshError)
        }
        let clocks = clocks
        let replaced = try await catalogue.write { transaction -> [StoredGroupPhoto] in
            guard let stored = try transaction.groups.groups(group).first else { return [] }
            let time = try clocks.time(in: transaction)
            let told = try HubAnswers.photos(
                answer.photos, of: group, at: time, there: answer.time, offset: offset)
            var there = try transaction.groups.photos(of: group)
            let known = Set(there.map(\.id))
            let tellsOf = Set(told.map(\.id))
            var entered = try transaction.groups.photoIDs()
            var replaced: [StoredGroupPhoto] = []
            for var photo in told.sorted(by: { $0.createdAt < $1.createdAt }) where !known.contains(photo.id) {
                // Another hub's photo with this id, or ours, is not touched by what this one says.
                guard !entered.contains(photo.id) else { continue }
                func other(on day: Int64) -> StoredGroupPhoto? {
                    there.first { $0.senderId == photo.senderId && $0.day == day }
                }
                // A hub that does not say the day has two that are of two days on the sender's calendar, and of one on ours.
                let days = [photo.day, photo.day + 1, photo.day - 1]
                guard let day = days.first(where: { other(on: $0).map { !tellsOf.contains($0.id) } ?? true }) else {
                    continue
                }
                // One photo of a day: the one that the hub has. What was sent here since it was asked is decided when it is sent.
                if let other = other(on: day) {
                    if other.transfer == .outgoing { continue }
                    replaced.append(other)
                    there.removeAll { $0.id == other.id }
                    try transaction.groups.removePhotos([other.id])
                }
                // What it once told and does not any more counts too, until it expires.
                guard there.count < StoredGroup.maximumPhotos else { break }
                photo.day = day
                try transaction.groups.insert(photo)
                entered.insert(photo.id)
                there.append(photo)
                try transaction.groups.setTime(time.reading)
            }
            try transaction.groupHubs.noteUndelivered(replaced, of: [stored], at: time.wall, .anotherPhoto)
            return replaced
        }
        outcome.lines += replaced.map { line($0, "replaced", "the other machine has another photo of that day") }
        await remove(replaced.map(\.id))
    }

    private func fetch(_ job: Job?, _ outcome: inout SyncOutcome, _ progressed: @Sendable () async -> Void) async throws
    {
        let (hub, clocks) = (hub.id, clocks)
        let missing = try await catalogue.read { transaction in
            let groups = Set(try transaction.groups.groups(nil).filter { $0.hub == hub }.map(\.id))
            let now = try clocks.time(in: transaction).now
            return try transaction.groups.photos(of: nil).filter {
                $0.transfer == .incoming && groups.contains($0.groupId) && $0.expiresAt > now
            }
        }
        if !missing.isEmpty { job?.begin(phase: "fetching", items: Int64(missing.count)) }
        var failures = 0
        for photo in link.ordered(missing) where failures < Self.mostFailures {
            guard try outcome.mayContinue(job) else { return }
            do {
                try await fetch(photo)
                outcome.fetched += 1
                outcome.lines.append(line(photo, "fetched"))
            } catch {
                link.noteFailure(of: photo.id)
                let error = try Self.ofOnePhoto(error)
                if Self.isRefusal(error) || error.shortage == .size {
                    // Said once; it stays in the list without a picture until it expires.
                    try await catalogue.write { transaction in
                        guard var stored = try transaction.groups.photo(photo.id) else { return }
                        stored.transfer = .none
                        try transaction.groups.update(stored)
                    }
                    outcome.lines.append(line(photo, "unfetched", error.message))
                } else {
                    failures += 1
                    outcome.meet(error)
                }
            }
            job?.advance(items: 1)
            await progressed()
        }
    }

    /// Row first here, and then the file: without the row a sweep would take the file for nobody's.
    private func fetch(_ photo: StoredGroupPhoto) async throws {
        let folder = folder
        let received = try await files.run {
            try GroupPictures.requireRoom(folder)
            // What a kill has left of an earlier try.
            folder.remove([photo.id])
            return try folder.temporary()
        }
        let asked = HubPhoto(
            id: photo.id, groupId: photo.groupId, senderId: photo.senderId, senderName: photo.senderName,
            url: photo.url, createdAt: photo.createdAt, expiresAt: photo.expiresAt)
        try await link.ask { try await $0.fetch(asked, into: received) }
        let made: BarePicture
        do throws(GroupPictures.Failure) {
            made = try await pictures.make(of: received, for: photo.id)
        } catch {
            await remove([photo.id])
            throw error.ofReceivedFile
        }
        let isThere = try await catalogue.write { transaction in
            guard var stored = try transaction.groups.photo(photo.id) else { return false }
            (stored.width, stored.height, stored.fileSize) = (made.width, made.height, made.fileSize)
            (stored.hasFile, stored.transfer) = (true, .none)
            try transaction.groups.update(stored)
            return true
        }
        if !isThere { await remove([photo.id]) }
    }
}
