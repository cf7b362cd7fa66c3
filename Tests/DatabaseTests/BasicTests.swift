import Database
import Foundation
import TestSupport
import Testing

@Suite struct BasicTests {
    @Test func whatAWriteRepliedTheNextReadSees() async throws {
        let open = try await OpenDatabase()
        for number in 1...50 {
            let id = try await open.database.write { try Album.add("album \(number)", to: $0) }
            #expect(id == Int64(number))
            let names = try await open.database.read { try Album.names($0) }
            #expect(names.count == number)
        }
        await open.database.close()
        await #expect(throws: DatabaseError.closed) { try await open.database.read { try Album.names($0) } }
        await #expect(throws: DatabaseError.closed) { try await open.database.write { try Album.names($0) } }
        let mode = try FileManager.default.attributesOfItem(atPath: open.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: open.folder.path) == ["library.db"])
    }
}
