// SPDX-License-Identifier: Apache-2.0
import SimulatorModel
import Testing

@Suite struct FieldTests {
    private func near(_ bench: Bench) throws -> [JSON?] {
        try bench.state("tags").array?.filter { $0["near"] == true }.map { $0["id"] } ?? []
    }

    @Test("Tapped tag: near for half a second")
    func tapping() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213"])
        try bench.act(["do": "tap", "tag": .string(id)])
        bench.clock.advance(by: .milliseconds(499))
        #expect(try near(bench) == [.string(id)])
        bench.clock.advance(by: .milliseconds(1))
        #expect(try near(bench).isEmpty)
    }

    @Test("Held tag: stays near until it is removed, also if it was tapped before")
    func holding() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213"])
        try bench.act(["do": "tap", "tag": .string(id)])
        try bench.act(["do": "hold", "tag": .string(id)])
        bench.clock.advance(by: .seconds(60))
        #expect(try near(bench) == [.string(id)])
        #expect(try bench.tag(id)["holding"] == true)
        try bench.act(["do": "leave"])
        #expect(try near(bench).isEmpty)
    }

    @Test("Several tags are near at once, up to a limit")
    func several() throws {
        let bench = Bench()
        let ids = try (0...Limits.near).map { _ in try bench.add(["product": "NTAG213"]) }
        for id in ids.dropLast() { try bench.act(["do": "bring", "tag": .string(id)]) }
        #expect(try near(bench).count == Limits.near)
        #expect(bench.refusal(["do": "bring", "tag": .string(ids[Limits.near])])?.code == "too-many-near")
        try bench.act(["do": "remove", "tag": .string(ids[0])])
        #expect(try near(bench).count == Limits.near - 1)
    }

    @Test("A deleted tag leaves the field")
    func deleting() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213"])
        try bench.act(["do": "hold", "tag": .string(id)])
        try bench.act(["do": "delete", "tag": .string(id)])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "carrier", "on": true])
        #expect(program.frame("nfc-a", "26", bits: 7)?["error"] == "timeout")
    }

    @Test("Toggled tag: a near tag is taken away, also a tapped one, and any other tag is held")
    func toggling() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "text": "a"])
        for isNear in [true, false, true] {
            #expect(try bench.act(["do": "toggle", "tag": .string(id)])["near"] == .bool(isNear))
            #expect(try bench.tag(id)["near"]?.bool == isNear)
        }
        try bench.act(["do": "remove", "tag": .string(id)])
        try bench.act(["do": "tap", "tag": .string(id)])
        #expect(try bench.act(["do": "toggle", "tag": .string(id)])["near"] == false)
        #expect(throws: SimulatorFailure.self) { try bench.act(["do": "toggle", "tag": "nothing"]) }
    }

    @Test("Tag that a program writes: the drawer has its new message and the changed bytes")
    func writing() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "text": "old"])
        let version = try bench.tag(id)["memory_version"]?.int ?? 0
        try bench.act(["do": "hold", "tag": .string(id)])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        #expect(program.selectType2()?["bytes"] == "00")
        #expect(program.frame("nfc-a", "a204" + "0300fe00")?["bytes"] == "0a")
        let tag = try bench.tag(id)
        #expect(tag["message_hex"] == "")
        #expect(tag["memory_version"]?.int == version + 1)
        let memory = try bench.act(["do": "memory", "tag": .string(id)])
        let data = try #require(memory["regions"]?.array?.first { $0["name"] == "Data" })
        #expect(data["changed"]?.array?.isEmpty == false)
    }

    @Test("Switch leave_after: all tags leave at the exchange after the given number, and the switch is off again")
    func leaveAfter() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213"])
        let other = try bench.add(["product": "ICODE SLIX2"])
        for tag in [other, id] { try bench.act(["do": "hold", "tag": .string(tag)]) }
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        program.ask(["do": "carrier", "on": true])
        try bench.act(["do": "switch", "name": "leave_after", "value": 1])
        #expect(program.frame("nfc-a", "26", bits: 7)?["bytes"] == "4400")
        #expect(try near(bench).count == 2)
        #expect(program.frame("nfc-a", "26", bits: 7)?["error"] == "timeout")
        #expect(try near(bench).isEmpty)
        #expect(try bench.state("switches")["leave_after"] == .null)
        try bench.act(["do": "hold", "tag": .string(id)])
        #expect(program.selectType2()?["bytes"] == "00")
    }

    @Test("Switch leave_after: counts from the last arrival, and 0 lets tags leave before any exchange")
    func leaveAfterArrival() throws {
        let bench = Bench()
        let ids = try (0..<2).map { _ in try bench.add(["product": "NTAG213"]) }
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        program.ask(["do": "carrier", "on": true])
        try bench.act(["do": "switch", "name": "leave_after", "value": 1])
        for (index, id) in ids.enumerated() {
            try bench.act(["do": "hold", "tag": .string(id)])
            _ = program.frame("nfc-a", "26", bits: 7)
            #expect(try near(bench).count == index + 1)
        }
        _ = program.frame("nfc-a", "26", bits: 7)
        #expect(try near(bench).isEmpty)
        try bench.act(["do": "hold", "tag": .string(ids[0])])
        try bench.act(["do": "switch", "name": "leave_after", "value": 0])
        _ = program.frame("nfc-a", "26", bits: 7)
        #expect(try near(bench).isEmpty)
    }

    @Test("Switch tear_write: the tag leaves during the write command of that number, and the switch is off again")
    func tearing() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "text": "old"])
        try bench.act(["do": "hold", "tag": .string(id)])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        _ = program.selectType2()
        try bench.act(["do": "switch", "name": "tear_write", "value": 2])
        #expect(program.frame("nfc-a", "a205" + "11111111")?["bytes"] == "0a")
        #expect(program.frame("nfc-a", "a206" + "22222222")?["error"] == "timeout")
        #expect(try bench.tag(id)["near"] == false)
        #expect(try bench.state("switches")["tear_write"] == .null)
    }

    @Test("In a weak field a tag is read and not written")
    func weakField() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "text": "old"])
        let before = try bench.tag(id)["message_hex"]
        try bench.act(["do": "hold", "tag": .string(id)])
        try bench.act(["do": "switch", "name": "weak_field", "value": true])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        _ = program.selectType2()
        #expect(program.frame("nfc-a", "3004")?["bytes"]?.string?.utf8.count == 32)
        #expect(program.frame("nfc-a", "a204" + "0300fe00")?["error"] == "timeout")
        #expect(try bench.tag(id)["message_hex"] == before)
        #expect(try bench.tag(id)["near"] == true)
    }

    @Test("Switch noise: at 1 every exchange fails, at 0 none")
    func noise() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213"])
        try bench.act(["do": "hold", "tag": .string(id)])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        _ = program.selectType2()
        try bench.act(["do": "switch", "name": "noise", "value": 1])
        let codes = Set((0..<20).map { _ in program.frame("nfc-a", "3000")?["error"]?.string ?? "none" })
        #expect(codes == ["timeout", "transmission"])
        try bench.act(["do": "switch", "name": "noise", "value": 0])
        #expect(program.selectType2()?["bytes"] == "00")
    }

    @Test("Unknown switch, or a value out of its range: refused")
    func badSwitches() {
        let bench = Bench()
        #expect(bench.refusal(["do": "switch", "name": "gravity", "value": 1])?.code == "no-such-switch")
        #expect(bench.refusal(["do": "switch", "name": "noise", "value": 2])?.code == "invalid-request")
        #expect(bench.refusal(["do": "switch", "name": "radio", "value": "off"])?.code == "invalid-request")
        #expect(bench.refusal(["do": "switch", "name": "tear_write", "value": 0])?.code == "invalid-request")
    }

    @Test("Airtime of REQA and ATQA: 428 us by ISO 14443, in the answer, the summary and the trace")
    func airtime() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213"])
        try bench.act(["do": "hold", "tag": .string(id)])
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "claim"])
        program.ask(["do": "carrier", "on": true])
        // REQA 9 etu of 128 periods, ATQA 20 etu, and two frame delays of 1172 periods.
        #expect(program.frame("nfc-a", "26", bits: 7)?["elapsed_us"]?.int == 428)
        #expect(try bench.state("summary")["airtime_us"]?.int == 428)
        let row = try #require(try bench.act(["do": "trace_rows"])["rows"]?.array?.last)
        #expect(row["words"]?.string == "REQA → ATQA: UID of 7 bytes")
        #expect(row["airtime_us"]?.int == 428)
        #expect(row["tag"] == .string(id))
    }
}
