import BenchSupport
import Foundation

/// nginx as a server of files as it comes, with as many processes as our server has threads.
struct Nginx {
    let address: String
    let configuration: String
    private let process: Process

    /// With its workers.
    var processes: [Int32] {
        let pid = process.processIdentifier
        let path = "/proc/\(pid)/task/\(pid)/children"
        let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return [pid] + children.split(separator: " ").compactMap { Int32($0) }
    }

    init(root: String, in work: WorkFolder) throws {
        let folder = work.newPath("nginx")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let port = 20_000 + Int(getpid()) % 20_000
        address = "http://127.0.0.1:\(port)"
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " ")
        configuration = """
            worker_processes 2; daemon off; pid \(folder)/pid; events { worker_connections 1024; } \
            http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; types { image/jpeg jpg; } \
            \(paths) server { listen 127.0.0.1:\(port); root \(root); } }
            """
        // Its workers must be able to read what is ours alone.
        let whole = (geteuid() == 0 ? "user root; " : "") + "error_log \(folder)/errors; " + configuration
        let file = folder + "/nginx.conf"
        try whole.write(toFile: file, atomically: false, encoding: .utf8)
        process = try Command(["nginx", "-p", folder, "-c", file]).start(log: try work.newLog())
        for _ in 0..<500 {
            if (try? Command(["bash", "-c", ": </dev/tcp/127.0.0.1/\(port)"]).run(in: work)) != nil { return }
            guard process.isRunning else { break }
            usleep(10_000)
        }
        process.stop()
        let said = (try? String(contentsOfFile: folder + "/errors", encoding: .utf8)) ?? ""
        throw BenchLibrary.Failed(description: "nginx does not start: \(said.suffix(400))")
    }

    /// Its workers end with it when it is asked, and not when it is killed.
    func stop() {
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        StartedProcesses.remove(process.processIdentifier)
    }
}

extension Tool {
    static let nginx = Tool(name: "nginx", package: "nginx-light")
}
