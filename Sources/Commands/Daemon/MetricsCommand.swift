import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    /// For monitoring: what Prometheus's node exporter reads from a file, and others from a program or over the page's port.
    static let metricsCommand = Command(
        words: ["metrics"], summary: "Print the library's and the daemon's figures for Prometheus.",
        details: """
            In the text format of Prometheus. The node exporter takes it from a file in its textfile folder: let a timer write
            it beside that, and give it the file's name then. It names no photo, no category and no person.
            Over the page's port it is at /metrics, for who brings the token that --token makes and prints: from this machine, or
            with TLS. The token is told once, opens nothing else, and ends where another is made or --forget-token is given.
            """,
        options: [
            .flag("token", help: "Make and print a token for /metrics. One that was made before ends."),
            .flag("forget-token", help: "End the token: nobody reads /metrics any more."),
        ],
        examples: [
            Example("smilepile metrics", "All of them."),
            Example("smilepile metrics > smilepile.prom.new", "For the node exporter."),
            Example("smilepile metrics --token > /etc/prometheus/smilepile.token", "For a scrape of /metrics."),
        ]
    ) { invocation, session in
        let (makes, forgets) = (invocation.has("token"), invocation.has("forget-token"))
        if makes, forgets { throw invocation.usageError("Give --token or --forget-token, and not both.") }
        return try await session.withLibrary { library in
            if makes {
                session.show(try await library.send(MakeMetricsToken())) { made in
                    session.console.result(made.token)
                    session.console.message(
                        "It is told this once. In a scrape of Prometheus: authorization: {credentials: TOKEN}")
                }
            } else if forgets {
                session.show(try await library.send(ForgetMetricsToken())) { forgotten in
                    session.console.result(
                        forgotten.wasSet ? "The token is forgotten." : "There was no token.")
                }
            } else {
                let status = try await library.send(GetLibraryStatus()).value
                session.show(try await library.send(GetMeshStatistics())) { mesh in
                    var page = PrometheusText()
                    page.add(status)
                    page.add(mesh)
                    session.console.result(String(page.text.dropLast()))
                }
            }
            return .done
        }
    }
}
