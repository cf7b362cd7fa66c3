import CArchive
import Foundation
import FuzzSupport

@testable import ZipArchive

/// The bytes of an archive: its end records, directory and local headers, and what its entries inflate to; and the same bytes
/// as a damaged archive, from which is taken what is whole.
///
/// Where nothing is refused, libarchive, which shares no line with our parser, must see the same entries with the
/// same contents.
@main
enum ZipDirectories: FuzzTarget {
    private static let limits = ZipLimits(
        maximumEntries: 200, maximumTotalBytes: 4 << 20, ratioFreeBytes: 64 << 10, maximumDirectoryBytes: 64 << 10)
    private static let file = ScratchFile()

    static func seeds() throws -> [[UInt8]] { try ZipSeeds.all() }

    static func run(_ input: [UInt8]) {
        file.replace(with: input)
        let salvaged = salvage()
        do throws(ZipError) {
            let directory = try ZipDirectory(descriptor: file.descriptor, limits: limits)
            let headers = try LocalHeaders(directory, descriptor: file.descriptor, limits: limits)
            let reader = try ZipReader(descriptor: file.descriptor, limits: limits)
            require(try reader.entries.map { $0 } == directory.entries.map { $0 }, "the same directory read twice")
            try checkExtents(reader, directory, headers)
            let verification = try ZipVerification(reader)
            try verification.work()
            var total: Int64 = 0
            for (index, digest) in try verification.digests {
                let entry = try reader.entries[index]
                require(digest.size == entry.size && digest.crc32 == entry.crc32, "a digest of other bytes")
                total += digest.size
            }
            require(total <= limits.maximumTotalBytes, "more bytes than the limit: \(total)")
            for (index, digest) in try verification.digests where reader.problems(of: index).isEmpty {
                require(salvaged[try reader.entries[index].name] == digest, "whole, and not salvaged")
            }
            let strict = try ZipVerification(reader, forOthers: true)
            try strict.work()
            let known = try verification.digests
            require(try strict.digests.allSatisfy { known[$0] == $1 }, "the same entry, another digest")
            // libarchive takes an archive without entries for none, and in one with bytes in front it looks for the long
            // end record where its locator says, not counting them.
            if reader.refusals.isEmpty, strict.failures.isEmpty, !reader.entries.isEmpty, reader.bytesInFront == 0 {
                compare(try Listing(reader, strict.digests), Listing(libarchive: file.descriptor))
            }
        } catch {
            require(!error.description.isEmpty && error.description.utf8.count < 200_000, "a refusal without words")
            if case .readFailed(let code) = error { fail("reading failed with \(code)") }
        }
    }

    /// - Returns: what is whole, by its names.
    private static func salvage() -> [String: ContentDigest] {
        var digests: [String: ContentDigest] = [:]
        do throws(ZipError) {
            let directory = try? ZipDirectory(descriptor: file.descriptor, limits: limits)
            let salvage = try EntrySalvage(
                directory, descriptor: file.descriptor, limits: limits, cancelled: { false })
            var end: Int64 = 0
            for found in (salvage.told + salvage.searched).sorted(by: { $0.data < $1.data }) {
                require(found.entry.headerOffset >= end && found.data >= found.entry.headerOffset, "shared bytes")
                end = found.end
            }
            require(try end <= DescriptorIO.size(file.descriptor), "bytes past the end")
            let reader = try ZipReader.salvaging(file.descriptor, limits: limits)
            require(reader.entries.count <= limits.maximumEntries * 2, "too many entries")
            let verification = try ZipVerification(reader)
            try verification.work()
            for (index, digest) in try verification.digests {
                let entry = try reader.entries[index]
                require(digest.size == entry.size && digest.crc32 == entry.crc32, "a digest of other bytes")
                let isPath = EntryName.problem(in: entry.name) == nil
                require(isPath || !reader.problems(of: index).isEmpty, "a name that is no path passes")
                if reader.problems(of: index).isEmpty { digests[entry.name] = digest }
            }
        } catch {
            require(!error.description.isEmpty, "a refusal without words")
            if case .readFailed(let code) = error { fail("reading failed with \(code)") }
        }
        return digests
    }

    /// Entries that may be read lie between the file's start and the directory, and share nothing.
    private static func checkExtents(
        _ reader: ZipReader, _ directory: ZipDirectory, _ headers: LocalHeaders
    ) throws(ZipError) {
        let end = directory.end.directory.lowerBound
        var extents: [Range<Int64>] = []
        try reader.entries.forEach { entry throws(ZipError) in
            guard reader.obstacle(to: entry.index) == nil else { return }
            let data = try headers.places[entry.index].data
            require(entry.headerOffset >= 0 && data >= entry.headerOffset + 30, "data before its header")
            require(entry.compressedSize >= 0 && entry.compressedSize <= end - data, "data past the directory")
            extents.append(entry.headerOffset..<data + entry.compressedSize)
            let raw = EntryName.problem(in: entry.name)
            require(raw == nil || !reader.problems(of: entry.index).isEmpty, "a name that is no path passes")
        }
        extents.sort { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
        for (first, second) in zip(extents, extents.dropFirst()) {
            require(first.upperBound <= second.lowerBound, "two entries share bytes")
        }
    }

    private static func compare(_ ours: Listing, _ theirs: Listing) {
        if let failure = theirs.failure { fail("libarchive refuses what is taken: \(failure)") }
        require(ours.entries == theirs.entries, "libarchive sees other entries: \(theirs.entries), not \(ours.entries)")
    }
}

/// Sizes and checksums of all entries that are no folders, in no particular order: not names, which libarchive puts
/// through the locale.
private struct Listing {
    struct Entry: Equatable {
        let size: Int64
        let crc32: UInt32
    }

    private(set) var entries: [Entry] = []
    private(set) var failure: String?

    init(_ reader: ZipReader, _ digests: [Int: ContentDigest]) throws(ZipError) {
        for (index, digest) in digests where try !reader.entries[index].isFolder {
            entries.append(Entry(size: digest.size, crc32: digest.crc32))
        }
        sort()
    }

    init(libarchive descriptor: Int32) {
        guard let archive = archive_read_new() else { return }
        defer { archive_read_free(archive) }
        archive_read_support_format_zip_seekable(archive)
        lseek(descriptor, 0, SEEK_SET)
        var status = archive_read_open_fd(archive, descriptor, 10_240)
        guard status == ARCHIVE_OK else {
            failure = Self.message(archive)
            return
        }
        var header: OpaquePointer?
        while true {
            status = archive_read_next_header(archive, &header)
            if status == ARCHIVE_EOF { break }
            // A warning is about a name that the locale cannot say.
            guard status == ARCHIVE_OK || status == ARCHIVE_WARN, let header else {
                failure = Self.message(archive)
                return
            }
            var content: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                let count = archive_read_data(archive, &buffer, buffer.count)
                if count == 0 { break }
                guard count > 0 else {
                    failure = Self.message(archive)
                    return
                }
                content += buffer[..<count]
            }
            if archive_entry_filetype(header) != 0o040000 {
                let digest = ContentDigest(of: content)
                entries.append(Entry(size: digest.size, crc32: digest.crc32))
            }
        }
        sort()
    }

    private mutating func sort() { entries.sort { ($0.size, $0.crc32) < ($1.size, $1.crc32) } }

    private static func message(_ archive: OpaquePointer) -> String {
        archive_error_string(archive).map { String(cString: $0) } ?? "without a word"
    }
}
