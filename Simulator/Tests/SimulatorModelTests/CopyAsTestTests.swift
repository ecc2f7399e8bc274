// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import SimulatorModel

@Suite(.timeLimit(.minutes(1))) struct CopyAsTestTests {
    private static let products = [
        ("MIFARE Ultralight", "04a1b2c3d4e501"), ("NTAG213", "04a1b2c3d4e502"), ("NTAG216", "04a1b2c3d4e503"),
        ("ICODE SLIX2", "e004010203040504"), ("generic Type 5", "e004010203040505"),
        ("FeliCa Lite-S", "0112233445566706"), ("generic Type 4", "04a1b2c3d4e507"), ("generic Type 4B", "a1b2c308"),
    ]

    private func add(_ simulator: Simulator, _ product: String, _ uid: String, name: String, link: String?) throws
        -> JSON
    {
        var action: JSON = ["do": "new_tag", "product": .string(product), "uid": .string(uid), "name": .string(name)]
        if let link, let members = action.object { action = .object(members.merging(["link": .string(link)]) { $1 }) }
        return try #require(try simulator.perform(action)["tag"])
    }

    /// More than twenty sessions of an app: reads and writes of each kind of tag, and what can go wrong.
    private func flows() async throws -> Simulator {
        let simulator = Simulator()
        func act(_ name: String, _ members: [String: JSON] = [:]) throws {
            _ = try simulator.perform(.object(members.merging(["do": .string(name)]) { $1 }))
        }
        func scan(_ tag: JSON, writing link: String? = nil, condition: (String, JSON)? = nil) async throws {
            try await TestApp(simulator, writing: link).scan { _, event in
                guard case .active = event else { return }
                if let (name, value) = condition { try act("switch", ["name": .string(name), "value": value]) }
                try act("hold", ["tag": tag])
            }
            try act("leave")
        }
        try act("switch", ["name": "instant", "value": true])
        // A tap that no session of an app reads.
        let poster = try add(
            simulator,
            "NTAG213",
            "04a1b2c3d4e5f6",
            name: "Poster \"A\"",
            link: "https://example.com/a"
        )
        try act("hold", ["tag": poster])
        try act("leave")
        for (product, uid) in Self.products {
            let tag = try add(simulator, product, uid, name: product, link: "https://example.com/\(uid)")
            try await scan(tag)
            try await scan(tag, writing: "https://example.com/changed/\(uid)")
        }
        let empty = try add(simulator, "NTAG215", "04a1b2c3d4e5f7", name: "Empty", link: nil)
        try await scan(empty)
        try await TestApp(simulator).scan { app, event in if case .active = event { try app.cancel() } }
        try await scan(empty, writing: "https://example.com/torn", condition: ("tear_write", 2))
        try act("erase", ["tag": empty])
        try await scan(empty, writing: "https://example.com/weak", condition: ("weak_field", true))
        try act("switch", ["name": "weak_field", "value": false])
        // Counted from the connection: a tag comes at any moment of a search.
        let leaving: @Sendable () -> Void = {
            _ = try? simulator.perform(["do": "switch", "name": "leave_after", "value": 1])
        }
        try await TestApp(simulator, prepare: leaving).scan { _, event in
            if case .active = event { try act("hold", ["tag": poster]) }
        }
        try act("leave")
        try act("switch", ["name": "leave_after", "value": .null])
        // The app waits until the second tag is taken away.
        try act("hold", ["tag": poster])
        try act("hold", ["tag": empty])
        try await TestApp(simulator, writing: "https://example.com/one").scan { _, event in
            if case .several = event { try act("remove", ["tag": empty]) }
        }
        try act("leave")
        try act("lock_tag", ["tag": poster])
        try await scan(poster, writing: "https://example.com/refused")
        try programs(simulator, poster, act)
        return simulator
    }

    /// What programs at the socket report and send: other kinds of sessions and their ends.
    private func programs(_ simulator: Simulator, _ poster: JSON, _ act: (String, [String: JSON]) throws -> Void) throws
    {
        let program = try TestProgram(simulator)
        func event(_ kind: String, _ name: String, _ members: [String: JSON] = [:]) {
            program.send(
                .object(members.merging(["do": "event", "kind": .string(kind), "name": .string(name)]) { $1 })
            )
        }
        func session(_ kind: String, end: String, _ body: () throws -> Void = {}) throws {
            event("session", "begin", ["detail": .string(kind)])
            try body()
            event("session", "invalidate", ["detail": .string(end)])
        }
        func message(_ tag: JSON) throws {
            let bytes = simulator.read { $0.drawer[tag.string ?? ""]?.summary.message ?? [] }
            event("call", "didDetectNDEFs", ["received": .string(bytes.hex)])
        }
        let slix = try add(simulator, "ICODE SLIX2", "e004010203040511", name: "SLIX2", link: "https://example.com/5")
        let card = try add(simulator, "generic Type 4", "04a1b2c3d4e511", name: "Type 4", link: "https://example.com/4")
        // Many tags are scanned until the user cancels; one tag ends its session; none comes for 60 seconds.
        try session("NFCNDEFReaderSession", end: "200: Session invalidated by user") {
            for tag in [poster, slix, card] {
                try act("hold", ["tag": tag])
                try message(tag)
                try act("leave", [:])
            }
            program.ask(["do": "sheet", "state": "ready", "title": "", "message": ""])
            try act("cancel_sheet", [:])
        }
        try session("NFCNDEFReaderSession", end: "204: First NDEF tag read") {
            try act("hold", ["tag": slix])
            try message(slix)
        }
        try act("leave", [:])
        try session("NFCNDEFReaderSession", end: "201: Session timeout")
        // An app looks at a locked tag, and writes nothing.
        try session("NFCNDEFReaderSession", end: "200: Session invalidated by user") {
            try act("hold", ["tag": poster])
            event("callback", "readerSession(_:didDetect:)", ["detail": "1 tag"])
            event("call", "connect", ["sent": "00"])
            event("call", "queryNDEFStatus", ["received": "03"])
        }
        try act("leave", [:])
        // The app's own commands.
        let sticker = try add(simulator, "NTAG216", "04a1b2c3d4e512", name: "NTAG216", link: nil)
        for (tag, kind, commands) in [
            (sticker, "nfc-a", ["60", "a20401020304", "3004"]), (poster, "nfc-a", ["60", "3004", "a2040102ff04"]),
            (slix, "nfc-v", ["022b", "022000", "02204f"]),
            (card, "", ["00a4040007d276000085010100", "00a4000c02e103", "00b000000f", "00b0ff000f"]),
        ] {
            try session("NFCTagReaderSession", end: "200: Session invalidated by user") {
                try act("hold", ["tag": tag])
                program.ask(["do": "poll"])
                for command in commands {
                    if kind.isEmpty {
                        program.ask(["do": "apdu", "apdu": .string(command)])
                    } else {
                        _ = program.frame(kind, command)
                    }
                }
            }
            try act("leave", [:])
        }
        for (name, end) in [("entitlement", "2: Missing required entitlement"), ("radio", "6: NFC radio is disabled")] {
            try act("switch", ["name": .string(name), "value": false])
            try session("NFCNDEFReaderSession", end: end)
            try act("switch", ["name": .string(name), "value": true])
        }
        program.close()
    }

    @Test("Copy as test: gives the source of SimulatedTests.swift, which is compiled and run")
    func golden() async throws {
        let answer = try await flows().perform(["do": "copy_as_test"])
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
        let (kept, made) = (plain(try String(contentsOf: file, encoding: .utf8)), plain(head + source))
        let place = made.commonPrefix(with: kept).count
        #expect(kept == made, "different after: \(made.dropFirst(max(0, place - 300)).prefix(600))")
        #expect(
            answer["notes"] == [
                "A session that ended with error 6 is left out: a test can't turn the radio off."
            ]
        )
    }

    @Test("Copy as test of one session: has that session's test only; a session that ended as busy gets a note instead")
    func oneSession() throws {
        let bench = Bench()
        let program = try TestProgram(bench.simulator)
        for (session, end) in [(1, "200: canceled"), (2, "203: busy")] {
            program.send(["do": "event", "session": .int(session), "kind": "session", "name": "begin", "detail": "X"])
            program.send([
                "do": "event", "session": .int(session), "kind": "session", "name": "invalidate",
                "detail": .string(end),
            ])
        }
        func copied(_ session: JSON) throws -> (tests: Int, notes: Int) {
            let answer = try bench.act(["do": "copy_as_test", "session": session])
            let source = try #require(answer["source"]?.string)
            return (source.split(separator: "@Test").count - 1, answer["notes"]?.array?.count ?? 0)
        }
        let ids = try #require(try bench.state("sessions").array).compactMap { $0["id"] }
        #expect(try copied(.null) == (1, 1))
        #expect(try copied(ids[0]) == (1, 0))
        #expect(try copied(ids[1]) == (0, 1))
    }

    @Test("Copy as test: a tag's name can't leave the string literal that holds it")
    func hostileNames() throws {
        let bench = Bench()
        let id = try bench.add(["product": "NTAG213", "name": "\") } } // \\(1)"])
        let program = try TestProgram(bench.simulator)
        program.send(["do": "event", "session": 1, "kind": "session", "name": "begin", "detail": "X"])
        try bench.act(["do": "hold", "tag": .string(id)])
        let source = try #require(try bench.act(["do": "copy_as_test"])["source"]?.string)
        #expect(source.contains(#"@Test("1: “\") } } // \\(1)”")"#))
    }
}
