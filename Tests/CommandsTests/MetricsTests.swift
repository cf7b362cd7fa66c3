import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import ServiceMeshTesting
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Metrics")
struct MetricsTests {
    @Test("Names, labels and numbers are written as Prometheus reads them") func text() {
        var page = PrometheusText()
        page.add("photos", "All of them.", 4_200_000_000)
        page.add("share", .gauge, "A line\nand a \\.", [([("what", "a \"b\" \\ \n")], 0.25), ([], .infinity)])
        page.add("nothing", .counter, "Without samples.", [])
        #expect(
            page.text == """
                # HELP photos All of them.
                # TYPE photos gauge
                photos 4200000000
                # HELP share A line\\nand a \\\\.
                # TYPE share gauge
                share{what="a \\"b\\" \\\\ \\n"} 0.25
                share +Inf

                """)
    }

    @Test("Every line of a daemon's figures is a comment or a sample, each metric stands once") func page() async throws
    {
        let mesh = try Mesh(services: [], journal: MemoryJobJournal())
        try await mesh.start()
        _ = try await mesh.send(CheckMeshHealth())
        let statistics = try await mesh.send(GetMeshStatistics())
        var page = PrometheusText()
        page.add(statistics)
        await mesh.stop()
        let lines = page.text.split(separator: "\n")
        let names = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(Set(names).count == names.count && names.count >= 6)
        #expect(lines.contains(#"smilepile_messages_total{method="mesh.health",outcome="completed"} 1"#))
        // The board for Grafana asks for nothing that there is not.
        page.add(Sample.status)
        let board = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("Scripts/examples/grafana-board.json"),
            encoding: .utf8)
        _ = try JSONDecoder().decode(JSONValue.self, from: Data(board.utf8))
        let asked = Set(board.matches(of: /smilepile_[a-z_]+/).map { String($0.output) })
        #expect(asked.count >= 10)
        for name in asked where name != "smilepile_newest_backup_age_seconds" {
            #expect(page.text.contains("# TYPE \(name) "), "\(name)")
        }
        for line in lines where !line.hasPrefix("#") {
            let isSample = line.wholeMatch(of: /[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+0-9.eInf]+/) != nil
            #expect(isSample, "\(line)")
        }
    }
}
