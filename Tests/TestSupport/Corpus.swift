import Foundation

/// The real and hostile files with their ground truth. They are never part of this repository: a test that
/// needs them takes the folder from `SMILEPILE_CORPUS`, else `../shared/corpus` beside the checkout, and is
/// skipped visibly (`.enabled(if: Corpus.isPresent, …)`) where it is absent.
public enum Corpus {
    /// Without links in it: receipts name files by where they really are.
    public static let folder: String = {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let named =
            ProcessInfo.processInfo.environment["SMILEPILE_CORPUS"]
            ?? root.deletingLastPathComponent().appendingPathComponent("shared/corpus").path
        guard let real = realpath(named, nil) else { return named }
        defer { free(real) }
        return String(cString: real)
    }()

    public static var isPresent: Bool { FileManager.default.fileExists(atPath: folder + "/real/truth.tsv") }

    /// One row of `truth.tsv` or `expect.tsv`, by column name. An empty cell is an empty text.
    public typealias Row = [String: String]

    /// The rows of a table below the corpus folder: UTF-8, tab-separated, no quoting, first line the names.
    public static func table(_ path: String) throws -> [Row] {
        let text = try String(contentsOfFile: folder + "/" + path, encoding: .utf8)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: true).map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        guard !lines.isEmpty else { return [] }
        let names = lines.removeFirst()
        return lines.map { cells in
            Dictionary(zip(names, cells), uniquingKeysWith: { first, _ in first })
        }
    }
}
