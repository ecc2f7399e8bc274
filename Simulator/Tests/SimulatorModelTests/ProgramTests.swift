// SPDX-License-Identifier: Apache-2.0
import SimulatorModel
import Testing

@Suite struct ProgramTests {
    @Test("A program is greeted with the reader's technologies and the switches")
    func greeting() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator, name: "TagReader")
        let hello = try #require(program.received.first)
        #expect(hello["hello"] == 1)
        #expect(hello["technologies"] == ["nfc-a", "nfc-b", "nfc-f", "nfc-v"])
        #expect(hello["radio"] == true && hello["busy"] == false && hello["event"] == nil)
        #expect(program.events("switches").first?["radio"] == true)
        let app = try #require(try bench.state("apps").array?.first)
        #expect(app["name"] == "TagReader")
        #expect(app["connected"] == true)
        program.close()
        #expect(try bench.state("apps").array?.first?["connected"] == false)
    }

    @Test("Greeting with an unknown version or kind of program: answered with an error")
    func unknownVersion() {
        let bench = Bench()
        let program = TestProgram(bench.simulator, hello: ["hello": 2, "client": "app"])
        #expect(program.received.map { $0["error"] } == ["unknown-version"])
        let other = TestProgram(bench.simulator, hello: ["hello": 1, "client": "toaster"])
        #expect(other.received.map { $0["error"] } == ["invalid-request"])
    }

    @Test("Reader: one program at a time has the reader, in the order of the claims")
    func turns() throws {
        let bench = Bench()
        let first = try TestProgram(bench.simulator, name: "A")
        let second = try TestProgram(bench.simulator, name: "B")
        let third = try TestProgram(bench.simulator, name: "C")
        #expect(first.ask(["do": "claim", "for": "session"])?["granted"] == true)
        #expect(second.ask(["do": "claim"]) == nil)
        #expect(third.ask(["do": "claim"]) == nil)
        #expect(try bench.state("phone")["front"] == "a")
        first.ask(["do": "release"])
        #expect(second.received.last?["granted"] == true)
        #expect(third.received.last?["granted"] == nil)
        second.close()
        #expect(third.received.last?["granted"] == true)
        #expect(first.ask(["do": "claim"]) == nil)
        #expect(first.ask(["do": "claim"])?["error"] == "already-claimed")
    }

    @Test("Program that withdraws its claim: does not get the reader")
    func leavingTheQueue() throws {
        let bench = Bench()
        let first = try TestProgram(bench.simulator, name: "A")
        let second = try TestProgram(bench.simulator, name: "B")
        let third = try TestProgram(bench.simulator, name: "C")
        first.ask(["do": "claim"])
        second.ask(["do": "claim"])
        third.ask(["do": "claim"])
        second.ask(["do": "release"])
        first.ask(["do": "release"])
        #expect(!second.received.contains { $0["granted"] == true })
        #expect(third.received.last?["granted"] == true)
        #expect(try bench.state("phone")["front"] == "c")
    }

    @Test("Sheet of a program: dismissed by that program, not by another one")
    func foreignSheet() throws {
        let bench = Bench()
        let first = try TestProgram(bench.simulator, name: "A")
        let second = try TestProgram(bench.simulator, name: "B")
        first.ask(["do": "claim"])
        first.ask(["do": "sheet", "state": "ready", "title": "", "message": "Hold near"])
        second.ask(["do": "sheet", "state": "dismissed"])
        second.close()
        #expect(try bench.state("phone")["sheet"]?["message"] == "Hold near")
        first.ask(["do": "sheet", "state": "dismissed"])
        #expect(try bench.state("phone")["sheet"] == .null)
    }

    @Test("Screen of an app with two connections: stays until the last one ends")
    func twoConnections() throws {
        let bench = Bench()
        let first = try TestProgram(bench.simulator, name: "Shop")
        let second = try TestProgram(bench.simulator, name: "Shop")
        first.ask(["do": "screen", "screen": ["title": "Shop", "items": []]])
        second.close()
        let app = try #require(try bench.state("apps").array?.first)
        #expect(app["screen"]?["title"] == "Shop")
        #expect(app["running"] == true)
        first.close()
        #expect(try bench.state("apps").array?.first?["running"] == false)
        #expect(try bench.state("apps").array?.first?["screen"] == .null)
    }

    @Test("App that is started through a shell: has the name that its program gives")
    func ownName() throws {
        let bench = Bench()
        try bench.act(["do": "start_app", "command": "sh -c 'exec ./reader'"])
        let id = try #require(try bench.state("apps").array?.first?["id"]?.string)
        bench.simulator.appRuns(id, pid: 77)
        let send: @Sendable (JSON) -> Void = { _ in }
        let connection = ProgramConnection(bench.simulator, pid: 78, ancestors: [78, 77], send: send)
        _ = connection.receive((["hello": 1, "client": "app", "name": "Reader"] as JSON).bytes)
        #expect(try bench.state("apps").array?.map { $0["name"] } == ["Reader"])
    }

    @Test("Frame with 7 bits in its last byte: sent without a checksum, invalid-request with one")
    func incompleteByte() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213"])
        try bench.act(["do": "hold", "tag": .string(id)])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "carrier", "on": true])
        let request: [String: JSON] = ["do": "frame", "technology": "nfc-a", "bytes": "26", "bits": 7]
        #expect(program.ask(request.merging(["checksum": "crc-b"]) { $1 })?["error"] == "invalid-request")
        #expect(program.ask(request)?["bytes"] == "4400")
    }

    @Test(
        "Value of a wrong type: refused with a sentence that names it",
        arguments: [
            (["do": "frame", "technology": "nfc-a", "bytes": "3000", "checksum": true], "checksum"),
            (["do": "frame", "technology": "nfc-a", "bytes": "26", "bits": "7"], "bits"),
            (["do": "frame", "technology": "nfc-a", "bytes": "3000", "timeout_us": "long"], "timeout_us"),
            (["do": "sheet", "state": "ready", "message": 1], "message"),
            (["do": "sheet", "state": "failure", "shows_error_symbol": 1], "shows_error_symbol"),
            (["do": "event", "kind": "log", "name": 204], "name"),
        ] as [([String: JSON], String)]
    )
    func wrongTypes(request: [String: JSON], name: String) throws {
        let answer = try #require(try TestProgram(Bench().simulator).ask(request))
        #expect(answer["error"] == "invalid-request")
        #expect(answer["message"]?.string?.contains("\"\(name)\"") == true)
    }

    @Test("Program that has no turn: its commands are refused as in-use while another program has the reader")
    func inUse() throws {
        let bench = Bench()
        let first = try TestProgram(bench.simulator, name: "A")
        let second = try TestProgram(bench.simulator, name: "B")
        first.ask(["do": "claim"])
        #expect(second.ask(["do": "carrier", "on": true])?["error"] == "in-use")
        first.ask(["do": "release"])
        #expect(second.ask(["do": "carrier", "on": true])?["error"] == nil)
    }

    @Test("Switches radio and busy: claims are refused, and programs are informed")
    func refusedSessions() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator)
        try bench.act(["do": "switch", "name": "busy", "value": true])
        #expect(program.events("switches").last?["busy"] == true)
        #expect(program.ask(["do": "claim"])?["error"] == "system-is-busy")
        try bench.act(["do": "switch", "name": "busy", "value": false])
        try bench.act(["do": "switch", "name": "radio", "value": false])
        #expect(program.ask(["do": "claim"])?["error"] == "radio-disabled")
    }

    @Test("The sheet of an app is on the phone, and the person can cancel it")
    func sheet() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        program.ask([
            "do": "sheet", "state": "ready", "title": "Ready to Scan", "message": "Hold near",
            "shows_error_symbol": false,
        ])
        let sheet = try bench.state("phone")["sheet"]
        #expect(sheet?["message"] == "Hold near")
        #expect(sheet?["can_cancel"] == true)
        try bench.act(["do": "cancel_sheet"])
        #expect(program.events("cancel").count == 1)
        program.ask(["do": "sheet", "state": "success", "title": "", "message": "", "shows_error_symbol": false])
        #expect(bench.refusal(["do": "cancel_sheet"])?.code == "no-sheet")
        program.ask(["do": "sheet", "state": "dismissed"])
        #expect(try bench.state("phone")["sheet"] == .null)
        #expect(program.ask(["do": "sheet", "state": "upside-down"])?["error"] == "invalid-request")
    }

    @Test("Program that releases the reader: its waiting sheet is dismissed, a result stays until the program ends")
    func sheetsAfterTurns() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator)
        for (state, stays) in [("ready", false), ("success", true), ("failure", true)] {
            program.ask(["do": "claim"])
            program.ask(["do": "sheet", "state": .string(state), "title": "", "message": ""])
            program.ask(["do": "release"])
            #expect(try (bench.state("phone")["sheet"] != .null) == stays)
        }
        program.close()
        #expect(try bench.state("phone")["sheet"] == .null)
    }

    @Test("Switch user_cancels: each sheet is cancelled after a second")
    func personCancels() throws {
        let bench = Bench()
        try bench.act(["do": "switch", "name": "user_cancels", "value": true])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        program.ask(["do": "sheet", "state": "ready", "title": "", "message": ""])
        #expect(program.events("cancel").isEmpty)
        bench.clock.advance(by: .seconds(1))
        #expect(program.events("cancel").count == 1)
    }

    @Test("Events of sessions are in the trace and in the list of sessions")
    func events() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator, name: "Scanner")
        program.ask(["do": "event", "session": 1, "kind": "session", "name": "begin", "detail": "NFCNDEFReaderSession"])
        bench.clock.advance(by: .seconds(2))
        program.ask(["do": "event", "session": 1, "kind": "callback", "name": "readerSession(_:didDetectNDEFs:)"])
        program.ask(["do": "event", "session": 1, "kind": "session", "name": "invalidate", "detail": "200"])
        let session = try #require(try bench.state("sessions").array?.first)
        #expect(session["kind"] == "NFCNDEFReaderSession")
        #expect(session["ended_us"] == 2_000_000)
        #expect(session["end"] == "200")
        let rows = try #require(try bench.act(["do": "trace_rows"])["rows"]?.array)
        #expect(rows.map { $0["kind"] } == ["session", "callback", "session"])
        #expect(program.ask(["do": "event", "kind": "dance"])?["error"] == "invalid-request")
    }

    @Test("Program that disconnects: its session ends as disconnected, and its sheet is dismissed")
    func lostProgram() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        program.ask(["do": "sheet", "state": "ready", "title": "", "message": ""])
        program.ask(["do": "event", "session": 1, "kind": "session", "name": "begin"])
        program.close()
        #expect(try bench.state("sessions").array?.first?["end"] == "disconnected")
        #expect(try bench.state("phone")["sheet"] == .null)
    }

    @Test("App started elsewhere: can't be stopped; app started here: runs until its process has ended")
    func startedElsewhere() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator, name: "Shop")
        #expect(try bench.act(["do": "start_app", "command": "swift run Shop"])["app"] == "shop")
        #expect(bench.refusal(["do": "stop_app", "app": "shop"])?.code == "not-started-here")
        program.close()
        #expect(try bench.state("apps").array?.map { $0["running"] } == [false])
        // One that was started here runs until it has ended, whatever its connections do.
        bench.simulator.appRuns("shop", pid: 4711)
        try TestProgram(bench.simulator, name: "Shop").close()
        #expect(try bench.state("apps").array?.map { $0["running"] } == [true])
        try bench.act(["do": "stop_app", "app": "shop"])
        bench.simulator.appRuns("shop", pid: nil)
        #expect(try bench.state("apps").array?.map { $0["running"] } == [false])
    }

    @Test("File opened while an app scans: the app's sheet stays, and can be cancelled")
    func sheetOverFile() throws {
        let bench = Bench()
        let file = try #require(try bench.act(["do": "save"])["base64"])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        program.ask(["do": "sheet", "state": "scanning", "title": "Scan", "message": ""])
        try bench.act(["do": "open", "base64": file])
        #expect(try bench.state("phone")["sheet"]?["title"] == "Scan")
        try bench.act(["do": "cancel_sheet"])
        #expect(program.events("cancel").count == 1)
    }

    @Test("The last 200 lines that an app has printed are kept")
    func output() throws {
        let bench = Bench()
        try bench.act(["do": "start_app", "command": "shop"])
        for number in 0...Limits.output { bench.simulator.appPrinted("shop", "\(number)") }
        let output = try bench.state("apps").array?.first?["output"]?.array?.compactMap { $0.string }
        #expect(output == (1...Limits.output).map { "\($0)" })
    }

    @Test("A press on an app's screen reaches the app")
    func screens() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator, name: "Shop")
        program.ask([
            "do": "screen", "screen": ["title": "Shop", "items": [["kind": "button", "id": "scan", "text": "Scan"]]],
        ])
        #expect(try bench.state("apps").array?.first?["screen"]?["title"] == "Shop")
        try bench.act(["do": "press", "app": "shop", "item": "scan"])
        #expect(program.events("press").last?["item"] == "scan")
        let huge = JSON.string(String(repeating: "x", count: Limits.screen))
        #expect(program.ask(["do": "screen", "screen": ["title": huge]])?["error"] == "invalid-request")
        program.close()
        #expect(bench.refusal(["do": "press", "app": "shop", "item": "scan"])?.code == "not-connected")
    }

    @Test("Program that sends APDUs without frames: the first ISO-DEP card answers; without a card, tag-removed")
    func commands() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator, client: "reader")
        #expect(program.ask(["do": "apdu", "apdu": "00a4040007d276000085010100"])?["error"] == "tag-removed")
        let id = try bench.add(["product": "generic Type 4", "text": "x"])
        try bench.act(["do": "hold", "tag": .string(id)])
        #expect(program.ask(["do": "apdu", "apdu": "00a4040007d276000085010100"])?["apdu"] == "9000")
        #expect(program.ask(["do": "apdu", "apdu": "00a4000c02e103"])?["apdu"] == "9000")
        #expect(program.ask(["do": "apdu", "apdu": "00b000000f"])?["apdu"]?.string?.hasSuffix("9000") == true)
        let tags = try #require(program.ask(["do": "poll"])?["tags"]?.array)
        #expect(tags.map { $0["iso_dep"] } == [true])
        #expect(program.ask(["do": "apdu", "apdu": "xyz"])?["error"] == "invalid-request")
    }

    @Test("Program that watches tags: told of each arrival and departure; each arrival has a number of its own")
    func presence() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "uid": "04a1b2c3d4e5f6"])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "watch"])
        try bench.act(["do": "tap", "tag": .string(id)])
        let arrival = program.ask(["do": "arrival", "identifier": "04a1b2c3d4e5f6"])?["arrival"]?.int
        #expect(arrival != nil)
        bench.clock.advance(by: .seconds(1))
        #expect(program.events("presence").count == 2)
        #expect(program.ask(["do": "arrival", "identifier": "04a1b2c3d4e5f6"])?["arrival"] == .null)
        try bench.act(["do": "tap", "tag": .string(id)])
        let next = program.ask(["do": "arrival", "identifier": "04a1b2c3d4e5f6"])?["arrival"]?.int
        #expect(next != arrival)
    }

    @Test(
        "Line that is not a valid request: answered with an error, and the next one is handled",
        arguments: [
            "", "{", "[]", "null", "{\"do\":7}", "{\"id\":1}", "{\"id\":1,\"do\":\"fly\"}",
            "{\"id\":1,\"do\":\"frame\",\"technology\":\"nfc-x\",\"bytes\":\"26\"}",
            "{\"id\":1,\"do\":\"frame\",\"technology\":\"nfc-a\",\"bytes\":\"2\"}",
            "{\"id\":1,\"do\":\"frame\",\"technology\":\"nfc-a\",\"bytes\":\"26\",\"bits\":9}",
            "{\"id\":1,\"do\":\"frame\",\"technology\":\"nfc-a\",\"bytes\":\"26\",\"timeout_us\":-1}",
            "{\"id\":1,\"do\":\"carrier\"}", "{\"id\":1,\"do\":\"arrival\",\"identifier\":5}",
            String(repeating: "[", count: 100_000),
        ]
    )
    func badLines(_ line: String) throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator)
        #expect(program.send(line: line))
        #expect(program.received.last?["error"] != nil)
        #expect(program.ask(["do": "watch"])?["error"] == nil)
    }

    @Test("Programs beyond the limit are refused with a sentence")
    func limit() throws {
        let bench = Bench()
        let programs = try (0..<Limits.clients).map { try TestProgram(bench.simulator, name: "App \($0)") }
        let more = TestProgram(bench.simulator, hello: ["hello": 1, "client": "app", "name": "More"])
        #expect(more.received.last?["error"] == "too-many-clients")
        programs[0].close()
        let again = TestProgram(bench.simulator, hello: ["hello": 1, "client": "app", "name": "More"])
        #expect(again.received.first?["hello"] == 1)
    }
}
