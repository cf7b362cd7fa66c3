import BenchSupport
import Foundation

/// Every operation of a library with few photos and of one with many: the time that each takes for a photo, the daemon's peak
/// of memory, and how long another caller waits meanwhile.
///
/// What takes longer for each photo the more there are ends some day with a daemon that does not answer.
struct ScaleMeasurement: Measurement {
    static let name = "scale"
    static let summary = "each operation with 10,000 photos and with 100,000: time a photo, memory, others' waits"
    static let options = [
        Arguments.Option("photos", "N,N…", "in the library, each size after the other (10000,100000)"),
        Arguments.Option(
            "distribution", "WORD", "day, years, trash (half is there) or imported: of which day and category (day)"),
        Arguments.Option("operations", "WORDS", "only those whose names begin so, separated by commas (all)"),
        Arguments.Option("runs", "N", "of each operation, the fastest is shown (1)"),
        Arguments.Option("growth", nil, "judges by the times alone, and looks again where one seems to grow"),
    ]
    static let quick = ["--photos", "1000,4000"]

    /// A photo among many may take so many times as long as one among few.
    private static let growth = 1.5
    /// Further looks at what seems to take longer than that.
    private static let looks = 3
    /// Of the daemon, in bytes.
    private static let memory: Int64 = 150_000_000
    /// Seconds that one request in a hundred may wait.
    private static let wait = 0.02

    let sizes: [Int]
    let distribution: ScaledLibrary.Distribution
    let operations: [ScaleOperation]
    let runs: Int
    let judgesGrowthAlone: Bool

    init(_ arguments: Arguments) throws {
        let words = (arguments.text("photos") ?? "10000,100000").split(separator: ",")
        sizes = words.compactMap { Int($0) }.filter { (200...10_000_000).contains($0) }
        guard sizes.count == words.count, !sizes.isEmpty else {
            throw Arguments.Mistake(description: "--photos are numbers from 200 to 10000000, such as 10000,100000.")
        }
        guard let distribution = ScaledLibrary.Distribution(rawValue: arguments.text("distribution") ?? "day") else {
            throw Arguments.Mistake(description: "--distribution is day, years, trash or imported.")
        }
        self.distribution = distribution
        let beginnings = (arguments.text("operations") ?? "").split(separator: ",").map(String.init)
        operations = ScaleOperation.all.filter { operation in
            beginnings.isEmpty || beginnings.contains(where: operation.name.hasPrefix)
        }
        guard !operations.isEmpty else {
            let names = ScaleOperation.all.map(\.name).joined(separator: ", ")
            throw Arguments.Mistake(description: "--operations are beginnings of: \(names).")
        }
        runs = try arguments.number("runs", in: 1...100) ?? 1
        judgesGrowthAlone = arguments.isSet("growth")
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        var libraries: [ScaledLibrary] = []
        defer { libraries.forEach { $0.end() } }
        for size in sizes {
            note("scale: making \(size) photos")
            libraries.append(try await ScaledLibrary.make(size, distribution, in: work))
        }
        return try operations.flatMap { operation in
            note("scale: \(operation.name)")
            return figures(operation, try samples(of: operation, libraries))
        }
    }

    /// One of each library.
    private func samples(of operation: ScaleOperation, _ libraries: [ScaledLibrary]) throws -> [ScaleSample] {
        var samples = try libraries.map { try operation.measure($0) }
        func repeated() throws -> [ScaleSample] {
            try zip(libraries, samples).map { library, sample in
                let next = try operation.measure(library)
                return next.seconds < sample.seconds ? next : sample
            }
        }
        for _ in 1..<max(1, runs) { samples = try repeated() }
        // What else a machine does makes one run longer, and rarely all.
        var left = judgesGrowthAlone ? Self.looks : 0
        while left > 0, samples.contains(where: { Self.hasGrown($0, since: samples[0]) }) {
            samples = try repeated()
            left -= 1
        }
        return samples
    }

    private static func hasGrown(_ sample: ScaleSample, since first: ScaleSample) -> Bool {
        sample.secondsAPhoto > first.secondsAPhoto * growth
    }

    private func figures(_ operation: ScaleOperation, _ samples: [ScaleSample]) -> [Figure] {
        zip(sizes, samples).map { size, sample in
            let first = samples[0]
            let isFirst = size == sizes[0]
            let ratio = first.secondsAPhoto / sample.secondsAPhoto
            let waits = "p99 \(Format.seconds(sample.waits.common)), \(Format.seconds(sample.waits.longest))"
            let isBearable =
                judgesGrowthAlone || (sample.peak < Self.memory && sample.waits.common < Self.wait)
            return Figure(
                "\(operation.name), \(sample.photos) of \(size)",
                ours: "\(Format.seconds(sample.secondsAPhoto)) a photo, \(Format.megabytes(sample.peak)), \(waits)",
                peer: isFirst ? "" : "\(Format.seconds(first.secondsAPhoto)) with \(sizes[0])",
                ratio: isFirst ? nil : ratio,
                must: (isFirst ? "" : "\(Format.ratio(1 / Self.growth)), ")
                    + "\(Format.megabytes(Self.memory)), p99 \(Format.seconds(Self.wait))",
                holds: isBearable && !Self.hasGrown(sample, since: first))
        }
    }
}

/// What one operation took.
struct ScaleSample {
    /// That it was about.
    let photos: Int
    let seconds: Double
    /// Of the daemon, in bytes.
    let peak: Int64
    /// Of another caller, who marks a photo meanwhile.
    let waits: OtherCaller.Waits
    var secondsAPhoto: Double { seconds / Double(photos) }
}
