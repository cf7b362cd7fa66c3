import BenchSupport
import Foundation
import LibraryModel
import Sealing
import ServiceMesh
import TextFolding

/// Sealed fields: what sealing and opening cost alone and by messages, and a text search through all notes of a library,
/// beside one through the same notes as plain text in memory, which is what sealing them takes away.
struct SealedRows: Sendable {
    let notes: Int
    let runs: Int

    /// 240 characters, of which one note in a thousand has the word that is looked for.
    private static func text(_ number: Int) -> String {
        let word = number % 1000 == 7 ? "Leuchtturm" : "Gummistiefel"
        let sentence = "Nr. \(number): heute mit \(word) am Strand, es war windig und wir fanden Möwenfedern. "
        return String(String(repeating: sentence, count: 4).prefix(240))
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let filled = try await FilledLibrary.make(notes, named: "sealed", in: work)
        let mesh = filled.library.mesh
        let count = notes
        note("daily: sealing \(count) notes by 256 callers")
        let seconds = try await Measuring.seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<256 {
                    group.addTask {
                        for id in stride(from: caller + 1, through: count, by: 256) {
                            _ = try await mesh.send(SetPhotoDetail(id: Int64(id), notes: Self.text(id)))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let alone = try cipher()
        let search = SearchPhotoDetails(text: "leuchtturm")
        let plain = (1...count).map(Self.text)
        ProcessFacts.forgetPeak()
        let before = ProcessFacts.residentMemory(getpid())
        let times = try await Measuring.interleaved(
            runs: runs,
            [
                { try await Measuring.seconds { _ = try await mesh.send(search) } },
                {
                    Measuring.blockingSeconds {
                        _ = plain.count { $0.searchFolded.contains("leuchtturm") }
                    }
                },
                {
                    try await Measuring.seconds {
                        for id in 1...200 { _ = try await mesh.send(GetPhotoDetail(id: Int64(id))) }
                    } / 200
                },
            ])
        let peak = ProcessFacts.peakMemory(getpid()) - before
        let found = try await mesh.send(search)
        guard found.total == (1...count).count(where: { $0 % 1000 == 7 }), found.unreadable == 0 else {
            throw BenchLibrary.Failed(description: "The search found \(found.total) of the notes.")
        }
        await filled.library.close()
        return [
            Figure("sealing a note of 240 characters, alone", ours: Format.rate(alone.sealing, "values")),
            Figure("opening one, alone", ours: Format.rate(alone.opening, "values")),
            Figure("durable sealed notes from 256 callers", ours: Format.rate(Double(count) / seconds, "writes")),
            Figure("a photo's sealed fields, one at a time", ours: Format.seconds(times[2])),
            Figure(
                "text in \(count) sealed notes vs in the same as plain text", ours: Format.seconds(times[0]),
                peer: Format.seconds(times[1]), ratio: times[1] / times[0]),
            Figure("memory that the search takes", ours: Format.megabytes(peak)),
        ]
    }

    /// Values a second.
    private func cipher() throws -> (sealing: Double, opening: Double) {
        let key = try DataKey()
        let place = SealedPlace(table: "sealed_fields", column: "notes", row: UUID().uuidString)
        let text = Array(Self.text(1).utf8)
        let count = 50_000
        var sealed = key.seal(text, at: place).bytes
        let sealing = Measuring.blockingSeconds { for _ in 0..<count { sealed = key.seal(text, at: place).bytes } }
        let opening = try Measuring.blockingSeconds {
            for _ in 0..<count { _ = try key.open(SealedValue(sealed), at: place) }
        }
        return (Double(count) / sealing, Double(count) / opening)
    }
}
