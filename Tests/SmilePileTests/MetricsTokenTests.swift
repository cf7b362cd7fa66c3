import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// The token with which a monitor reads the figures.
@Suite struct MetricsTokenTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("metrics-token") }

    private var file: String { folder.file("state/metrics-token") }

    private func open() async throws -> PhotoLibrary {
        var options = PhotoLibrary.Options.repeating(workers: 1)
        options.keyFile = folder.file("sealing.key")
        options.metricsToken = file
        return try await PhotoLibrary.open(at: folder.file("library"), options: options)
    }

    @Test func readsTheFiguresAndNamesNobody() async throws {
        let library = try await open()
        let nobody = CallContext.root(mesh: library.mesh, role: .nobody, isFromAfar: true)
        let any = String(repeating: "A", count: 43)
        #expect(
            await status { _ = try await library.mesh.send(ReadMetrics(token: any), in: nobody) } == .unauthenticated)
        _ = try await library.mesh.send(AddCategory(displayName: "Aunt Ada"))
        let token = try await library.mesh.send(MakeMetricsToken()).token
        let page = try await library.mesh.send(ReadMetrics(token: token), in: nobody).text
        #expect(page.contains("\nsmilepile_photos 0\n") && page.contains("\nsmilepile_categories 5\n"))
        #expect(page.contains("smilepile_messages_total{method=\"category.add\",outcome=\"completed\"} 1\n"))
        #expect(!page.contains("Ada") && !page.contains(folder.path))
        for wrong in ["", any, token + "A", String(token.dropLast())] {
            #expect(
                await status { _ = try await library.mesh.send(ReadMetrics(token: wrong), in: nobody) }
                    == .unauthenticated)
        }
        // Nobody makes one who may not read them otherwise.
        #expect(await status { _ = try await library.mesh.send(MakeMetricsToken(), in: nobody) } == .permissionDenied)
        await library.close()

        // It outlives the daemon, and a new one ends it.
        let again = try await open()
        #expect(try await again.mesh.send(ReadMetrics(token: token)).text.contains("smilepile_photos"))
        let next = try await again.mesh.send(MakeMetricsToken()).token
        #expect(await status { _ = try await again.mesh.send(ReadMetrics(token: token)) } == .unauthenticated)
        // What others could have written is not believed, and who asks is not told why.
        #expect(chmod(file, 0o640) == 0)
        #expect(await status { _ = try await again.mesh.send(ReadMetrics(token: next)) } == .unauthenticated)
        #expect(chmod(file, 0o600) == 0)
        #expect(try await again.mesh.send(ReadMetrics(token: next)).text.contains("smilepile_photos"))
        #expect(try await again.mesh.send(ForgetMetricsToken()).wasSet)
        #expect(try await !again.mesh.send(ForgetMetricsToken()).wasSet)
        #expect(await status { _ = try await again.mesh.send(ReadMetrics(token: next)) } == .unauthenticated)
        await again.close()
    }
}
