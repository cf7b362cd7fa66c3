import Foundation
import Glibc
import Testing
import TestSupport

import ImageWorkerProtocol

@testable import Imaging
@testable import PhotoConversion

/// The daemon's side: workers that are killed, hang, are cancelled, and none that learns more than it should.
@Suite struct WorkerPoolTests {
    @Test func convertsAPhotoInAWorker() async throws {
        let folder = try TemporaryFolder("pool")
        let pool = try makePool()
        let converted = try await convert(pool, try folder.photo(PixelSize(width: 2600, height: 1300)), folder)
        #expect(converted.width == 2048 && converted.height == 1024)
        #expect(converted.thumbnailWidth == 300 && converted.thumbnailHeight == 150)
        #expect(converted.fileSize == Int64(try Data(contentsOf: URL(fileURLWithPath: folder.file("photo"))).count))
        #expect(pool.statistics.started == 1)
        await pool.shutDown()
        #expect(pool.statistics.livePIDs.isEmpty)
    }
}
