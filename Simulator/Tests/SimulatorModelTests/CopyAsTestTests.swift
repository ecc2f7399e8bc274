// SPDX-License-Identifier: Apache-2.0
import Foundation
import SimulatorModel
import Testing

@Suite struct CopyAsTestTests {
    /// A tag is tapped for an app that writes it, and another one is held and taken away.
    private func flow() throws -> Bench {
        let bench = Bench()
        let ticket = try bench.add([
            "product": "NTAG213", "name": "Ticket \"A\"", "uid": "04a1b2c3d4e5f6", "text": "old",
        ])
        let other = try bench.add(["product": "NTAG215", "name": "Other", "uid": "04010203040506", "text": "other"])
        let program = try TestProgram(bench.simulator, name: "Stamper")
        program.ask(["do": "claim"])
        program.ask(["do": "event", "session": 1, "kind": "session", "name": "begin", "detail": "NFCNDEFReaderSession"])
        try bench.act(["do": "tap", "tag": .string(ticket), "ms": 2000])
        #expect(program.selectType2()?["bytes"] == "00")
        // A text record with "A", after the capability container.
        for (page, bytes) in [("04", "0308d101"), ("05", "04540265"), ("06", "6e41fe00")] {
            #expect(program.frame("nfc-a", "a2\(page)\(bytes)")?["bytes"] == "0a")
        }
        bench.clock.advance(by: .seconds(2))
        program.ask(["do": "event", "session": 1, "kind": "session", "name": "invalidate", "detail": "200"])
        try bench.act(["do": "hold", "tag": .string(other)])
        try bench.act(["do": "leave"])
        return bench
    }

    @Test("Copy as test: the source is that of SimulatedTests.swift, which is compiled and run")
    func golden() throws {
        let answer = try flow().act(["do": "copy_as_test"])
        let source = try #require(answer["source"]?.string)
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "SimulatedFlowTests/SimulatedTests.swift")
        let head = "// SPDX-License-Identifier: Apache-2.0\n"
        if ProcessInfo.processInfo.environment["WRITE_TEST"] == "1" {
            try Data((head + source).utf8).write(to: file)
            Issue.record("SimulatedTests.swift was written. Read it, and run the test again without WRITE_TEST.")
        }
        // The file is formatted as all others are, which changes blanks and commas.
        let plain = { (text: String) in text.filter { !$0.isWhitespace && $0 != "," } }
        #expect(plain(try String(contentsOf: file, encoding: .utf8)) == plain(head + source))
        #expect(answer["notes"] == [])
    }

    @Test("The generated test has the faults and the cancelled sheet, and the notes name a switch that it lacks")
    func faults() throws {
        let bench = try flow()
        let program = try TestProgram(bench.simulator)
        program.ask(["do": "sheet", "state": "ready", "title": "", "message": ""])
        try bench.act(["do": "cancel_sheet"])
        try bench.act(["do": "switch", "name": "tear_write", "value": 2])
        try bench.act(["do": "switch", "name": "busy", "value": true])
        let answer = try bench.act(["do": "copy_as_test"])
        let source = try #require(answer["source"]?.string)
        #expect(source.contains("try field.inject(.tear(duringWrite: 2, leaving: .mixed(seed: 1)))"))
        #expect(source.contains("try await field.cancelSheet()"))
        let notes = try #require(answer["notes"]?.array).compactMap(\.string)
        #expect(notes.count == 1 && notes[0].contains("busy"))
    }

    @Test("Copy as test: a tag's name can't leave the string literal that holds it")
    func hostileNames() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "name": "\") } } // \\(1)"])
        try bench.act(["do": "hold", "tag": .string(id)])
        let source = try #require(try bench.act(["do": "copy_as_test"])["source"]?.string)
        #expect(source.contains(#"@Test("“\") } } // \\(1)” near the phone")"#))
    }
}
