import Database
import Foundation
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// What SQLite's catalogue sees to of groups, beside what every catalogue promises.
@Suite struct GroupCatalogueTests {
    @Test func aReasonOfALaterVersionIsTold() async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        try await database.write { connection in
            let table = GroupHubTable(connection: connection)
            let time = Timestamp(milliseconds: 1)
            try table.add([
                UndeliveredGroupPhoto(
                    id: "p", groupId: "g", groupName: "Group", hub: "http://h", sentAt: time, noticedAt: time,
                    reason: .left)
            ])
            try connection.execute("UPDATE group_undelivered SET reason = 'of a later version'")
            #expect(try table.undelivered().map(\.reason) == [.refused])
        }
        await database.close()
    }
}
