import Foundation
import ServiceMesh

/// What the documentation of roles says; tests compare the programs with it.
public enum DocumentedRoles {
    /// The methods that a connection may send that is nobody's, of Roles.md.
    public static func nobodys() throws -> Set<String> { try methods(in: "What a connection of nobody may do") }

    /// Those that a kid may send.
    public static func kids() throws -> Set<String> { try nobodys().union(methods(in: "What a kid may do")) }

    /// Those that a looker may send.
    public static func lookers() throws -> Set<String> { try kids().union(methods(in: "What a looker may do")) }

    /// The methods in the table of a section.
    private static func methods(in section: String) throws -> Set<String> {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent("Sources/LibraryModel/LibraryModel.docc/Roles.md"), encoding: .utf8)
        guard let start = text.range(of: "## \(section)\n") else {
            throw MeshError(.notFound, "Roles.md has no section \(section)")
        }
        return Set(
            text[start.upperBound...].split(separator: "\n").prefix { !$0.hasPrefix("## ") }
                .filter { $0.hasPrefix("| `") }
                .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) })
    }
}
