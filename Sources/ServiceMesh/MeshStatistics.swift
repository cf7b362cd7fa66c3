/// Counts and latencies since the start, and what runs and waits right now. All times are microseconds.
public struct MeshStatistics: Codable, Sendable {
    public struct Service: Codable, Sendable {
        public let name: String
        public let running: Int
        public let waiting: Int
        public let concurrencyLimit: Int
        public let queueLimit: Int
        /// How long the call that has queued longest has been waiting for a place; nil where none does.
        public let longestWait: Double?
    }

    /// For one message, always: admitted = completed + failed + cancelled + inFlight. `refused` were not admitted.
    public struct Message: Codable, Sendable {
        public let method: String
        public let service: String
        public let admitted: Int
        public let completed: Int
        public let failed: Int
        public let cancelled: Int
        public let inFlight: Int
        public let refused: Int
        /// Calls that stand in the service's queue.
        public let queued: Int
        /// Times of calls that have ended, within 13 %.
        public let p50: Double
        public let p90: Double
        public let p99: Double
        public let max: Double
        /// How long the oldest call in flight has been running; nil where none is.
        public let oldest: Double?
        /// For which messages calls in flight wait, and how many of them for each.
        public let waitsFor: [String: Int]
    }

    public let services: [Service]
    public let messages: [Message]
}

extension MeshStatistics {
    /// What one service's tables say at `now`, in nanoseconds.
    init(_ services: [(name: String, admission: Admission)], _ endpoints: [any RoutedEndpoint], now: UInt64) {
        let methods = Dictionary(
            endpoints.map { ($0.gate.number, $0.method) }, uniquingKeysWith: { first, _ in first })
        var rows: [Service] = []
        var tables:
            [ObjectIdentifier: (counts: [CallMetrics.Counts], running: [InFlightTable.Running], queue: [UInt8])] = [:]
        let byAdmission = Dictionary(grouping: endpoints) { ObjectIdentifier($0.gate.admission) }
        for service in services {
            let id = ObjectIdentifier(service.admission)
            let own = byAdmission[id] ?? []
            // Endings and places are two readings. Where none has ended in between they agree; a busy service gets
            // a few tries, and then numbers that are off by the calls that ended at that moment.
            var counts = own.map { $0.gate.metrics.snapshot }
            var running = service.admission.running.running
            for _ in 0..<8 {
                let again = own.map { $0.gate.metrics.snapshot }
                let isStill = zip(counts, again).allSatisfy { $0.latency.count == $1.latency.count }
                if isStill { break }
                counts = again
                running = service.admission.running.running
            }
            let queue = service.admission.queue
            tables[id] = (counts, running, queue.map(\.message))
            rows.append(
                Service(
                    name: service.name, running: running.count, waiting: queue.count,
                    concurrencyLimit: service.admission.limit.concurrent,
                    queueLimit: service.admission.limit.queued,
                    longestWait: queue.map(\.since).min().map { Self.microseconds(since: $0, now) }))
        }
        var messages: [Message] = []
        for (id, own) in byAdmission {
            guard let table = tables[id] else { continue }
            for (endpoint, counts) in zip(own, table.counts) {
                let index = endpoint.gate.indexInService
                messages.append(
                    Message(
                        endpoint, counts, table.running.filter { $0.message == index },
                        queued: table.queue.count { $0 == index }, methods, now: now))
            }
        }
        self.services = rows
        self.messages = messages.sorted { $0.method < $1.method }
    }

    fileprivate static func microseconds(since began: UInt64, _ now: UInt64) -> Double {
        now > began ? Double(now - began) / 1000 : 0
    }
}

extension MeshStatistics.Message {
    fileprivate init(
        _ endpoint: any RoutedEndpoint, _ counts: CallMetrics.Counts, _ running: [InFlightTable.Running],
        queued: Int, _ methods: [UInt32: String], now: UInt64
    ) {
        method = endpoint.method
        service = endpoint.serviceName
        completed = counts.completed
        failed = counts.failed
        cancelled = counts.cancelled
        inFlight = running.count
        admitted = counts.completed + counts.failed + counts.cancelled + running.count
        refused = counts.refused
        self.queued = queued
        p50 = Double(counts.latency.percentile(0.5)) / 1000
        p90 = Double(counts.latency.percentile(0.9)) / 1000
        p99 = Double(counts.latency.percentile(0.99)) / 1000
        max = Double(counts.latency.percentile(1)) / 1000
        oldest = running.map(\.began).min().map { MeshStatistics.microseconds(since: $0, now) }
        waitsFor = running.reduce(into: [:]) { waits, call in
            if let method = methods[call.waitsFor] { waits[method, default: 0] += 1 }
        }
    }
}
