// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink
import Testing

@testable import PN532Driver  // the limits for tests are internal

/// The chip as a card for another reader (PN532 user manual, 7.3.14 to 7.3.22).
@Suite(.timeLimit(.minutes(5))) struct CardTests {
    /// A card on a scripted chip, and what the host sends it after its start.
    private static func log(_ script: String, _ body: (PN532Card) async throws -> Void) async throws -> [String] {
        let chip = try ScriptedChip(script: script)
        defer { chip.end() }
        try await body(try PN532Card(chip.path, limits: .patient))
        return Array(chip.log().dropFirst(ScriptedChip.start.count))
    }

    private static let long = [UInt8](repeating: 0x5A, count: 600)

    @Test func `card: commands and answers pass, long ones in parts; nextCommand() is nil when the reader is gone`()
        async throws
    {
        let parts = [Self.long.prefix(262), Self.long[262..<524], Self.long[524...]].map { $0.hexText() }
        let script =
            "8c: 08 e080\n86: 00 00a40400 | 40 \(parts[0]) | 40 \(parts[1]) | 00 \(parts[2]) | 29\n94: 00\n8e: 00"
        let log = try await Self.log(script) { card in
            try await card.waitForReader(as: PN532Card.Identity(uid: [0xAA, 0xBB, 0xCC], historicalBytes: [0x80]))
            #expect(try await card.nextCommand() == [0x00, 0xA4, 0x04, 0x00])
            #expect(try await card.respond([0x90, 0x00]))
            #expect(try await card.nextCommand() == Self.long)
            #expect(try await card.respond(Self.long + [0x90, 0x00]))
            #expect(try await card.nextCommand() == nil)
            await card.close()
        }
        let answers = ["94 " + parts[0], "94 " + parts[1], "8e " + parts[2] + "9000"]
        let expected = ["86", "8e 9000", "86", "86", "86"] + answers + ["86", "32 0100"]
        #expect(Array(log.suffix(expected.count)) == expected)
        let identity = "8c 050400aabbcc20" + String(repeating: "00", count: 29) + "0180"
        #expect(log.dropLast(expected.count).last == identity)
    }

    @Test(arguments: ["92 83", "12 03"]) func `becoming a card: field off, checksums on, woken by the reader's field`(
        modes: String
    ) async throws {
        let script = "06 6305: 61\n06 63026303: \(modes)\n8c: 00 3000 | 08"
        let framing = modes == "12 03" ? ["08 630292630383"] : []
        let start = ["32 0100", "12 24", "06 63026303"] + framing + ["06 6305", "08 630565"]
        let become = "8c 05040001020320" + String(repeating: "00", count: 29) + "0f" + [UInt8](1...15).hexText()
        let identity = PN532Card.Identity(uid: [1, 2, 3], historicalBytes: [UInt8](1...15))
        let log = try await Self.log(script) { card in
            // A reader that wants something else than ISO/IEC 14443-4 is waited out, the first time.
            try await card.waitForReader(as: identity)
            // The chip has changed its registers meanwhile.
            try await card.waitForReader(as: identity)
            await card.close()
            try await card.waitForReader(as: identity)
        }
        let again = start + [become]
        #expect(log == again + [become] + again + ["32 0100"] + ScriptedChip.start + again)
    }

    @Test
    func
        `identity: a UID of three bytes, random by default; another size or 16 historical bytes are unsupported`()
        async throws
    {
        let card = try PN532Card("/dev/null")
        let long = PN532Card.Identity(historicalBytes: [UInt8](repeating: 0, count: 16))
        for identity in [PN532Card.Identity(uid: [1, 2, 3, 4]), long] {
            await #expect(throws: LinkError(.unsupported, "")) { try await card.waitForReader(as: identity) }
        }
        let uids = (0..<8).map { _ in PN532Card.Identity().uid }
        #expect(uids.allSatisfy { $0.count == 3 } && Set(uids).count > 1)
        #expect(PN532Card.Identity().historicalBytes.isEmpty)
    }

    @Test(arguments: [0, 1, 262, 263, 524, 525])
    func `card's answer of any length: sent in parts of 262 bytes, the last one by its own command`(
        count: Int
    ) async throws {
        let response = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let log = try await Self.log("8e: 00\n94: 00") { card async throws in
            #expect(try await card.respond(response))
        }
        let parts = stride(from: 0, to: max(count, 1), by: 262).map { response[$0..<min($0 + 262, count)].hexText() }
        let codes = parts.enumerated().map { $0.offset == parts.count - 1 ? "8e" : "94" }
        #expect(log == zip(codes, parts).map { $1.isEmpty ? $0 : "\($0) \($1)" })
    }

    @Test func `status of the chip: a reader that is gone ends the exchange, other errors are thrown`() async throws {
        let rows: [(String, LinkError.Code?)] = [
            ("29", nil), ("0a", nil), ("25", nil), ("01", .timeout), ("02", .transmission), ("27", .tagRemoved),
            ("", .transmission),
        ]
        for (status, expected) in rows {
            _ = try await Self.log("86: \(status)\n8e: \(status)") { card async throws in
                let received = await code { () async throws in #expect(try await card.nextCommand() == nil) }
                let sent = await code { () async throws in #expect(try await !card.respond([0x90, 0x00])) }
                #expect(received == expected && sent == expected, "\(status)")
            }
        }
        // What was received of a command is forgotten, and no more parts of an answer are sent.
        let log = try await Self.log("86: 40 0102 | 29 | 40 03 | 02 | 00 0405\n94: 29") { card async throws in
            #expect(try await card.nextCommand() == nil)
            #expect(await code { _ = try await card.nextCommand() } == .transmission)
            #expect(try await card.nextCommand() == [4, 5])
            #expect(try await !card.respond(Self.long))
        }
        #expect(log.count { $0.hasPrefix("94") } == 1 && !log.contains { $0.hasPrefix("8e") })
    }

    @Test func `reader's command to the card: 65,544 bytes at most, longer is frameTooLong`() async throws {
        let part = "40 " + String(repeating: "01", count: 262)
        let whole = [String](repeating: part, count: 250) + ["00 " + String(repeating: "02", count: 44)]
        _ = try await Self.log("86: " + whole.joined(separator: "|")) { card async throws in
            #expect(try await card.nextCommand()?.count == 65544)
        }
        _ = try await Self.log("86: \(part)") { card in
            #expect(await code { _ = try await card.nextCommand() } == .frameTooLong)
        }
    }

    @Test func `wait for a reader: cancelling the task stops the chip`() async throws {
        let chip = try ScriptedChip(script: "8c: silence")
        defer { chip.end() }
        let card = try PN532Card(chip.path, limits: .patient)
        let task = Task { try await card.waitForReader(as: PN532Card.Identity()) }
        while !chip.commands.contains(0x8C) { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        await #expect(throws: LinkError(.cancelled, "")) { try await task.value }
        await card.close()
        #expect(chip.received.contains(.acknowledge))
    }
}
