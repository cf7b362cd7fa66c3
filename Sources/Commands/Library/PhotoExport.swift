import CLinux
import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh
import TextFolding

/// Copies stored photos into a folder. The daemon says where they are; the copying is done here, with this user's
/// rights, so that nobody gets the daemon to write where they may not.
struct PhotoExport: Sendable {
    private struct Exported: Encodable {
        let id: Int64
        let path: String?
        var sidecars: [String] = []
        var error: String?
        /// Whether something of it is not there because a file of its name was there already.
        var isThere = false

        private enum CodingKeys: CodingKey { case id, path, sidecars, error }

        mutating func note(_ problem: Problem) {
            error = problem.message
            isThere = isThere || problem.isThere
        }
    }

    /// Why a file was not copied.
    private struct Problem: Sendable {
        let message: String
        /// Whether a file of its name was there already.
        var isThere = false
    }

    let session: Session

    func run(_ invocation: Invocation) async throws -> ExitCode {
        let folder = session.absolute(invocation.value("to") ?? ".")
        let all = invocation.has("all")
        let isNamed = !invocation.operandValues("PHOTO").isEmpty || invocation.has("where")
        guard isNamed != all else {
            throw invocation.usageError("Name the photos, describe them with --where, or give --all.")
        }
        let selection = all ? nil : try await PhotoSelection(invocation, session)
        let showsOriginals = !invocation.has("shown")
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
                let question = "Copy \(Figures.count(count, "photo")) to \(PlainText.neutralized(folder))?"
                guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                    ending = .failed
                    return nil
                }
            }
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                let isReadOnly = (error as? CocoaError)?.code == .fileWriteVolumeReadOnly
                let why = isReadOnly ? ": its disk can only be read" : ""
                throw CommandFailure.local("The folder \(folder) cannot be made\(why). Choose another with --to.")
            }
            var taken = ExportNames()
            var exported: [Exported] = []
            func export(_ photos: [Photo]) async {
                for photo in photos {
                    let source = showsOriginals ? photo.originalPath ?? photo.path : photo.path
                    let target = folder + "/" + taken.name(for: photo, storedAt: source)
                    let problem = await copy(
                        source, from: root, to: target, size: source == photo.path ? photo.fileSize : nil)
                    var done = Exported(id: photo.id, path: problem == nil ? target : nil)
                    if let problem { done.note(problem) }
                    for sidecar in showsOriginals && problem == nil ? photo.sidecars : [] {
                        let place = folder + "/" + taken.name(for: sidecar, beside: target)
                        let problem = await copy(sidecar.path, from: root, to: place, size: sidecar.fileSize)
                        if let problem { done.note(problem) } else { done.sidecars.append(place) }
                    }
                    exported.append(done)
                }
            }
            await export(photos)
            var after: String?
            repeat {
                guard let filter else { break }
                let page = try await library.send(SearchPhotos(filter, limit: 1000, after: after)).value
                await export(page.photos)
                after = page.next
            } while after != nil
            return exported
        }
        guard let exported = copied else {
            if ending == .done { session.console.message("No photos.") }
            return ending
        }
        if session.wantsJSON {
            session.show(json: try JSONText.encode(["photos": exported]))
        } else {
            for photo in exported {
                for path in [photo.path].compactMap({ $0 }) + photo.sidecars {
                    session.console.result(PlainText.neutralized(path))
                }
                if let error = photo.error {
                    session.console.message("Photo \(photo.id): " + PlainText.neutralized(error))
                }
            }
        }
        if exported.allSatisfy({ $0.error == nil }) { return .done }
        // A second export into the same folder finds all of them there: nothing has failed.
        return exported.contains { $0.path != nil || $0.isThere } ? .doneWithProblems : .failed
    }

    /// Returns what went wrong, or nil.
    /// - Parameter size: that it must have; nil where nothing is known of it.
    private func copy(_ path: String, from root: String, to target: String, size: Int64?) async -> Problem? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard !path.hasPrefix("/"), !parts.contains(".."), !parts.contains(""), !path.utf8.contains(0)
        else { return Problem(message: "its path in the catalogue (\(path)) does not lie in the library.") }
        return await withCheckedContinuation { continuation in
            // A copy may take seconds on a slow disk; the cooperative pool is not for that.
            Thread {
                continuation.resume(returning: Self.copyFile(root + "/" + path, to: target, size: size))
            }.start()
        }
    }

    private static func copyFile(_ source: String, to target: String, size: Int64?) -> Problem? {
        do {
            try copyWhole(source, to: target, size: size)
            return nil
        } catch {
            let failure = CommandFailure(describing: error)
            return Problem(message: failure.message, isThere: failure == NewFile.refusal(target, EEXIST))
        }
    }

    private static func copyWhole(_ source: String, to target: String, size: Int64?) throws {
        func unreadable(_ what: String) -> CommandFailure {
            .local("\(source) cannot be \(what): \(String(cString: strerror(errno))).")
        }
        // Looked at first: what was copied the last time need not be read to be left alone.
        try NewFile.requireFree(target)
        // Without waiting for somebody to write into a pipe that stands in the photo's place.
        let input = clinux_open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard input >= 0 else { throw unreadable("opened") }
        defer { close(input) }
        var status = stat()
        guard fstat(input, &status) == 0 else { throw unreadable("opened") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure.local(
                "\(source) is no file that could be copied. Check the library: smilepile storage check")
        }
        let output = try NewFile(target)
        var copied: Int64 = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw unreadable("read") }
            if count == 0 { break }
            var rest = buffer[..<count]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { write(output.descriptor, $0.baseAddress, $0.count) }
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else { throw NewFile.refusal(target) }
                rest = rest.dropFirst(written)
            }
            copied += Int64(count)
        }
        if let size, copied != size {
            throw CommandFailure.local(
                "Its file has \(copied) bytes instead of \(size). Check the library before you trust it.")
        }
        try output.finish()
    }
}

