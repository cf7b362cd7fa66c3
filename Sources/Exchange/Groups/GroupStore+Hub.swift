import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh
import ZipArchive

/// A file that a member of another machine writes a picture into.
struct ReceivedPicture: Sendable {
    let id: String
    let userId: String
    /// On the clock of the machine's start.
    let end: Int64
    let intake: BoundedIntake?
}

/// Being the hub: what members of groups that are kept here ask from their own machines, by their tokens. Everything that they
/// say is hostile until it is checked, their pictures most of all.
extension GroupStore {
    private static let day: Int64 = 86_400_000
    private static let lifetime = Int64(GroupPhoto.lifetimeHours) * 3_600_000

    /// Whose token it is.
    /// - Throws: `unauthenticated`, whatever is wrong with it.
    private static func person(_ token: String, _ transaction: any CatalogueTransaction) throws -> String {
        guard let secret = BearerSecret(token, bytes: tokenBytes),
            let user = try transaction.groups.person(token: secret.digest)
        else {
            throw MeshError(.unauthenticated, "This token is not valid, or not any more. Ask for a new invitation.")
        }
        return user
    }

    /// A group that is kept here, and its member whose token it is.
    /// - Throws: `unauthenticated`; `not_found` for a group of others too.
    private static func membership(
        _ token: String, in id: String, _ transaction: any CatalogueTransaction
    ) throws -> (group: StoredGroup, member: GroupMember) {
        let user = try person(token, transaction)
        guard let group = try transaction.groups.groups(id).first, group.hub == nil,
            let member = group.members.first(where: { $0.userId == user })
        else { throw CatalogueError.noGroup(id) }
        return (group, member)
    }

    // MARK: Looking

    func hubGroups(_ request: ListHubGroups) async throws -> HubGroupList {
        let (offset, clocks) = (try GroupTime.validated(offset: request.utcOffset), clocks)
        return try await catalogue.read { transaction in
            let user = try Self.person(request.token, transaction)
            let time = try clocks.time(in: transaction)
            let today = GroupTime.day(of: time.wall, offset: offset)
            let groups = try transaction.groups.groups(nil).filter { group in
                group.hub == nil && group.members.contains { $0.userId == user }
            }
            let living = try transaction.groups.photos(of: groups.map(\.id)).filter { $0.expiresAt > time.now }
            let sent = Dictionary(grouping: living, by: \.groupId)
            return HubGroupList(
                groups: groups.map { group in
                    let photos = sent[group.id] ?? []
                    return HubGroup(
                        id: group.id, name: group.name, memberCount: group.members.count,
                        members: group.members.map {
                            .init(id: $0.userId, firstName: $0.firstName, joinedAt: $0.joinedAt)
                        },
                        lastPhoto: photos.first.map { .init(timestamp: $0.createdAt, senderId: $0.senderId) },
                        hasSentToday: photos.contains { $0.senderId == user && $0.day >= today }, memberId: user,
                        createdAt: group.createdAt)
                })
        }
    }

    func hubPhotos(_ request: ListHubPhotos) async throws -> HubPhotoList {
        let (offset, clocks) = (try GroupTime.validated(offset: request.utcOffset), clocks)
        let id = request.groupId.lowercased()
        return try await catalogue.read { transaction in
            _ = try Self.membership(request.token, in: id, transaction)
            let time = try clocks.time(in: transaction)
            let midnight = GroupTime.midnight(before: time.wall, offset: offset)
            let photos = try transaction.groups.photos(of: id).filter { photo in
                photo.expiresAt > time.now && (request.unexpired == true || photo.createdAt >= midnight)
            }
            return HubPhotoList(photos: photos.map { HubPhoto($0, at: time) })
        }
    }

    func openForMember(_ request: OpenHubPhoto) async throws -> OpenedGroupPhoto {
        let id = request.photoId.lowercased()
        try await catalogue.read { transaction in
            // The token first: nobody learns without one which photos there are.
            _ = try Self.person(request.token, transaction)
            guard let photo = try transaction.groups.photo(id) else { throw Self.gone(id) }
            do {
                _ = try Self.membership(request.token, in: photo.groupId, transaction)
            } catch CatalogueError.noGroup {
                throw Self.gone(id)
            }
        }
        return try await open(id)
    }

    // MARK: Sending

