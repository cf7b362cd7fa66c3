import BenchSupport
import Foundation

/// The same ask in other people's systems: Erlang/OTP's `gen_server:call`, and a request with a reply channel in Go.
///
/// Each is a program that we write out, have compiled, and run: it makes its asks, slice by slice, and prints the median
/// slice's nanoseconds for an ask. Starting and compiling are not counted.
enum PeerAsks {
    /// A program ready to run: slices, asks of each caller in a slice, and callers are its last arguments.
    struct Program: Sendable {
        let arguments: [String]
        let folder: String

        /// Nanoseconds for each ask.
        func nanoseconds(_ load: AskLoad, in work: WorkFolder) throws -> Double {
            let numbers = [load.slices, load.asks, load.callers].map(String.init)
            let output = try Command(arguments + numbers, in: folder).run(in: work)
            guard let nanoseconds = Double(output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw Command.Failure(command: arguments.joined(separator: " "), status: 0, output: output)
            }
            return nanoseconds
        }
    }

    /// Nil where Erlang is not installed.
    static func erlang(in work: WorkFolder) throws -> Program? {
        guard Tool.erlang.path != nil else { return nil }
        let folder = work.newPath("erlang")
        try write(erlangSource, to: folder, name: "ask.erl")
        try Command(["erlc", "+inline", "ask.erl"], in: folder).run(in: work)
        return Program(arguments: ["erl", "-noshell", "-pa", ".", "-run", "ask", "main"], folder: folder)
    }

    /// Nil where Go is not installed.
    static func go(in work: WorkFolder) throws -> Program? {
        guard Tool.go.path != nil else { return nil }
        let folder = work.newPath("go")
        try write(goSource, to: folder, name: "ask.go")
        // Its caches go where everything else goes.
        let environment = ["GOCACHE": folder + "/cache", "GOPATH": folder + "/path", "GO111MODULE": "off"]
        try Command(["go", "build", "-o", "ask", "ask.go"], in: folder, environment: environment).run(in: work)
        return Program(arguments: ["./ask"], folder: folder)
    }

    private static func write(_ text: String, to folder: String, name: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try text.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
    }

    private static let erlangSource = """
        -module(ask).
        -behaviour(gen_server).
        -export([main/1, init/1, handle_call/3, handle_cast/2]).

        init(Total) -> {ok, Total}.
        handle_call({add, N}, _From, Total) -> {reply, Total + N, Total + N}.
        handle_cast(_, Total) -> {noreply, Total}.

        asks(_, 0) -> ok;
        asks(Server, N) -> gen_server:call(Server, {add, 1}), asks(Server, N - 1).

        slice(Server, Asks, Callers) ->
            Began = erlang:monotonic_time(nanosecond),
            Running = [spawn_monitor(fun() -> asks(Server, Asks) end) || _ <- lists:seq(1, Callers)],
            [receive {'DOWN', Ref, process, Pid, normal} -> ok end || {Pid, Ref} <- Running],
            (erlang:monotonic_time(nanosecond) - Began) / (Asks * Callers).

        main(Arguments) ->
            [Slices, Asks, Callers] = [list_to_integer(Text) || Text <- Arguments],
            {ok, Server} = gen_server:start_link(?MODULE, 0, []),
            asks(Server, 20000),
            Times = lists:sort([slice(Server, Asks, Callers) || _ <- lists:seq(1, Slices)]),
            io:format("~f~n", [lists:nth((Slices + 1) div 2, Times)]),
            halt(0).
        """

    private static let goSource = """
        package main

        import (
            "fmt"
            "os"
            "sort"
            "strconv"
            "sync"
            "time"
        )

        type ask struct {
            number int
            reply  chan int
        }

        func serve(asks chan ask) {
            total := 0
            for ask := range asks {
                total += ask.number
                ask.reply <- total
            }
        }

        func call(asks chan ask, count int) {
            for i := 0; i < count; i++ {
                reply := make(chan int, 1)
                asks <- ask{1, reply}
                <-reply
            }
        }

        func slice(asks chan ask, count, callers int) float64 {
            began := time.Now()
            var group sync.WaitGroup
            for i := 0; i < callers; i++ {
                group.Add(1)
                go func() {
                    call(asks, count)
                    group.Done()
                }()
            }
            group.Wait()
            return float64(time.Since(began).Nanoseconds()) / float64(count*callers)
        }

        func main() {
            slices, _ := strconv.Atoi(os.Args[1])
            count, _ := strconv.Atoi(os.Args[2])
            callers, _ := strconv.Atoi(os.Args[3])
            asks := make(chan ask)
            go serve(asks)
            call(asks, 20000)
            var times []float64
            for i := 0; i < slices; i++ {
                times = append(times, slice(asks, count, callers))
            }
            sort.Float64s(times)
            fmt.Println(times[(slices-1)/2])
        }
        """
}
