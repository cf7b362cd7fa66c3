import ControlSocket
import Foundation
import LibraryModel
import LibraryServices

let library = try await PhotoLibrary.open(at: CommandLine.arguments[1])
let server = try ControlServer(
    mesh: library.mesh, listener: ListeningSocket(at: CommandLine.arguments[2]),
    configuration: .init(version: LibraryModel.version, library: library.path))
signal(SIGTERM, SIG_IGN)
let source = DispatchSource.makeSignalSource(signal: SIGTERM)
source.setEventHandler { Task { await server.stopReading(); await library.close(); await server.close(); exit(0) } }
source.resume()
while true { try await Task.sleep(for: .seconds(1000)) }
