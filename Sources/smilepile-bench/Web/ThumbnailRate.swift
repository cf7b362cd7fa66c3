import Foundation
import LibraryModel

/// Thumbnails a second over HTTP by `wrk`, beside nginx with the same files.
enum ThumbnailRate {
    /// Different ones that are asked for, in turn.
    private static let pictures = 2000
    private static let seconds = 5
    private static let connections = 16
    private static let must = 0.5

    /// - Parameter cookie: of a paired browser.
    static func figures(_ programs: WebPrograms, _ cookie: String, in work: WorkFolder) async throws -> [Figure] {
        let what = "thumbnails a second, \(connections) connections"
        guard Tool.wrk.path != nil else { return [.missing(what, ours: "not measured", .wrk)] }
        note("web: thumbnails a second")
        let photos = try await newest(programs)
        let script = try script(in: work)
        let ours = try paths(photos.map { "/photos/\($0.uuid)/thumbnail?v=\($0.contentDigest)" }, in: work)
        let theirs = try paths(photos.map { "/" + $0.thumbnailPath }, in: work)
        let our = command(programs.address, script: script, header: "Cookie: " + cookie)
        guard Tool.nginx.path != nil else {
            let rate = try rate(our, ours, in: work)
            return [.missing(what, ours: Format.rate(rate, "pictures"), .nginx, must: Format.ratio(must))]
        }
        let server = try Nginx(root: programs.library.path, in: work)
        defer { server.stop() }
        let their = command(server.address, script: script, header: nil)
        let rates = try await Measuring.interleaved(
            runs: 3, [{ try rate(our, ours, in: work) }, { try rate(their, theirs, in: work) }])
        let ratio = rates[0] / rates[1]
        return [
            Figure(
                what, ours: Format.rate(rates[0], "pictures"), peer: Format.rate(rates[1], "pictures"),
                command: "nginx -c nginx.conf & \(their.joined(separator: " ")); nginx.conf: \(server.configuration)",
                ratio: ratio, must: "\(Format.ratio(must)), aim 1.00x", holds: ratio >= must)
        ]
    }

    private static func newest(_ programs: WebPrograms) async throws -> [Photo] {
        let client = try programs.client()
        var photos: [Photo] = []
        var next: String?
        repeat {
            let page = try await client.call(SearchPhotos(limit: 1000, after: next))
            photos += page.photos
            next = page.next
        } while next != nil && photos.count < pictures
        return photos
    }

    private static func paths(_ paths: [String], in work: WorkFolder) throws -> String {
        let file = work.newPath("paths")
        try paths.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
        return file
    }

    private static func script(in work: WorkFolder) throws -> String {
        let file = work.newPath("paths.lua")
        try """
        local paths, number = {}, 0
        for path in io.lines(os.getenv("PATHS")) do paths[#paths + 1] = path end
        request = function()
          number = number % #paths + 1
          return wrk.format("GET", paths[number])
        end
        """.write(toFile: file, atomically: false, encoding: .utf8)
        return file
    }

    private static func command(_ address: String, script: String, header: String?) -> [String] {
        ["wrk", "-t1", "-c\(connections)", "-d\(seconds)s", "-s", script] + (header.map { ["-H", $0] } ?? []) + [
            address
        ]
    }

    /// Pictures a second; what was refused is none.
    private static func rate(_ command: [String], _ paths: String, in work: WorkFolder) throws -> Double {
        let said = try Command(command, environment: ["PATHS": paths]).run(in: work)
        func number(after words: String) -> Double? {
            guard let found = said.range(of: words) else { return nil }
            return Double(said[found.upperBound...].drop { $0 == " " }.prefix { $0.isNumber || $0 == "." })
        }
        guard let perSecond = number(after: "Requests/sec:") else {
            throw BenchLibrary.Failed(description: "wrk said: \(said)")
        }
        let refused = number(after: "Non-2xx or 3xx responses:") ?? 0
        if refused > 0 { note("web: \(Int(refused)) requests were refused") }
        return max(0, perSecond - refused / Double(seconds))
    }

    /// A server of files as it comes, with as many processes as our server has threads.
    private struct Nginx {
        let address: String
        let configuration: String
        private let process: Process

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
}

extension Tool {
    fileprivate static let wrk = Tool(name: "wrk", package: "wrk")
    fileprivate static let nginx = Tool(name: "nginx", package: "nginx-light")
}
