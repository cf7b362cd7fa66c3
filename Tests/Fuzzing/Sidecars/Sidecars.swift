import Foundation
import FuzzSupport
import Glibc

@testable import Sidecars

/// What lies beside pictures: every input is read as a document of Takeout, as XMP, as the name of a picture, and as
/// the names of a folder's files, one a line.
@main
enum SidecarFiles: FuzzTarget {
    /// 2026-01-01 12:00 UTC.
    private static let now: Int64 = 1_767_268_800_000

    static func seeds() -> [[UInt8]] { SidecarSeeds.all() }

    static func run(_ input: [UInt8]) {
        check({ (data) throws(SidecarError) in try TakeoutDocument(data, now: now).facts }, input)
        check({ (data) throws(SidecarError) in try XMPSidecar(data, now: now).facts }, input)
        let text = String(decoding: input, as: UTF8.self)
        checkDate(text)
        checkNames(text.utf8.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) })
    }

    private static func check(_ read: (Data) throws(SidecarError) -> SidecarFacts, _ input: [UInt8]) {
        do throws(SidecarError) {
            let facts = try read(Data(input))
            require(try read(Data(input)) == facts, "read again it is another")
            check(facts)
        } catch {
            let sentence = "\(error)"
            require(sentence.utf8.count < 200 && sentence.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, sentence)
        }
    }

    private static func check(_ facts: SidecarFacts) {
        for text in [facts.caption, facts.title] {
            guard let text else { continue }
            require((1...SidecarFacts.captionLength).contains(text.count), "\(text.count) characters")
            require(text.utf8.count <= SidecarFacts.captionLength * 16, "\(text.utf8.count) bytes")
            require(
                text.first?.isWhitespace == false && text.last?.isWhitespace == false
                    && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "no clean line")
        }
        require(facts.rating.map((0...5).contains) ?? true, "rating \(facts.rating ?? -1)")
        require((facts.latitude == nil) == (facts.longitude == nil), "half a place")
        if let latitude = facts.latitude, let longitude = facts.longitude {
            require(abs(latitude) <= 90 && abs(longitude) <= 180 && (latitude != 0 || longitude != 0), "a wrong place")
        }
        if let taken = facts.taken {
            // A clock may be ahead of UTC by its offset.
            let latest = now + 86_400_000 + 16 * 3_600_000
            require((-5_364_662_400_000...latest).contains(taken.milliseconds), "\(taken)")
            if case .wall(let minutes?) = taken.clock { require(abs(minutes) <= 16 * 60, "\(minutes) minutes") }
        }
    }

    private static func checkDate(_ name: String) {
        guard let found = FileNameDate.date(in: name, now: now) else { return }
        require((-4_102_444_800_000...now + 86_400_000).contains(found.milliseconds), "\(found)")
        // Written in another way, by way of the C library, it is found again.
        let millisecond = (found.milliseconds % 1000 + 1000) % 1000
        var seconds = time_t((found.milliseconds - millisecond) / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let numbers = [
            parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        ].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let again =
            "signal-" + numbers.joined(separator: "-")
            + "-\(1000 + millisecond)".replacing("-1", with: "-")
        require(
            FileNameDate.date(in: again, now: now)?.milliseconds == found.milliseconds,
            "\(found) comes back from \(again)")
    }

    private static func checkNames(_ names: [String]) {
        let sidecars = SidecarNames(names)
        require(sidecars.steps <= 100 * (names.count + 1), "\(sidecars.steps) steps for \(names.count) names")
        let unclaimed = Set(sidecars.unclaimed.map { Array($0.utf8) })
        var owners: [[UInt8]: [UInt8]] = [:]
        for name in Set(names.map { Array($0.utf8) }) {
            let picture = String(decoding: name, as: UTF8.self)
            let candidates = sidecars.candidates(for: picture)
            require(candidates.count <= SidecarNames.maximumCandidates, "\(candidates.count) candidates")
            require(candidates.isEmpty || !SidecarNames.isSidecar(picture), "a sidecar has sidecars")
            // Any line serves as a title.
            let selection = sidecars.selection(for: picture) { candidate in
                guard candidate.name.utf8.count % 3 != 0 else { return nil }
                var facts = SidecarFacts()
                facts.title = names[candidate.name.utf8.count % names.count]
                return facts
            }
            let known = Set(candidates.map { Array($0.name.utf8) })
            for sidecar in (selection.names + selection.ambiguous).map({ Array($0.utf8) }) {
                require(known.contains(sidecar) && !unclaimed.contains(sidecar), "no candidate was selected")
            }
            guard PictureName(FolderName(name)).original == nil else { continue }
            for sidecar in selection.names.map({ Array($0.utf8) }) {
                require(owners.updateValue(name, forKey: sidecar) == nil, "a sidecar was given to two pictures")
            }
        }
    }
}
