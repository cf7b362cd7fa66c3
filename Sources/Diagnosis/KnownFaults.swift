import CommandLineInterface
import Foundation

/// C libraries that open what strangers have made, and the versions that let a picture take over the program that opens it.
///
/// Few on purpose: a list of every fault is what the distribution keeps, and a copy of it here would be stale. A fault has a
/// row where it writes beyond memory while an ordinary picture is read, and where a library tells its version itself.
struct KnownFault: Sendable {
    let library: String
    /// What the loader is asked for.
    let file: String
    /// Without an argument it returns the version as a number.
    let function: String
    /// Bits to the right of major, minor and patch.
    let shifts: [UInt32]
    /// The first without it.
    let repaired: [Int]
    let name: String
    /// The package of Debian and of what is made of it.
    let package: String
    /// Packages that have the repair and an older version number, by the beginning of theirs.
    let patched: [String]

    static let all = [
        // Source: https://nvd.nist.gov/vuln/detail/CVE-2023-4863, and DSA-5497-1 for Debian's 1.2.4.
        KnownFault(
            library: "libwebp", file: "libwebp.so.7", function: "WebPGetDecoderVersion", shifts: [16, 8, 0],
            repaired: [1, 3, 2], name: "CVE-2023-4863", package: "libwebp7", patched: ["1.2.4-0.2+deb12u1"]),
        // Source: https://nvd.nist.gov/vuln/detail/CVE-2024-41311, and the changelog of Debian's 1.15.1.
        KnownFault(
            library: "libheif", file: "libheif.so.1", function: "heif_get_version_number", shifts: [24, 16, 8],
            repaired: [1, 18, 0], name: "CVE-2024-41311", package: "libheif1", patched: ["1.15.1-1+deb12u1"]),
    ]

    /// - Parameters:
    ///   - version: what the library says; nil where it is not there.
    ///   - hasRepair: whether its package is one that was repaired; nil where nobody knows.
    func finding(version: [Int]?, hasRepair: Bool?) -> Finding? {
        guard let version else { return nil }
        let text = version.map(String.init).joined(separator: ".")
        guard version.lexicographicallyPrecedes(repaired), hasRepair != true else {
            return .fine("library-\(library)", .machine, "\(library) \(text) has no fault that is known here.")
        }
        return Finding(
            "library-\(library)", .machine, hasRepair == false ? .warning : .advice,
            "\(library) \(text) " + (hasRepair == false ? "has" : "may have")
                + " a fault that a picture can use (\(name)); what opens pictures is shut in, and so it gets no further.",
            remedy: "Install this system's updates, then start the daemon anew.",
            command: hasRepair == nil ? nil : "sudo apt update && sudo apt upgrade")
    }

    /// Loads it and asks: what the loader finds is what a program that starts now gets. Blocks.
    func version() -> [Int]? {
        // Kept open: some libraries do not survive being loaded a second time.
        guard let handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL), let symbol = dlsym(handle, function) else {
            return nil
        }
        // Each of the table is declared as `int f(void)` or `uint32_t f(void)`.
        let number = unsafeBitCast(symbol, to: (@convention(c) () -> UInt32).self)()
        return shifts.map { Int(number >> $0 & 0xFF) }
    }

    /// Asks dpkg. Packages get repairs without another version number.
    /// - Returns: nil where this machine has no dpkg or the library is of no package, or where it is another release than those
    ///   that are known.
    func hasRepair(_ environment: [String: String]) async throws -> Bool? {
        guard let query = OtherProgram("dpkg-query", environment: environment),
            let dpkg = OtherProgram("dpkg", environment: environment)
        else { return nil }
        let installed = try await query.run(["-W", "-f", "${Version}", package])
        guard installed.status == 0, let upstream = installed.text.split(separator: "-").first else { return nil }
        for repair in patched where repair.hasPrefix(upstream + "-") {
            return try await dpkg.run(["--compare-versions", installed.text, "ge", repair]).status == 0
        }
        return nil
    }
}