    func receive(_ request: ReceiveHubPhoto) async throws -> OpenedHubUpload {
        let (group, clocks) = (request.groupId.lowercased(), clocks)
        let user = try await catalogue.read { try Self.membership(request.token, in: group, $0).member.userId }
        guard (1...GroupPhoto.maximumBytes).contains(request.size) else {
            throw MeshError(
                short: .size,
                "A picture for a group has 1 byte to \(GroupPhoto.maximumBytes >> 20) MiB. Make it smaller first.")
        }
        let id = UUID().uuidString.lowercased()
        let now = clocks.boot.now().milliseconds
        await giveUpOldUploads()
        // Nobody's are given up for somebody who begins many.
        await giveUp(Array(received.filter { $0.userId == user }.dropLast(ReceiveHubPhoto.maximumCountOfOne - 1)))
        await giveUp(Array(received.dropLast(ReceiveHubPhoto.maximumCount - 1)))
        let (files, folder) = (files, folder)
        unsettled.insert(id)
        do {
            let file = try await files.run {
                try GroupPictures.requireRoom(folder)
                return try folder.begin(id)
            }
            // A program that asks for a member is held to what was announced.
            var (intake, content): (BoundedIntake?, OwnedFile) = (nil, file)
            if CallContext.current?.isFromAfar ?? false {
                (intake, content) = try BoundedIntake.begin(into: file, most: request.size) {
                    (try? GroupPictures.requireRoom(folder)) != nil
                }
            }
            let end = now + Int64(ReceiveHubPhoto.validMinutes) * 60_000
            received.append(ReceivedPicture(id: id, userId: user, end: end, intake: intake))
            return OpenedHubUpload(upload: id, content: content)
        } catch {
            await giveUp([ReceivedPicture(id: id, userId: user, end: now, intake: nil)])
            throw error
        }
    }

    /// Those that their senders have not sent in time.
    func giveUpOldUploads() async {
        let now = clocks.boot.now().milliseconds
        await giveUp(received.filter { $0.end <= now })
    }

    /// Removes files that nobody will send.
    private func giveUp(_ pictures: [ReceivedPicture]) async {
        guard !pictures.isEmpty else { return }
        let ids = Set(pictures.map(\.id))
        received.removeAll { ids.contains($0.id) }
        let (files, folder) = (files, folder)
        try? await uncancelled { try await files.run { folder.remove(Array(ids)) } }
        unsettled.subtract(ids)
    }

    func sendReceived(_ request: SendHubPhoto) async throws -> HubPhoto {
        let group = request.groupId.lowercased()
        let offset = try GroupTime.validated(offset: request.utcOffset)
        let age = request.ageMs ?? 0
        guard (0...Self.lifetime).contains(age) else {
            throw MeshError(
                .invalidArgument,
                "A photo can be sent for \(GroupPhoto.lifetimeHours) hours after it was made: 'ageMs' is 0 to \(Self.lifetime)."
            )
        }
        let user = try await catalogue.read { try Self.membership(request.token, in: group, $0).member.userId }
        try await correctDays()
        let id = try Self.photoID(key: request.key, of: user)
        guard let upload = received.first(where: { $0.id == request.upload.lowercased() && $0.userId == user }) else {
            // Its first try may have come through, and only the answer not.
            if let photo = try await sentAlready(id, request.token, group) { return photo }
            // Not `not_found`, which says of the group or its member that all is over.
            throw MeshError(.unavailable, "There is no such upload, or not any more. Send the picture once more.")
        }
        // Nobody else's from here on.
        received.removeAll { $0.id == upload.id }
        do {
            try await files.run { upload.intake?.end() }
            let sent = try await inTurn(of: group) {
                try await self.sendReceived(upload.id, as: id, request.token, group, offset: offset, age: age)
            }
            await giveUp([upload])
            guard let photo = try await sentAlready(sent.id, request.token, group) else { throw Self.gone(sent.id) }
            return photo
        } catch {
            await giveUp([upload])
            throw error
        }
    }

    private func sendReceived(
        _ upload: String, as id: String, _ token: String, _ group: String, offset: Int?, age: Int64
    ) async throws -> GroupPhoto {
        let clocks = clocks
        let there = try await catalogue.read { transaction -> GroupPhoto? in
            let time = try clocks.time(in: transaction)
            if let sent = try Self.sent(id, token, group, transaction) { return GroupPhoto(sent, at: time) }
            _ = try Self.place(token, group, at: time, offset, age, transaction)
            return nil
        }
        if let there { return there }
        // The same key may be on its way to another group; the file of who comes first must not be taken for this one's.
        guard unsettled.insert(id).inserted else {
            throw MeshError(.unavailable, "A photo with this key is being taken in. Send it once more in a moment.")
        }
        defer { unsettled.remove(id) }
        let (files, folder) = (files, folder)
        do {
            let source = try await files.run { try folder.openPart(upload) }
            let made: BarePicture
            do throws(GroupPictures.Failure) {
                made = try await pictures.make(of: source, for: id)
            } catch {
                throw error.ofReceivedFile
            }
            return try await catalogue.write { transaction in
                // All of it may have changed meanwhile.
                let time = try clocks.time(in: transaction)
                let place = try Self.place(token, group, at: time, offset, age, transaction)
                let stored = StoredGroupPhoto(
                    id: id, groupId: group, senderId: place.member.userId, senderName: place.member.firstName,
                    day: place.day, width: made.width, height: made.height, fileSize: made.fileSize,
                    createdAt: place.createdAt,
                    expiresAt: Timestamp(milliseconds: time.now.milliseconds - age + Self.lifetime),
                    lastUsedAt: time.now)
                try transaction.groups.insert(stored)
                try transaction.groups.setTime(time.reading)
                return GroupPhoto(stored, at: time)
            }
        } catch {
            // Where nobody knows whether it has a row, the next sweep will.
            if !MeshError(describing: error).mayHaveBeenStored {
                try? await uncancelled { try await files.run { folder.remove([id]) } }
            }
            throw error
        }
    }