/// The names of exported files: the photos' own, with a number where two are the same.
struct ExportNames {
    /// Case folded: a memory stick takes two names that differ in case for one.
    private var taken: Set<String> = []

    mutating func name(for photo: Photo, storedAt path: String) -> String {
        let stem = Self.stem(photo.displayName)
        let ending = path.lastIndex(of: ".").map { String(path[$0...]) } ?? ""
        return free { number in (number == 1 ? stem : "\(stem) (\(number))") + ending }
    }

    /// Numbered where a photo had two of a form; then programs find the first.
    /// - Parameter picture: the path of the exported photo.
    mutating func name(for sidecar: KeptSidecar, beside picture: String) -> String {
        let file = picture.split(separator: "/").last.map(String.init) ?? picture
        return free { number in sidecar.name(beside: number == 1 ? file : "\(file).\(number)") }
    }

    private mutating func free(_ name: (Int) -> String) -> String {
        for number in 1... {
            let name = name(number)
            if taken.insert(name.caseFolded).inserted { return name }
        }
        preconditionFailure("more photos than numbers")
    }

    /// Names are for people, and may hold what no file system takes, or what would lead elsewhere.
    private static func stem(_ name: String) -> String {
        let unusable: Set<Unicode.Scalar> = ["/", "\\", ":", "*", "?", "\"", "<", ">", "|"]
        var text = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map {
                    unusable.contains($0) || $0.properties.generalCategory == .control ? "_" : $0
                }))
        while text.hasPrefix(".") { text.removeFirst() }
        // 255 bytes are what most file systems take, with room for a number and the extension.
        while text.utf8.count > 200 { text.removeLast() }
        return text.isEmpty ? "photo" : usableOnWindows(text)
    }

    /// Windows takes a name for a device by what stands before its first dot, whatever the rest is: `CON.jpg` cannot be made there,
    /// nor copied to it.
    private static func usableOnWindows(_ stem: String) -> String {
        let first = stem.prefix { $0 != "." }
        let device = first.uppercased().trimmingCharacters(in: .whitespaces)
        let isNumbered =
            (device.hasPrefix("COM") || device.hasPrefix("LPT")) && device.count == 4
            && "0123456789¹²³".contains(device.suffix(1))
        guard isNumbered || ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"].contains(device) else {
            return stem
        }
        return "\(first)_\(stem.dropFirst(first.count))"
    }
}
