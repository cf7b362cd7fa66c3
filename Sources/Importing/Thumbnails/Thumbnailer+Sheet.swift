import CLinux
import Files
import Foundation
import Imaging
import ImageWorkerProtocol
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Pages of contact sheets. Pictures are decoded by image workers, one by one and a few at once, and copied onto a page in
/// memory; a worker then draws the words over it and makes the file. So a photo that takes its worker over gets no more
/// than its own place, and what is held is a page, however many photos there are.
extension Thumbnailer {
    func sheetPage(_ request: MakeSheetPage) async throws -> MadeSheetPage {
        guard sheetsUnderWay < MakeSheetPage.maximumAtOnce else {
            throw MeshError(
                .resourceExhausted,
                "\(MakeSheetPage.maximumAtOnce) pages are being made, which is the most. Try again when one is done.")
        }
        sheetsUnderWay += 1
        defer { sheetsUnderWay -= 1 }
        return try await makeSheetPage(request)
    }

    private nonisolated func makeSheetPage(_ request: MakeSheetPage) async throws -> MadeSheetPage {
        let layout = SheetLayout(columns: try Self.columns(of: request))
        try Self.checkHeading(of: request)
        let number = try Self.pageNumber(of: request)
        let query = try PhotoQuery(request.filter, after: request.after, limit: layout.room)
        let viewer = access.viewer
        let (found, count, categories) = try await catalogue.read { transaction in
            let scope = try viewer.scope(in: transaction)
            if let id = request.filter.categoryId { _ = try transaction.categories.require(.id(id), in: scope) }
            let query = query.within(scope)
            return (
                try transaction.photos.page(query), try transaction.photos.count(query),
                try transaction.categories.all(in: scope)
            )
        }
        let pages = max(1, (count + layout.room - 1) / layout.room)
        let page = OwnedFile(owning: clinux_memory_file("smilepile-sheet-page"))
        let file = OwnedFile(owning: clinux_memory_file("smilepile-sheet-file"))
        try await files.run { try SheetPaper.makeWhite(page) }
        let absences = try await place(found.photos, on: page, layout)
        let byID = Dictionary(categories.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let words = found.photos.enumerated().map { index, photo in
            SheetLayout.Words(photo, byID[photo.categoryId], absence: absences[index])
        }
        let format: SheetPage.Format = request.format == .png ? .png : .jpeg
        let sheet = layout.page(
            words, heading: SheetLayout.line(Self.heading(of: request, byID)),
            footer: number.map { "Page \($0) of \(max($0, pages))" } ?? "", format: format)
        let fonts = try await files.run { SheetFonts.open() }
        let size: Int
        do throws(ImagingError) {
            size = try await draw(sheet, page, fonts, into: file)
        } catch {
            throw error.meshError
        }
        return MadeSheetPage(
            photos: found.photos.count, pages: pages, next: found.next, mediaType: "image/\(format.rawValue)",
            width: SheetLayout.width, height: SheetLayout.height, size: Int64(size), content: file)
    }

    private nonisolated func draw(
        _ sheet: SheetPage, _ page: OwnedFile, _ fonts: [OwnedFile], into file: OwnedFile
    ) async throws(ImagingError) -> Int {
        defer { withExtendedLifetime((page, fonts, file)) {} }
        return try await workers.draw(
            sheet, pixels: page.descriptor, fonts: fonts.map(\.descriptor), into: file.descriptor)
    }

    // MARK: Pictures

    /// Puts each picture at its place.
    /// - Returns: by index, why there is none.
    /// - Throws: what would meet every picture: helpers that cannot be started, the end of the request.
    private nonisolated func place(
        _ photos: [Photo], on page: OwnedFile, _ layout: SheetLayout
    ) async throws -> [Int: String] {
        try await withThrowingTaskGroup(of: Placed.self) { group in
            var rest = photos.enumerated().makeIterator()
            func startNext() {
                guard let (index, photo) = rest.next() else { return }
                group.addTask { try await self.place(photo, at: index, on: page, layout) }
            }
            for _ in 0..<width { startNext() }
            var absences: [Int: String] = [:]
            for try await placed in group {
                absences[placed.index] = placed.absence
                startNext()
            }
            return absences
        }
    }

    private struct Placed: Sendable {
        let index: Int
        var absence: String?
    }

    private nonisolated func place(
        _ photo: Photo, at index: Int, on page: OwnedFile, _ layout: SheetLayout
    ) async throws -> Placed {
        do {
            let room = layout.box
            // Whatever is larger than a thumbnail comes from the photo.
            let kind: PhotoFileKind = max(room.width, room.height) <= ImageLimits.thumbnailSide ? .thumbnail : .photo
            let opened = try await open(OpenPhoto(id: photo.id, kind))
            guard let content = opened.content else { return Placed(index: index, absence: Self.absent) }
            let (picture, bytes) = try await pixels(of: content, within: room.width, room.height)
            let (x, y) = layout.place(of: index, width: picture.width, height: picture.height)
            try await files.run {
                try SheetPaper.copy(bytes, width: picture.width, height: picture.height, to: page, x: x, y: y)
            }
            return Placed(index: index)
        } catch {
            let error = MeshError(describing: error)
            let isOfPhoto = error.isPictureFault || error.status == .notFound || error.status == .dataLoss
            guard isOfPhoto, !Task.isCancelled else { throw error }
            return Placed(index: index, absence: Self.absent)
        }
    }

    private static let absent = "cannot be opened"

    private nonisolated func pixels(
        of content: OwnedFile, within width: Int, _ height: Int
    ) async throws -> (picture: RawPixels, bytes: [UInt8]) {
        defer { withExtendedLifetime(content) {} }
        do throws(ImagingError) {
            return try await workers.pixels(source: content.descriptor, within: width, height)
        } catch {
            throw StoredPicture.fault(error)
        }
    }

    // MARK: What was asked for

    private static func columns(of request: MakeSheetPage) throws -> Int {
        let columns = request.columns ?? MakeSheetPage.standardColumns
        guard MakeSheetPage.columnRange.contains(columns) else {
            throw MeshError(
                .invalidArgument,
                "'columns' is between \(MakeSheetPage.columnRange.lowerBound) and \(MakeSheetPage.columnRange.upperBound)."
            )
        }
        return columns
    }

    private static func checkHeading(of request: MakeSheetPage) throws {
        guard (request.heading ?? "").unicodeScalars.count <= MakeSheetPage.headingLength else {
            throw MeshError(
                .invalidArgument, "A heading has \(MakeSheetPage.headingLength) characters at most. Shorten it.")
        }
    }

    private static func heading(
        of request: MakeSheetPage, _ categories: [Int64: LibraryModel.Category]
    ) -> String {
        if let heading = request.heading, !heading.isEmpty { return heading }
        return request.filter.categoryId.flatMap { categories[$0]?.displayName } ?? "Photos"
    }

    private static func pageNumber(of request: MakeSheetPage) throws -> Int? {
        guard let page = request.page else { return nil }
        guard (1...100_000).contains(page) else {
            throw MeshError(.invalidArgument, "'page' is between 1 and 100000.")
        }
        return page
    }
}

extension SheetLayout.Words {
    fileprivate init(_ photo: Photo, _ category: LibraryModel.Category?, absence: String?) {
        let date = photo.shownAt.text(to: min(photo.datePrecision ?? .minute, .minute))
        self.init(
            name: SheetLayout.line(photo.displayName), date: (photo.dateSource?.isGuess == true ? "~" : "") + date,
            category: SheetLayout.line(category?.displayName ?? ""),
            colour: category.flatMap { UInt32($0.colorHex.dropFirst(), radix: 16) } ?? 0x888888, absence: absence)
    }
}

extension OwnedFile {
    /// For a call that waits: whoever uses it keeps this value until that has ended.
    fileprivate var descriptor: Int32 { withDescriptor { $0 } }
}

/// The page before anything is drawn on it: plain pixels in a file in memory, which a worker can be handed.
private enum SheetPaper {
    static func makeWhite(_ page: OwnedFile) throws {
        let line = [UInt8](repeating: 255, count: SheetLayout.width * 3)
        for y in 0..<SheetLayout.height { try write(line[...], to: page, at: y * line.count) }
    }

    /// Blocks, for less than a millisecond in memory.
    static func copy(
        _ bytes: [UInt8], width: Int, height: Int, to page: OwnedFile, x: Int, y: Int
    ) throws {
        // It stands within its box by how it was asked for; a page must not grow by what a worker says.
        guard x >= 0, y >= 0, x + width <= SheetLayout.width, y + height <= SheetLayout.height else { return }
        for line in 0..<height {
            let part = bytes[(line * width * 3)..<((line + 1) * width * 3)]
            try write(part, to: page, at: ((y + line) * SheetLayout.width + x) * 3)
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to page: OwnedFile, at position: Int) throws {
        let written = page.withDescriptor { descriptor in
            bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(position)) }
        }
        guard written == bytes.count else {
            throw MeshError(.resourceExhausted, "There is no memory for a page of a contact sheet. Try again later.")
        }
    }
}

extension MakeSheetPage: HandledMessage {
    public func perform(on service: Thumbnailer) async throws -> MadeSheetPage {
        try await service.sheetPage(self)
    }
}
