import Database
import Files
import Foundation
import Imaging
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

    @Test(
        arguments: [
            DatabaseError.fileTooLarge, ZipError.fileTooLarge, ImagingError.fileTooLarge,
            FileSystem.Failure(action: "write", path: "/p", code: EFBIG),
        ] as [any Error])
    func aFileSystemWithALimitIsNoFailingDisk(_ error: any Error) {
        let told = MeshError(describing: error)
        #expect(told.shortage == .space && !told.isRetryable)
        #expect(told.message.contains("too large for") && told.message.contains("file system"), "\(told.message)")
    }

    @Test func aDiskThatCanOnlyBeReadIsCalledSo() {
        let told = MeshError(describing: FileSystem.Failure(action: "make", path: "/media/stick/a", code: EROFS))
        #expect(told.status == .failedPrecondition && told.message.hasPrefix("The disk can only be read (make /media"))
        #expect(!told.message.contains("owner"))
    }

    @Test func aPictureThatTakesTooLongIsNotCalledDamaged() {
        let told = MeshError(describing: ImagingError.timedOut)
        #expect(told.details["imaging"] == "timed_out" && told.shortage == .size && !told.isRetryable)
    }

    /// Whoever makes many of them goes past the one, and ends at the other.
    @Test func aFaultOfAPictureIsNoFaultOfTheDisk() {
        for error in [
            ImagingError.unsupported("x"), .damaged("x"), .tooLarge("x"), .needsMemory("x"), .timedOut,
            .workerCrashed("x"),
        ] {
            #expect(MeshError(describing: error).isPictureFault, "\(error)")
        }
        for error in [
            ImagingError.changed, .workerLost("x"), .cancelled, .noWorkers(secondsToNextTry: 1), .io("x"), .diskFull,
            .fileTooLarge,
        ] {
            #expect(!MeshError(describing: error).isPictureFault, "\(error)")
        }
    }

    @Test func whatOthersUseJustNowMayBeAskedForAgain() {
        let told = MeshError(describing: DatabaseError.busy)
        #expect(told.status == .resourceExhausted && told.shortage == nil && told.isRetryable)
    }
}
