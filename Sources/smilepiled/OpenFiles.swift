import CLinux
import ControlSocket
import Foundation
import ServiceMesh

/// How many files the daemon may have open at once, and how they are shared out.
///
/// Clients get what the library can spare: with every connection that the limit allows, an import would find no descriptor for
/// its files. Counted in an import and a backup at once: 31 files beside clients, and 6 for each image worker.
struct OpenFiles {
    /// Fewer clients are no daemon.
    private static let fewestConnections = 16

    let limit: Int
    private let own: Int

    /// Raises the limit of this process to what it may have.
    /// - Throws: `failed_precondition` where that is not enough.
    init(workers: Int) throws {
        limit = Int(clinux_raise_open_files())
        own = 40 + 8 * workers
        let needed = own + 2 * Self.fewestConnections
        guard limit < 0 || limit >= needed else {
            throw MeshError(
                .failedPrecondition,
                "The daemon needs \(needed) open files at once, and may have \(limit). Allow more: 'ulimit -n 1024' in the shell that "
                    + "starts it, or LimitNOFILE=1024 in its unit.")
        }
    }

    /// Half of what is left is for connections, and half for files that they are handed.
    var forClients: ControlLimits {
        let usual = ControlLimits()
        guard limit >= 0 else { return usual }
        let left = (limit - own) / 2
        return ControlLimits(
            connections: min(usual.connections, left), connectionFiles: min(usual.connectionFiles, left),
            totalFiles: min(usual.totalFiles, left))
    }
}
