// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

/// Checks sessions on readers that misbehave.
@Suite(.serialized, .enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."), .timeLimit(.minutes(5)))
struct `Bad readers behind the real pcscd` {
    private static let card: [UInt8] = [0x3B, 0x81, 0x80, 0x01, 0x80, 0x80]

    /// A card with ISO-DEP that reports its UID, and gives the test's answers to all other commands.
    private static func answers(
        _ other: @escaping @Sendable ([UInt8]) -> ScriptedReader.Answer
    ) -> @Sendable ([UInt8]) -> ScriptedReader.Answer {
        { apdu in
            switch apdu.prefix(3) {
            case [0xFF, 0xCA, 0x00]: .bytes([0x08, 0x01, 0x02, 0x03, 0x90, 0x00])
            case [0xFF, 0xCA, 0x01]: .bytes([0x6A, 0x81])
            default: other(apdu)
            }
        }
    }

    /// A reader with a card, one of whose commands, 80010000, has a bad answer.
    private static func reader(badAnswer: ScriptedReader.Answer, others: [UInt8]) throws -> ScriptedReader {
        try ScriptedReader(
            "Bad NFC Reader",
            answerToReset: card,
            answer: answers { $0 == [0x80, 0x01, 0x00, 0x00] ? badAnswer : .bytes(others) }
        )
    }

    private static func withApp(
        _ kind: String,
        _ reader: ScriptedReader,
        _ body: (TalkingProgram, PCSCDaemon) async throws -> Void
    ) async throws {
        let daemon = try PCSCDaemon([reader.configuration])
        let app = try Client.probe(kind, daemon.environment)
        try await body(app, daemon)
        app.closeInput()
        #expect(try await app.end() == 0, "\(app.output)")
        try await daemon.kill()
    }

    @Test(arguments: ["", "90"])
    func `An answer without a status word: error 102, as of a card that has left`(_ answer: String) async throws {
        let bytes: [UInt8] = answer.isEmpty ? [] : [0x90]
        let reader = try Self.reader(badAnswer: .bytes(bytes), others: [0x6A, 0x82])
        try await Self.withApp("tag", reader) { app, _ in
            try await app.line(with: "tag iso7816")
            app.say("apdu 80010000")
            try await app.line(with: "error 102")
            app.say("invalidate")
            try await app.line(with: "ended 200")
        }
    }

    @Test func `A session that is invalidated while an APDU hangs ends at once`() async throws {
        let reader = try Self.reader(badAnswer: .hang, others: [0x6A, 0x82])
        try await Self.withApp("tag", reader) { app, _ in
            try await app.line(with: "tag iso7816")
            app.say("apdu 80010000")
            while !reader.apdus.contains([0x80, 0x01, 0x00, 0x00]) { try await Task.sleep(for: .milliseconds(2)) }
            app.say("invalidate")
            // The driver itself would wait for 20 s.
            try await app.line(with: "ended 200", within: .seconds(10))
        }
    }

    @Test func `A session that is invalidated while the reader hangs in its search ends at once`() async throws {
        let reader = try ScriptedReader("Bad NFC Reader", answerToReset: Self.card) { _ in .hang }
        try await Self.withApp("ndef", reader) { app, _ in
            try await app.line(with: "active")
            while reader.apdus.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            app.say("invalidate")
            try await app.line(with: "ended 200", within: .seconds(10))
        }
    }

    @Test func `Ctrl-C ends a command whose reader hangs`() async throws {
        let reader = try ScriptedReader("Bad NFC Reader", answerToReset: Self.card) { _ in .hang }
        let daemon = try PCSCDaemon([reader.configuration])
        let scan = try Client.nfc(["scan", "--json"], on: daemon)
        while reader.apdus.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        scan.send(signal: SIGINT)
        #expect(try await scan.end(within: .seconds(10)) == 130, "\(scan.output)")
        try await daemon.kill()
    }

    @Test func `Reader that answers with garbage: error 100 or 102, and the tag is found again`() async throws {
        let reader = try Self.reader(badAnswer: .garbage, others: [0x6A, 0x82])
        try await Self.withApp("tag", reader) { app, _ in
            try await app.line(with: "tag iso7816")
            app.say("apdu 80010000")
            try await app.line(with: "error 10")
            // The driver connects again.
            app.say("restart")
            try await app.line(with: "tag iso7816")
            app.say("invalidate")
            try await app.line(with: "ended 200")
        }
    }

    @Test func `Reader whose driver fails once: error 100 or 102, and the next APDU is answered`() async throws {
        let reader = try Self.reader(badAnswer: .failure, others: [0x90, 0x00])
        try await Self.withApp("tag", reader) { app, _ in
            try await app.line(with: "tag iso7816")
            app.say("apdu 80010000")
            try await app.line(with: "error 10")
            app.say("restart")
            try await app.line(with: "tag iso7816")
            app.say("apdu 80020000")
            try await app.line(with: "answer 9000")
            app.say("invalidate")
            try await app.line(with: "ended 200")
        }
    }

    @Test func `Card whose UID the reader refuses to report: its identifier is empty, and null in JSON`() async throws {
        let reader = try ScriptedReader("Bad NFC Reader", answerToReset: Self.card) { _ in .bytes([0x6A, 0x81]) }
        try await Self.withApp("tag", reader) { app, daemon in
            try await app.line(with: "tag iso7816")
            app.say("identifier")
            try await app.line(where: { $0 == "identifier " })
            app.say("invalidate")
            try await app.line(with: "ended 200")
            let record = FileManager.default.temporaryDirectory.appending(path: "ocn-\(UUID().uuidString).jsonl").path
            defer { try? FileManager.default.removeItem(atPath: record) }
            for arguments in [
                ["scan", "--record", record], ["scan", "--reader", "replay:" + record], ["tag", "info"],
            ] {
                let json = try Client.nfc(arguments + ["--json"], on: daemon)
                _ = try await json.end()
                #expect(!json.output.contains(#""uid":""#), "\(json.output)")
                let text = try Client.nfc(arguments, on: daemon)
                _ = try await text.end()
                #expect(text.output == "" || !text.output.contains("UID 08"), "\(text.output)")
            }
            let info = try Client.nfc(["tag", "info", "--json"], on: daemon)
            #expect(try await info.end() == 0)
            #expect(info.output.contains(#""uid":null"#), "\(info.output)")
        }
    }

    @Test func `Storage card of an unknown kind: not reported as a tag, and the session continues`() async throws {
        let unknown: [UInt8] = [
            0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0, 0, 3, 6, 0x77, 0x12, 0x34, 0, 0, 0, 0, 0x1E,
        ]
        let reader = try ScriptedReader(
            "Bad NFC Reader",
            answerToReset: unknown,
            answer: Self.answers { _ in
                .bytes([0x6A, 0x81])
            }
        )
        try await Self.withApp("ndef", reader) { app, _ in
            try await app.line(with: "active")
            while reader.apdus.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            app.say("invalidate")
            try await app.line(with: "ended 200")
            #expect(!app.output.contains("message"))
        }
    }

    @Test func `Card with contacts in a contactless slot: status 3, and the message says that it has contacts`()
        async throws
    {
        let contact: [UInt8] = [0x3B, 0x95, 0x13, 0x81, 0x01, 0x80, 0x73, 0xFF, 0x01, 0x00, 0x0B]
        let reader = try ScriptedReader("Combined Reader PICC", answerToReset: contact) { _ in .bytes([0x6D, 0x00]) }
        let daemon = try PCSCDaemon([reader.configuration])
        let scan = try Client.nfc(["scan", "--reader", "pcsc", "--json"], on: daemon)
        #expect(try await scan.end() == 3, "\(scan.output)")
        #expect(scan.output.contains("has contacts"), "\(scan.output)")
        try await daemon.kill()
    }
}
