/// What a person may write into the configuration's file.
package enum ConfigurationKey: String, CaseIterable, Sendable {
    case library, socket, workers
    case logLevel = "log-level"
    case home = "web.home"
    case listen = "web.listen"
    case certificate = "web.tls-cert"
    case certificateKey = "web.tls-key"
    case insecureHTTP = "web.insecure-http"
    case names = "web.names"
    case accessLog = "web.access-log"

    /// Which values it takes.
    package enum Kind: Sendable, Equatable {
        /// Absolute, or below the home by `~/`.
        case path
        case number(ClosedRange<Int64>)
        case words([String])
        case flag
        /// An address in digits, with a port or without.
        case address
        case names
    }

    /// Which programs read it.
    package enum Reader: Sendable {
        case daemon, page, all
    }

    package var kind: Kind {
        switch self {
        case .library, .socket, .certificate, .certificateKey, .accessLog: .path
        case .workers: .number(1...64)
        case .logLevel: .words(LogLevel.allCases.map(\.rawValue))
        case .home, .insecureHTTP: .flag
        case .listen: .address
        case .names: .names
        }
    }

    /// The variable of the environment that stands above the file.
    package var variable: String? {
        switch self {
        case .library: "SMILEPILE_LIBRARY"
        case .socket: "SMILEPILE_SOCKET"
        case .workers: "SMILEPILE_WORKERS"
        case .logLevel: "SMILEPILE_LOG_LEVEL"
        case .home, .listen, .certificate, .certificateKey, .insecureHTTP, .names, .accessLog: nil
        }
    }

    package var reader: Reader {
        switch self {
        case .library, .workers, .logLevel: .daemon
        case .socket: .all
        case .home, .listen, .certificate, .certificateKey, .insecureHTTP, .names, .accessLog: .page
        }
    }

    /// One sentence.
    package var meaning: String {
        switch self {
        case .library: "The library's folder."
        case .socket: "Where the daemon listens, and where every program looks for it."
        case .workers: "Pictures that are opened at once, each in a helper process; one for each processor by default."
        case .logLevel: "What the daemon logs: errors alone, warnings too, or all of it."
        case .home: "Whether the page is for every phone and computer of the home."
        case .listen: "The page's address in digits, and its port."
        case .certificate: "The page's certificate for others than this machine, as PEM."
        case .certificateKey: "Its key, as PEM."
        case .insecureHTTP: "Whether the page serves others without TLS: their network can read along."
        case .names: "Other names under which browsers reach the page."
        case .accessLog: "Where it is written down what other machines ask of groups."
        }
    }

    /// How the page is reached: said whole in one place. What one place says of it and another says otherwise would contradict itself.
    package static let pageAddress: [ConfigurationKey] = [.home, .listen, .certificate, .certificateKey, .insecureHTTP]

    /// The table that it stands in, and what it is called there. The table is nil at the file's beginning.
    var parts: (table: String?, name: String) {
        guard let stop = rawValue.firstIndex(of: ".") else { return (nil, rawValue) }
        return (String(rawValue[..<stop]), String(rawValue[rawValue.index(after: stop)...]))
    }
}

/// What the daemon logs. Each has what those before it have.
package enum LogLevel: String, CaseIterable, Sendable {
    case error, warning, info
}
