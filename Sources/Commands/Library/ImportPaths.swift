import CommandLineInterface
import ControlSocket
import Files
import Foundation
import LibraryModel

/// The paths of an import on their way to the daemon, which takes lines of 1 MiB: 14,000 names are more than that.
enum ImportPaths {
    /// Bytes of paths in one request, as JSON may write them.
    private static let page = 256 << 10

    /// Bytes of a list on standard input.
    private static let listBytes = 32 << 20

    /// The absolute paths that were named; `-` stands for the paths of a list on standard input.
    /// - Throws: ``CommandFailure``.
    static func named(_ operands: [String], _ session: Session) async throws -> [String] {
        var paths: [String] = []
        for operand in operands {
            if operand == "-" {
                paths += try await listed(session)
            } else {
                // What a receipt shows can be typed; a file that is really called so comes first.
                let literal = FilePath(bytes: session.absolute(operand).utf8)
                paths.append(access(session.absolute(operand), F_OK) == 0 ? literal.text : session.absolute(operand))
            }
        }
        return paths
    }

    /// As `find -print0`, `ls` and `git ls-files` write it: with a zero behind each, where there is one, else a line each.
    private static func listed(_ session: Session) async throws -> [String] {
        let bytes = try await session.console.input(listBytes)
        guard bytes.count <= listBytes else {
            throw CommandFailure.local(
                "The list has more than \(listBytes >> 20) MiB. Name the folders that the files are in.")
        }
        let separator: UInt8 = bytes.contains(0) ? 0 : UInt8(ascii: "\n")
        let paths = bytes.split(separator: separator).map { session.absolute(FilePath(bytes: $0).text) }
        guard !paths.isEmpty else {
            throw CommandFailure.local("The list on standard input is empty: there is nothing to import.")
        }
        return paths
    }

    /// The same import in one line: its paths are put on a list first where they do not fit.
    /// - Throws: ``CommandFailure``.
    static func fitting(_ message: ImportPhotos, _ library: any LibraryConnection) async throws -> ImportPhotos {
        guard try JSONText.encode(message).count > ControlLimits().lineBytes - 1024 else { return message }
        var list: String?
        var rest = message.paths[...]
        while !rest.isEmpty {
            let count = pageLength(of: rest)
            list = try await library.send(CollectImportPaths(paths: Array(rest.prefix(count)), list: list)).value.list
            rest = rest.dropFirst(count)
        }
        return list.map(message.with(list:)) ?? message
    }

    /// How many paths make a page: one at least.
    private static func pageLength(of paths: ArraySlice<String>) -> Int {
        var bytes = 0
        for (offset, path) in paths.enumerated() {
            bytes += path.utf8.count + 3
            if bytes > page && offset > 0 { return offset }
        }
        return paths.count
    }
}
