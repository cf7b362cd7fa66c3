import Executors
import Foundation
import Scratch

/// Photos that were made of files, by the places that these have in their list: eight bytes for each, not in memory. Blocks.
struct KnownPhotos: Sendable {
    /// Their ids, of which none is 0.
    private let photos: ScratchRecords
    /// Files that were looked up.
    private var count = 0

    init(in scratch: Scratch) { photos = ScratchRecords(of: MemoryLayout<Int64>.size, in: scratch) }

    /// - Parameter more: of the next files; nil for each that is not known.
    mutating func append(_ more: [Int64?]) throws {
        try more.map { $0 ?? 0 }.withUnsafeBytes { try photos.write($0, at: count) }
        count += more.count
    }

    func photos(_ places: Range<Int>) throws -> [Int64?] {
        let known = places.clamped(to: 0..<count)
        var ids = [Int64](repeating: 0, count: places.count)
        if !known.isEmpty {
            try ids.withUnsafeMutableBytes {
                try photos.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: $0[..<(known.count * 8)]), at: known.lowerBound)
            }
        }
        return ids.map { $0 == 0 ? nil : $0 }
    }
}

/// Goes through the files that are not known.
struct UnknownFiles: Sendable {
    private let files: SourceFileList
    private let known: KnownPhotos
    private var read = 0
    /// Why the rest is not handed out.
    private(set) var fault: (any Error)?
    /// What was read and not handed out yet, the next one last.
    private var waiting: [(number: Int, file: SourceFiles.File)] = []

    init(_ files: SourceFileList, _ known: KnownPhotos) {
        self.files = files
        self.known = known
    }

    /// - Returns: the next one with its place in the list; nil behind the last, and where the list cannot be read (``fault``).
    mutating func next(from pool: BlockingPool) async -> (number: Int, file: SourceFiles.File)? {
        while fault == nil, waiting.isEmpty, read < files.count {
            let (files, known, places) = (files, known, read..<min(read + KnownSources.batch, files.count))
            do {
                waiting = try await pool.run {
                    let photos = try known.photos(places)
                    return try zip(places, files.files(places)).filter { photos[$0.0 - places.lowerBound] == nil }
                        .map { (number: $0.0, file: $0.1) }.reversed()
                }
            } catch {
                fault = error
            }
            read = places.upperBound
        }
        return waiting.popLast()
    }
}
