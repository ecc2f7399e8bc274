// SPDX-License-Identifier: Apache-2.0
import Foundation
import SimulatorModel
import TagTrace
import Testing

@Suite struct TraceTests {
    private func read() throws -> Bench {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "uid": "04a1b2c3d4e5f6", "text": "x"])
        try bench.act(["do": "hold", "tag": .string(id)])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        _ = program.selectType2()
        _ = program.frame("nfc-a", "3004")
        return bench
    }

    private func file(_ bench: Bench, _ format: String) throws -> [UInt8] {
        let answer = try bench.act(["do": "export_trace", "format": .string(format)])
        let text = try #require(answer["base64"]?.string)
        return [UInt8](try #require(Data(base64Encoded: text)))
    }

    @Test("Trace exported as a recording: each exchange is in it")
    func recording() throws {
        let recording = try Recording(parsing: try file(try read(), "recording"))
        #expect(recording.readerName == "simulator")
        #expect(recording.trace.lines.map(\.meaning).contains("READ 04"))
        #expect(recording.exchangeCount == 6)
    }

    @Test("Trace exported for Wireshark and as text: has its format; another format is refused")
    func capture() throws {
        let bench = try read()
        #expect(try file(bench, "pcapng").starts(with: [0x0A, 0x0D, 0x0D, 0x0A]))
        #expect(String(decoding: try file(bench, "text"), as: UTF8.self).contains("READ 04"))
        #expect(bench.refusal(["do": "export_trace", "format": "mp3"])?.code == "invalid-request")
    }

    @Test("Trace of a saved file, opened elsewhere: the same rows, sessions, totals and exports; new rows follow it")
    func savedTrace() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "text": "x"])
        let second = try bench.add(["product": "NTAG215", "text": "y"])
        let program = try TestProgram(bench.simulator)
        for number in 1...2 {
            program.send(["do": "event", "session": .int(number), "kind": "session", "name": "begin", "detail": "X"])
        }
        program.send(["do": "event", "session": 1, "kind": "session", "name": "invalidate", "detail": "200"])
        try bench.act(["do": "hold", "tag": .string(id)])
        program.ask(["do": "claim"])
        bench.clock.advance(by: .seconds(2000))
        program.ask(["do": "carrier", "on": true])
        _ = program.selectType2()
        _ = program.frame("nfc-a", "3004")
        // No answer, and the answers of two tags.
        _ = program.frame("nfc-a", "50ff")
        program.ask(["do": "carrier", "on": false])
        try bench.act(["do": "hold", "tag": .string(second)])
        program.ask(["do": "carrier", "on": true])
        for (bits, bytes) in [(7, "26"), (8, "9320")] {
            program.ask([
                "do": "frame", "technology": "nfc-a", "bytes": .string(bytes), "bits": .int(bits), "checksum": "none",
            ])
        }
        let other = Bench()
        _ = try other.add(["product": "NTAG213"])
        try other.act(["do": "open", "base64": try #require(try bench.act(["do": "save"])["base64"])])
        func rows(_ bench: Bench) throws -> [JSON]? { try bench.act(["do": "trace_rows"])["rows"]?.array }
        #expect(try rows(other) == rows(bench))
        #expect(try rows(other)?.contains { $0["error"] == "collision" } == true)
        for format in ["recording", "text"] { #expect(try file(other, format) == file(bench, format)) }
        for part in ["exchanges", "bytes", "clock_us"] {
            #expect(try other.state("summary")[part] == bench.state("summary")[part], "\(part)")
        }
        let sessions = try #require(try other.state("sessions").array)
        #expect(sessions.map { $0["end"] } == ["200", "disconnected"])
        try other.act(["do": "hold", "tag": .string(id)])
        let times = try #require(try rows(other)).compactMap { $0["t_us"]?.int }
        #expect(times == times.sorted())
        for trace in ["{}", #"{"kind":"exchange","t_us":1,"words":"x"}"#, "?"] as [String] {
            let damaged: JSON = ["opencorenfc_simulator": 1, "tags": [], "trace": .string(trace)]
            #expect(other.refusal(["do": "open", "file": damaged])?.code == "bad-file")
        }
    }

    @Test("Password in the trace: hidden in rows, text, recording and saved file, and no result of a search")
    func secrets() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213"])
        try bench.act(["do": "hold", "tag": .string(id)])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        _ = program.selectType2()
        _ = program.frame("nfc-a", "1bdeadbeef")
        for format in ["text", "recording"] {
            #expect(
                !String(decoding: try file(bench, format), as: UTF8.self).replacing(" ", with: "").contains("deadbeef")
            )
        }
        let saved = try #require(Data(base64Encoded: try bench.act(["do": "save"])["base64"]?.string ?? ""))
        #expect(String(decoding: saved, as: UTF8.self).contains("1b00000000"))
        let rows = try bench.act(["do": "trace_rows"]).text
        #expect(!rows.contains("deadbeef"))
        #expect(try bench.act(["do": "trace_find", "text": "deadbeef"])["rows"]?.array?.isEmpty == true)
    }

    @Test("Rows are found by their words, their bytes and their tags")
    func finding() throws {
        let bench = try read()
        #expect(try bench.act(["do": "trace_find", "text": "read 04"])["rows"]?.array?.count == 1)
        #expect(try bench.act(["do": "trace_find", "text": "30 04"])["rows"]?.array?.count == 1)
        #expect(try bench.act(["do": "trace_find", "text": "ntag213"])["rows"]?.array?.isEmpty == false)
        #expect(try bench.act(["do": "trace_find", "text": "elsewhere"])["rows"]?.array?.isEmpty == true)
    }

    @Test("Trace for the page: each row once and in order; a cleared trace is sent as a reset")
    func following() throws {
        let bench = try read()
        var place = TracePosition()
        let first = try #require(bench.simulator.traceMessage(from: &place, limit: 3))
        #expect(first["from"] == 0)
        #expect(first["rows"]?.array?.count == 3)
        let second = try #require(bench.simulator.traceMessage(from: &place))
        #expect(second["from"] == 3)
        #expect(bench.simulator.traceMessage(from: &place) == nil)
        try bench.act(["do": "clear_trace"])
        let third = try #require(bench.simulator.traceMessage(from: &place))
        #expect(third["reset"] == true)
        #expect(third["rows"] == [])
        #expect(try bench.state("summary")["exchanges"] == 0)
    }

    @Test("Cleared trace: sessions that have ended are removed from the list, active ones stay")
    func clearedSessions() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator)
        for number in 1...2 {
            program.send(["do": "event", "session": .int(number), "kind": "session", "name": "begin", "detail": "X"])
        }
        program.send(["do": "event", "session": 1, "kind": "session", "name": "invalidate", "detail": "200"])
        try bench.act(["do": "clear_trace"])
        #expect(try bench.state("sessions").array?.map { $0["ended_us"] } == [.null])
    }

    @Test("Rows of the trace: at most 1000 at a time, none behind the end, and negative positions are refused")
    func ranges() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator)
        for _ in 0..<Limits.rows + 5 { program.send(["do": "event", "kind": "callback", "name": "again"]) }
        func rows(_ from: Int, _ count: Int) throws -> [JSON] {
            try bench.act(["do": "trace_rows", "from": .int(from), "count": .int(count)])["rows"]?.array ?? []
        }
        #expect(try rows(0, .max).count == Limits.rows)
        #expect(try rows(Limits.rows, 10).count == 5)
        let behind = try bench.act(["do": "trace_rows", "from": .int(.max), "count": 10])
        #expect(behind["rows"] == [] && behind["from"] == .int(Limits.rows + 5))
        for (from, count) in [(-1, 1), (0, -1)] {
            let action: JSON = ["do": "trace_rows", "from": .int(from), "count": .int(count)]
            #expect(bench.refusal(action)?.code == "invalid-request")
        }
    }

    @Test("Full trace: the oldest rows are dropped, and the page gets a reset")
    func limit() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator)
        var place = TracePosition()
        for _ in 0...Limits.trace { program.send(["do": "event", "kind": "callback", "name": "again"]) }
        let message = try #require(bench.simulator.traceMessage(from: &place))
        #expect(message["reset"] == true)
        let total = try #require(try bench.act(["do": "trace_rows", "from": 0, "count": 1])["total"]?.int)
        #expect(total <= Limits.trace)
        let last = try bench.act(["do": "trace_rows", "from": .int(total - 1), "count": 10])["rows"]?.array
        #expect(last?.map { $0["n"] } == [.int(Limits.trace + 1)])
        try bench.act(["do": "open", "base64": try #require(try bench.act(["do": "save"])["base64"])])
        #expect(try bench.state("summary")["rows"] == .int(Limits.savedRows))
    }
}
