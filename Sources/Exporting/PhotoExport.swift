import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh
import Sidecars

/// Copies stored photos into a folder, and lays beside them what the library knows. The daemon says where they are; the copying is
/// done here, with this user's rights, so that nobody gets the daemon to write where they may not.
struct PhotoExport: Sendable {
    /// Which files of XMP lie beside the photos.
    enum Sidecars: String, CaseIterable, Sendable {
        /// Kept ones, and one of the library's where it knows more than the picture says.
        case auto
        /// Kept ones, and one of the library's for each photo.
        case always
        case never
    }

    private struct Exported: Encodable {
        let id: Int64
        var path: String?
        var sidecars: [String] = []
        /// Of both, those that were there already as they are; nil where that is not asked.
        var unchanged: [String]?
        var error: String?
        /// Whether something of it is not there because a file of its name was there already.
        var isThere = false
        /// Whether the disk has no room for it: then it has none for those behind it either.
        var metFullDisk = false

        private enum CodingKeys: CodingKey { case id, path, sidecars, unchanged, error }

        /// - Returns: whether the file is there.
        mutating func note(_ outcome: ExportedFile.Outcome, of file: String) -> Bool {
            switch outcome {
            case .written: return true
            case .unchanged:
                unchanged?.append(file)
                return true
            case .failed(let problem):
                error = problem.message
                isThere = isThere || problem.isThere
                metFullDisk = metFullDisk || problem.isFullDisk
                return false
            }
        }

        var files: [String] { [path].compactMap { $0 } + sidecars }
    }

    let session: Session

