import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Sending the photo of the day.
extension GroupStore {
    /// Sends to one group go one after the other: each of a crowd would else have its own picture made, and all but one of
    /// them for nothing. Who waits then finds out whether the one before has sent.
    func send(_ request: SendGroupPhoto) async throws -> GroupPhoto {
        let group = request.groupId.lowercased()
        let key = try PhotoKey(id: request.id, uuid: request.uuid)
        let offset = try GroupTime.validated(offset: request.utcOffset)
        return try await inTurn(of: group) { try await self.sendAlone(key, to: group, offset: offset) }
    }

    func inTurn(
        of group: String, _ send: @escaping @Sendable () async throws -> GroupPhoto
    ) async throws -> GroupPhoto {
        while let other = sending[group] {
            _ = await other.result
            try Task.checkCancellation()
        }
        let task = Task(executorPreference: MeshClock.executor) { try await send() }
        sending[group] = task
        defer { sending[group] = nil }
        let photo = try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
        await evict()
        await show()
        return photo
    }

    private func sendAlone(_ key: PhotoKey, to group: String, offset: Int?) async throws -> GroupPhoto {
        let clocks = clocks
        try await correctDays()
        let photo = try await catalogue.read { transaction in
            _ = try Self.sender(in: group, at: clocks.time(in: transaction), offset, transaction)
            return try transaction.photos.require(key)
        }
        guard photo.unseenBy == nil else {
            throw MeshError(
                .failedPrecondition,
                "The photo \(photo.id) is only a placeholder, because its picture could not be opened. Send another one."
            )
        }
        let name = try StoredPicture.name(ofPhoto: photo.path)
        let id = UUID().uuidString.lowercased()
        unsettled.insert(id)
        defer { unsettled.remove(id) }
        do {
            let made = try await makePicture(of: name, turned: photo.turned, for: id)
            return try await catalogue.write { transaction in
                // All of it may have changed meanwhile.
                let time = try clocks.time(in: transaction)
                let (sender, day) = try Self.sender(in: group, at: time, offset, transaction)
                let hub = try transaction.groups.require(group).hub
                let end = time.now.milliseconds + Int64(GroupPhoto.lifetimeHours) * 3_600_000
                let stored = StoredGroupPhoto(
                    id: id, groupId: group, senderId: sender.userId, senderName: sender.firstName, day: day,
                    width: made.width, height: made.height, fileSize: made.fileSize, createdAt: time.wall,
                    expiresAt: Timestamp(milliseconds: end), lastUsedAt: time.now,
                    transfer: hub == nil ? .none : .outgoing,
                    utcOffset: hub == nil ? nil : offset ?? GroupTime.offset(at: time.wall))
                try transaction.groups.insert(stored)
                try transaction.groups.setTime(time.reading)
                return GroupPhoto(stored, at: time)
            }
        } catch {
            // Where nobody knows whether it has a row, the next sweep will.
            if !MeshError(describing: error).mayHaveBeenStored {
                let (files, folder) = (files, folder)
                try? await uncancelled { try await files.run { folder.remove([id]) } }
            }
            throw error
        }
    }

    /// Who sends, and for which day.
    /// - Throws: `not_found`, `failed_precondition` (one is not in it), `already_exists` (one has sent).
    private static func sender(
        in group: String, at time: GroupTime, _ offset: Int?, _ transaction: any CatalogueTransaction
    ) throws -> (member: GroupMember, day: Int64) {
        let stored = try transaction.groups.require(group)
        guard let member = stored.ownMember else {
            throw MeshError(
                .failedPrecondition,
                stored.hub == nil
                    ? "You are not in this group, so nothing can be sent to it."
                    : "The machine that keeps '\(stored.name)' does not say which of its members you are ('memberId'), so nothing can be "
                        + "sent there from here. Photos of the others come all the same.")
        }
        let day = GroupTime.day(of: time.wall, offset: offset)
        // A day that has passed is not had a second time by travelling, or by setting the clock back.
        if let last = try transaction.groups.lastDay(of: member.userId, in: group), last >= day {
            throw CatalogueError.sentAlready(isOfTomorrow: last > day)
        }
        return (member, day)
    }

    /// In a transaction of its own: one that refuses a photo keeps nothing.
    func correctDays() async throws {
        let clocks = clocks
        guard try await catalogue.read({ try $0.haveDaysToCome(at: clocks.time(in: $0)) }) else { return }
        try await catalogue.write { try $0.correctDays(at: clocks.time(in: $0)) }
    }

    private func makePicture(
        of name: StoredName, turned: Int, for id: String
    ) async throws -> BarePicture {
        let photoFiles = photoFiles
        let source = try await files.run { OwnedFile(owning: try StoredPicture.open(name, in: photoFiles)) }
        do throws(GroupPictures.Failure) {
            return try await pictures.make(of: source, turned: turned, for: id)
        } catch {
            throw error.ofStoredPhoto
        }
    }
}

extension SendGroupPhoto: HandledMessage {
    public func perform(on service: GroupStore) async throws -> GroupPhoto { try await service.send(self) }
}