    /// For whom a photo counts, and for which day.
    /// - Throws: `unauthenticated`, `not_found`, `already_exists`.
    private static func place(
        _ token: String, _ group: String, at time: GroupTime, _ offset: Int?, _ age: Int64,
        _ transaction: any CatalogueTransaction
    ) throws -> (member: GroupMember, day: Int64, createdAt: Timestamp) {
        let member = try membership(token, in: group, transaction).member
        let createdAt = Timestamp(milliseconds: time.wall.milliseconds - age)
        let day = GroupTime.day(of: createdAt, offset: offset)
        let days = try transaction.groups.photos(of: group).filter { $0.senderId == member.userId }.map(\.day)
        // One that was made now does not get a day that has passed, by travelling or by a clock that was set back; one that waited
        // for the way here has the day on which it was made, if that is free.
        guard !days.contains(day), age >= Self.day / 24 || days.allSatisfy({ $0 < day }) else {
            throw CatalogueError.sentAlready(isOfTomorrow: days.contains { $0 > day })
        }
        return (member, day, createdAt)
    }

    private func sentAlready(_ id: String, _ token: String, _ group: String) async throws -> HubPhoto? {
        let clocks = clocks
        return try await catalogue.read { transaction in
            let time = try clocks.time(in: transaction)
            return try Self.sent(id, token, group, transaction).map { HubPhoto($0, at: time) }
        }
    }

    /// The photo of an id, where the same member has sent it to the same group.
    private static func sent(
        _ id: String, _ token: String, _ group: String, _ transaction: any CatalogueTransaction
    ) throws -> StoredGroupPhoto? {
        let member = try membership(token, in: group, transaction).member
        guard let photo = try transaction.groups.photo(id) else { return nil }
        guard photo.groupId == group, photo.senderId == member.userId else {
            throw MeshError(.invalidArgument, "Another photo has this key already. Choose another one.")
        }
        return photo
    }

    /// A key that is a UUID is the id, so that a photo has one wherever it is; of another, one is made.
    private static func photoID(key: String?, of user: String) throws -> String {
        guard let key else { return UUID().uuidString.lowercased() }
        guard SendHubPhoto.keyLength.contains(key.utf8.count) else {
            throw MeshError(.invalidArgument, "A key has 1 to \(SendHubPhoto.keyLength.upperBound) bytes.")
        }
        if let id = UUID(uuidString: key) { return id.uuidString.lowercased() }
        let digits = ContentDigest(of: Array("\(user)\n\(key)".utf8)).sha256.hex.prefix(32)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }

    // MARK: Leaving

    func leave(_ request: LeaveHubGroup) async throws -> Done {
        let id = request.groupId.lowercased()
        try await catalogue.write { transaction in
            let member = try Self.membership(request.token, in: id, transaction).member
            _ = try transaction.groups.removeMember(member.userId, from: id)
            try transaction.groups.removeUnusedTokens()
        }
        await show()
        return Done()
    }
}

extension HubPhoto {
    init(_ stored: StoredGroupPhoto, at time: GroupTime) {
        self.init(
            id: stored.id, groupId: stored.groupId, senderId: stored.senderId, senderName: stored.senderName,
            createdAt: stored.createdAt, expiresAt: time.onWall(stored.expiresAt), day: stored.day)
    }
}

extension ListHubGroups: HandledMessage {
    public func perform(on service: GroupStore) async throws -> HubGroupList { try await service.hubGroups(self) }
}

extension ListHubPhotos: HandledMessage {
    public func perform(on service: GroupStore) async throws -> HubPhotoList { try await service.hubPhotos(self) }
}

extension OpenHubPhoto: HandledMessage {
    public func perform(on service: GroupStore) async throws -> OpenedGroupPhoto {
        try await service.openForMember(self)
    }
}

extension ReceiveHubPhoto: HandledMessage {
    public func perform(on service: GroupStore) async throws -> OpenedHubUpload { try await service.receive(self) }
}

extension SendHubPhoto: HandledMessage {
    public func perform(on service: GroupStore) async throws -> HubPhoto { try await service.sendReceived(self) }
}

extension LeaveHubGroup: HandledMessage {
    public func perform(on service: GroupStore) async throws -> Done { try await service.leave(self) }
}
