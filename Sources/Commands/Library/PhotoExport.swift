import CLinux
import Foundation
import LibraryModel
import ServiceMesh

/// Copies stored photos into a folder. The daemon says where they are; the copying is done here, with this user's
/// rights, so that nobody gets the daemon to write where they may not.
struct PhotoExport: Sendable {
    private struct Exported: Encodable {
        let id: Int64
        let path: String?
        let error: String?
    }

    let session: Session

    func run(_ invocation: Invocation) async throws -> ExitCode {
        let folder = session.absolute(invocation.value("to") ?? ".")
        let exported = try await session.withLibrary { library in
            let root = try await library.send(GetLibraryStatus()).value.path
            // All of them first: a number that was mistyped must not leave half of an export behind.
            var photos: [Photo] = []
            for name in invocation.operandValues("PHOTO") { photos.append(try await library.photo(named: name).value) }
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                throw CommandFailure.local("The folder \(folder) cannot be made. Choose another with --to.")
            }
            var exported: [Exported] = []
            for photo in photos {
                let target = folder + "/" + photo.fileName
                let problem = await copy(photo, from: root, to: target)
                exported.append(Exported(id: photo.id, path: problem == nil ? target : nil, error: problem))
            }
            return exported
        }
        if session.wantsJSON {
            session.show(json: try JSONText.encode(["photos": exported]))
        } else {
            for photo in exported {
                if let path = photo.path { session.console.result(PlainText.neutralized(path)) }
                if let error = photo.error {
                    session.console.message("Photo \(photo.id): " + PlainText.neutralized(error))
                }
            }
        }
        if exported.allSatisfy({ $0.error == nil }) { return .done }
        return exported.contains { $0.error == nil } ? .doneWithProblems : .failed
    }

    /// Returns what went wrong, or nil.
    private func copy(_ photo: Photo, from root: String, to target: String) async -> String? {
        let parts = photo.path.split(separator: "/", omittingEmptySubsequences: false)
        guard !photo.path.hasPrefix("/"), !parts.contains(".."), !parts.contains(""), !photo.path.utf8.contains(0)
        else { return "its path in the catalogue (\(photo.path)) does not lie in the library." }
        return await withCheckedContinuation { continuation in
            // A copy may take seconds on a slow disk; the cooperative pool is not for that.
            Thread {
                continuation.resume(returning: Self.copyFile(root + "/" + photo.path, to: target, size: photo.fileSize))
            }.start()
        }
    }

    private static func copyFile(_ source: String, to target: String, size: Int64) -> String? {
        do {
            try copyWhole(source, to: target, size: size)
            return nil
        } catch {
            return CommandFailure(describing: error).message
        }
    }

    private static func copyWhole(_ source: String, to target: String, size: Int64) throws {
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
        guard copied == size else {
            throw CommandFailure.local(
                "Its file has \(copied) bytes instead of \(size). Check the library before you trust it.")
        }
        try output.finish()
    }
}