    func run(_ invocation: Invocation) async throws -> ExitCode {
        let plan = try Plan(invocation, session)
        let all = invocation.has("all")
        let isNamed = !invocation.operandValues("PHOTO").isEmpty || invocation.has("where")
        guard isNamed != all else {
            throw invocation.usageError("Name the photos, describe them with --where, or give --all.")
        }
        let selection = all ? nil : try await PhotoSelection(invocation, session)
        var ending = ExitCode.done
        let copied = try await session.withLibrary { library -> [Exported]? in
            let root = try await library.send(GetLibraryStatus()).value.path
            // All of them first: a number that was mistyped must not leave half of an export behind.
            var photos: [Photo] = []
            if let selection, selection.filters == nil {
                for id in try await selection.ids(in: library) {
                    let found = try await selection.unlessGone { try await library.send(GetPhoto(id: id)).value }
                    if let found { photos.append(found) }
                }
            }
            var filter: PhotoFilter?
            if all || selection?.filters != nil {
                filter = try await (selection?.filters ?? PhotoFilters()).filter(in: library)
            }
            if let filter, !all {
                let count = try await library.send(CountPhotos(filter)).value.count
                guard count > 0 else { return nil }
                let question = "Copy \(Figures.count(count, "photo")) to \(PlainText.neutralized(plan.folder))?"
                guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                    ending = .failed
                    return nil
                }
            }
            try plan.makeFolder()
            var taken = ExportNames()
            var exported: [Exported] = []
            func export(_ photos: [Photo]) async throws {
                for photo in photos where exported.last?.metFullDisk != true {
                    exported.append(try await self.export(photo, plan, from: root, &taken, library))
                }
            }
            try await export(photos)
            var after: String?
            repeat {
                guard let filter else { break }
                let page = try await library.send(SearchPhotos(filter, limit: 1000, after: after)).value
                try await export(page.photos)
                after = page.next
            } while after != nil && exported.last?.metFullDisk != true
            return exported
        }
        guard let exported = copied else {
            if ending == .done { session.console.message("No photos.") }
            return ending
        }
        try show(exported, plan)
        if exported.allSatisfy({ $0.error == nil }) { return .done }
        // A second export into the same folder finds all of them there: nothing has failed.
        return exported.contains { $0.path != nil || $0.isThere } ? .doneWithProblems : .failed
    }

    private func show(_ exported: [Exported], _ plan: Plan) throws {
        guard !session.wantsJSON else {
            return session.show(json: try JSONText.encode(["photos": exported]))
        }
        for photo in exported {
            let unchanged = Set(photo.unchanged ?? [])
            for path in photo.files where !unchanged.contains(path) {
                session.console.result(PlainText.neutralized(path))
            }
            if let error = photo.error {
                session.console.message("Photo \(photo.id): " + PlainText.neutralized(error))
            }
        }
        if exported.last?.metFullDisk == true {
            session.console.message(
                "The disk is full, so the export ends here. Make room on it, then go on: the same command with --update."
            )
        }
        guard plan.updates else { return }
        let unchanged = exported.reduce(0) { $0 + ($1.unchanged?.count ?? 0) }
        let written = exported.reduce(0) { $0 + $1.files.count } - unchanged
        session.console.message("\(Figures.count(written, "file")) written, \(unchanged) left as they were.")
    }

    // MARK: One photo

    private func export(
        _ photo: Photo, _ plan: Plan, from root: String, _ taken: inout ExportNames, _ library: any LibraryConnection
    ) async throws -> Exported {
        var done = Exported(id: photo.id, unchanged: plan.updates ? [] : nil)
        let source = plan.showsOriginals ? photo.originalPath ?? photo.path : photo.path
        let target = plan.folder + "/" + taken.name(for: photo, storedAt: source)
        let own: OwnSidecar?
        do {
            own = try await ownSidecar(of: photo, beside: target, plan, &taken, library)
        } catch CommandFailure.refused(let error) where error.status == .notFound {
            // It went to the trash meanwhile, and may be gone from there.
            done.error = error.message
            return done
        }
        let time = photo.takenAt.map { $0.moment(offset: photo.takenOffset) }
        let copied =
            plan.showsOriginals || photo.rotation == nil
            ? await copy(
                source, from: root, to: target, size: source == photo.path ? photo.fileSize : nil, modified: time, plan)
            : try await copyTurned(photo, to: target, modified: time, plan, library)
        guard done.note(copied, of: target) else { return done }
        done.path = target
        if let own {
            let outcome = await Self.blocking {
                // Sealed fields are nobody else's on this machine, opened as they are.
                ExportedFile(target: own.target, updates: plan.updates)
                    .write(Array(own.text.utf8), mode: plan.withDetails ? 0o600 : 0o644)
            }
            if done.note(outcome, of: own.target) { done.sidecars.append(own.target) }
            if let problem = own.problem { done.error = done.error ?? problem }
        }
        for sidecar in plan.showsOriginals ? photo.sidecars : [] {
            // What a library has written, this one too, says what was so then. A film or a raw file is a half of the photo, and no word about it.
            guard sidecar.isCompanion || plan.sidecars != .never else { continue }
            guard await !isOwn(sidecar, root) else { continue }
            let place = plan.folder + "/" + taken.name(for: sidecar, beside: target)
            let outcome = await copy(
                sidecar.path, from: root, to: place, size: sidecar.fileSize, modified: sidecar.isCompanion ? time : nil,
                plan
            )
            if done.note(outcome, of: place) { done.sidecars.append(place) }
        }
        return done
    }

    /// What the library itself says of a photo.
    private struct OwnSidecar: Sendable {
        let target: String
        let text: String
        let problem: String?
    }

    /// - Returns: nil where there is to be none.
    private func ownSidecar(
        of photo: Photo, beside picture: String, _ plan: Plan, _ taken: inout ExportNames,
        _ library: any LibraryConnection
    ) async throws -> OwnSidecar? {
        guard plan.sidecars != .never else { return nil }
        let request = GetPhotoSidecar(
            id: photo.id, withDetails: plan.withDetails ? true : nil, asShown: plan.showsOriginals ? nil : true)
        let sidecar = try await library.send(request).value
        let target = picture + ".xmp"
        // A number, or what no file system takes.
        let isCalledOtherwise = !picture.hasPrefix(plan.folder + "/" + photo.displayName + ".")
        var isWanted = plan.sidecars == .always || sidecar.saysMore || isCalledOtherwise
        // One of an earlier export would go on saying what is not so any more.
        if !isWanted, plan.updates { isWanted = await Self.blocking { Self.isOwn(target) } }
        guard isWanted else { return nil }
        taken.take(target)
        let unreadable = sidecar.unreadable.map(\.rawValue).joined(separator: ", ")
        return OwnSidecar(
            target: target, text: sidecar.text,
            problem: unreadable.isEmpty
                ? nil : "its sidecar lacks what does not open: \(unreadable). See: smilepile keys status")
    }

    private func isOwn(_ sidecar: KeptSidecar, _ root: String) async -> Bool {
        guard Self.isInLibrary(sidecar.path) else { return false }
        return await Self.blocking { Self.isOwn(root + "/" + sidecar.path) }
    }

    private static func isOwn(_ path: String) -> Bool {
        ExportedFile.beginning(of: path, count: XMPDocument.beginningLength).map(XMPDocument.isWritten) ?? false
    }

    private func copy(
        _ path: String, from root: String, to target: String, size: Int64?, modified: Timestamp?, _ plan: Plan
    ) async -> ExportedFile.Outcome {
        guard Self.isInLibrary(path) else {
            return .failed(
                ExportedFile.Problem(message: "its path in the catalogue (\(path)) does not lie in the library."))
        }
        return await Self.blocking {
            ExportedFile(target: target, updates: plan.updates).copy(root + "/" + path, size: size, modified: modified)
        }
    }

    /// What is shown of a photo that is turned is no file of the library: the daemon makes it.
    private func copyTurned(
        _ photo: Photo, to target: String, modified: Timestamp?, _ plan: Plan, _ library: any LibraryConnection
    ) async throws -> ExportedFile.Outcome {
        let opened: OpenedPhoto
        do {
            opened = try await library.send(OpenPhoto(id: photo.id, .photo)).value
        } catch CommandFailure.refused(let error) {
            return .failed(ExportedFile.Problem(message: error.message))
        }
        guard let content = opened.content, let bytes = await Self.blocking({ Self.bytes(of: content, opened.size) })
        else { return .failed(ExportedFile.Problem(message: "its turned picture did not come whole. Try again.")) }
        return await Self.blocking {
            ExportedFile(target: target, updates: plan.updates).write(bytes, modified: modified)
        }
    }

    /// Nil where it is not all there, or more than any photo that is shown.
    private static func bytes(of content: OwnedFile, _ size: Int64) -> [UInt8]? {
        guard (1...(64 << 20)).contains(size) else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let count = content.withDescriptor { pread($0, &bytes, bytes.count, 0) }
        return count == bytes.count ? bytes : nil
    }

    private static func isInLibrary(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return !path.hasPrefix("/") && !parts.contains("..") && !parts.contains("") && !path.utf8.contains(0)
    }

    /// A copy may take seconds on a slow disk; the cooperative pool is not for that.
    private static func blocking<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: work()) }.start()
        }
    }
}

extension PhotoExport {
    /// What was asked for.
    private struct Plan: Sendable {
        let folder: String
        let showsOriginals: Bool
        let sidecars: Sidecars
        let withDetails: Bool
        let updates: Bool

        init(_ invocation: Invocation, _ session: Session) throws {
            folder = session.absolute(invocation.value("to") ?? ".")
            showsOriginals = !invocation.has("shown")
            sidecars = invocation.value("sidecars").flatMap(Sidecars.init(rawValue:)) ?? .auto
            withDetails = invocation.has("with-details")
            updates = invocation.has("update")
            guard !withDetails || sidecars != .never else {
                throw invocation.usageError(
                    "--with-details says the sealed fields in sidecars: leave out --sidecars never.")
            }
        }

        func makeFolder() throws {
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                let isReadOnly = (error as? CocoaError)?.code == .fileWriteVolumeReadOnly
                let why = isReadOnly ? ": its disk can only be read" : ""
                throw CommandFailure.local("The folder \(folder) cannot be made\(why). Choose another with --to.")
            }
        }
    }
}
