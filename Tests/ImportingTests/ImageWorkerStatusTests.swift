import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Testing

@Suite struct ImageWorkerStatusTests {
    /// Before any photo: what a kernel grants can be told by trying alone, so asking starts a worker.
    @Test func theStatusSaysWhatKeepsWorkersIn() async throws {
        let test = try await TestLibrary()
        let status = try await test.mesh.send(GetLibraryStatus()).imageWorkers
        #expect(status.started == 1)
        // And what it is a copy of, which a sanitizer's build does not make.
        #expect(status.pids.count == (status.cell?.seccomp == true ? 2 : 1))
        let cell = try #require(status.cell)
        #expect(cell.noNewPrivileges)
        // A sanitizer needs what a cell forbids, and says so.
        if cell.missing.isEmpty {
            #expect(cell.seccomp && (cell.landlock ?? 0) >= 1)
            #expect(cell.descriptors == 12 && cell.processes == 0 && cell.processorSeconds == 300)
            #expect(cell.ownMemoryBytes == 96 << 20 && cell.fileBytes == 512 << 20)
        }
        #expect((status.sharedMemoryBytes ?? 0) > 0)
        // It is not started again for the next one who asks, and the first photo has it.
        #expect(try await test.mesh.send(GetLibraryStatus()).imageWorkers.started == 1)
        _ = try await test.importSamples(2)
        #expect(try await test.mesh.send(GetLibraryStatus()).imageWorkers.started == 2)
        await test.library.close()
    }
}
