import CLinux
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
            var search: SearchPhotos?
            if all || selection?.filters != nil {
                search = try await (selection?.filters ?? PhotoFilters()).search(in: library)
            }
            if let search, !all {
                let count = try await library.send(search.count).value.count
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
                throw CommandFailure.local("The folder \(folder) cannot be made. Choose another with --to.")
            }
            var taken = ExportNames()
            var exported: [Exported] = []
            func export(_ photos: [Photo]) async {
                for photo in photos {
                    let source = showsOriginals ? photo.originalPath ?? photo.path : photo.path
                    let target = folder + "/" + taken.name(for: photo, storedAt: source)
                    let problem = await copy(
                        source, from: root, to: target, size: source == photo.path ? photo.fileSize : nil)
                    var done = Exported(id: photo.id, path: problem == nil ? target : nil, error: problem)
                    for sidecar in showsOriginals && problem == nil ? photo.sidecars : [] {
                        let place = folder + "/" + taken.name(for: sidecar, beside: target)
                        let problem = await copy(sidecar.path, from: root, to: place, size: sidecar.fileSize)
                        if let problem { done.error = problem } else { done.sidecars.append(place) }
                    }
                    exported.append(done)
                }
            }
            await export(photos)
            var after: String?
            repeat {
                guard let search else { break }
                let page = try await library.send(search.page(limit: 1000, after: after)).value
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
        return exported.contains { $0.path != nil } ? .doneWithProblems : .failed
    }

    /// Returns what went wrong, or nil.
    /// - Parameter size: that it must have; nil where nothing is known of it.
    private func copy(_ path: String, from root: String, to target: String, size: Int64?) async -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard !path.hasPrefix("/"), !parts.contains(".."), !parts.contains(""), !path.utf8.contains(0)
        else { return "its path in the catalogue (\(path)) does not lie in the library." }
        return await withCheckedContinuation { continuation in
            // A copy may take seconds on a slow disk; the cooperative pool is not for that.
            Thread {
                continuation.resume(returning: Self.copyFile(root + "/" + path, to: target, size: size))
            }.start()
        }
    }

    private static func copyFile(_ source: String, to target: String, size: Int64?) -> String? {
        do {
            try copyWhole(source, to: target, size: size)
            return nil
        } catch {
            return CommandFailure(describing: error).message
        }
    }

    private static func copyWhole(_ source: String, to target: String, size: Int64?) throws {
        func unreadable(_ what: String) -> CommandFailure {
            .local("\(source) cannot be \(what): \(String(cString: strerror(errno))).")
        }
        let input = clinux_open(source, O_RDONLY | O_NOFOLLOW, 0)
        guard input >= 0 else { throw unreadable("opened") }
        defer { close(input) }
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
        return text.isEmpty ? "photo" : text
    }
}
