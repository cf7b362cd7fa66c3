import Database
import Files
import Foundation
@testable import LibraryServices
import ServiceMesh
import SmilePile
import Testing
import ZipArchive

/// A full disk says so in one way, whichever part meets it: it is not somebody who is busy.
@Suite struct ShortageTests {
    @Test(
        arguments: [
            DatabaseError.diskFull, ZipError.diskFull,
            FileSystem.Failure(action: "write", path: "/p", code: ENOSPC),
            FileSystem.Failure(action: "write", path: "/p", code: EDQUOT),
        ] as [any Error])
    func aFullDiskIsNoneThatIsBusy(_ error: any Error) {
        let told = MeshError(describing: error)
        #expect(told.status == .resourceExhausted && told.shortage == .space)
        #expect(!told.isRetryable && told.message.contains("ree some space"), "\(told.message)")
    }

    @Test func whatOthersUseJustNowMayBeAskedForAgain() {
        let told = MeshError(describing: DatabaseError.busy)
        #expect(told.status == .resourceExhausted && told.shortage == nil && told.isRetryable)
    }
}
