// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import NFCReaders
import NFCRuntime
import TagLink
import Testing

@testable import PN532Driver

/// Checks the chip as a card for another reader.
@Suite(.timeLimit(.minutes(5)))
struct CardTests {
    /// The reader's side: the frames that it sends, in order, and the answers.
    private final class OtherReader: Sendable {
        private struct State {
            /// Answers to TgGetData.
            var commands: [[UInt8]]
            var heard: [[UInt8]] = []
            var part: [UInt8] = []
        }

        private let state: Locked<State>
        var heard: [[UInt8]] { state.withLock { $0.heard } }

        init(_ commands: [[UInt8]]) { state = Locked(State(commands: commands)) }

        func respond(_ code: UInt8, _ data: [UInt8]) -> ScriptedChip.Reply? {
            switch code {
            case 0x8C: return .answer([0x08, 0xE0, 0x80])
            case 0x86:
                return state.withLock { state in
                    state.commands.isEmpty ? .silence : .answer(state.commands.removeFirst())
                }
            case 0x94:
                state.withLock { $0.part += data }
                return .answer([0])
            case 0x8E:
                state.withLock { state in
                    state.heard.append(state.part + data)
                    state.part = []
                }
                return .answer([0])
            default: return nil
            }
        }
    }

    @Test("Commands come and answers go, long ones in parts, until the reader lets go")
    func exchange() async throws {
        let long = [UInt8](repeating: 0x5A, count: 600)
        let reader = OtherReader([
            [0x00, 0x00, 0xA4, 0x04, 0x00], [0x40] + long.prefix(262), [0x40] + long[262..<524], [0x00] + long[524...],
            [0x29],
        ])
        let chip = try ScriptedChip { reader.respond($0, $1) }
        defer { chip.end() }
        let card = try PN532Card(chip.path, limits: .patient)
        try await card.waitForReader(as: PN532Card.Identity(uid: [0xAA, 0xBB, 0xCC], historicalBytes: [0x80]))
        let initialization = chip.received.compactMap { received -> [UInt8]? in
            if case .command(0x8C, let data) = received { data } else { nil }
        }
        let expected: [UInt8] =
            [0x05, 0x04, 0x00, 0xAA, 0xBB, 0xCC, 0x20] + [UInt8](repeating: 0, count: 29) + [0x01, 0x80]
        #expect(initialization == [expected])
        #expect(try await card.nextCommand() == [0x00, 0xA4, 0x04, 0x00])
        #expect(try await card.respond([0x90, 0x00]))
        #expect(try await card.nextCommand() == long)
        #expect(try await card.respond(long + [0x90, 0x00]))
        #expect(try await card.nextCommand() == nil)
        await card.close()
        #expect(reader.heard == [[0x90, 0x00], long + [0x90, 0x00]])
    }

    @Test("A reader that wants something else than ISO/IEC 14443-4 is waited out")
    func anotherActivation() async throws {
        let attempts = Locked(0)
        let chip = try ScriptedChip { code, _ in
            guard code == 0x8C else { return nil }
            let attempt = attempts.withLock {
                $0 += 1
                return $0
            }
            return .answer(attempt < 3 ? [0x00, 0x30, 0x00] : [0x08, 0xE0, 0x80])
        }
        defer { chip.end() }
        try await PN532Card(chip.path, limits: .patient).waitForReader(as: PN532Card.Identity())
        #expect(attempts.withLock { $0 } == 3)
    }

    @Test("Waiting for a reader is stopped by cancelling")
    func cancelled() async throws {
        let chip = try ScriptedChip { code, _ in code == 0x8C ? .silence : nil }
        defer { chip.end() }
        let card = try PN532Card(chip.path, limits: .patient)
        let task = Task { try await card.waitForReader(as: PN532Card.Identity()) }
        while !chip.commands.contains(0x8C) { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        await #expect(throws: LinkError(.cancelled, "")) { try await task.value }
        await card.close()
        #expect(chip.received.contains(.acknowledge))
    }

    @Test("What is no identity is refused")
    func identity() async throws {
        let card = try PN532Card("/dev/null")
        let long = PN532Card.Identity(historicalBytes: [UInt8](repeating: 0, count: 16))
        for identity in [PN532Card.Identity(uid: [1, 2, 3, 4]), long] {
            await #expect(throws: LinkError(.unsupported, "")) { try await card.waitForReader(as: identity) }
        }
    }

    // MARK: Every step

    private static func log(
        _ responder: @escaping ScriptedChip.PartialResponder,
        _ body: (PN532Card) async throws -> Void
    ) async throws -> [String] {
        let chip = try ScriptedChip(responder)
        defer { chip.end() }
        try await body(try PN532Card(chip.path, limits: .patient))
        return Array(chip.log().dropFirst(ScriptedChip.start.count))
    }

    @Test(
        "The chip is made a card: without a field, with its checksums, and woken by the reader's",
        arguments: [0x80, 0x00]
    )
    func initialization(mode: UInt8) async throws {
        let log = try await Self.log { code, data in
            switch code {
            case 0x06: .answer(data == [0x63, 0x05] ? [0x61] : [mode | 0x12, mode | 0x03])
            case 0x8C: .answer([0x08])
            default: nil
            }
        } _: {
            try await $0.waitForReader(as: PN532Card.Identity(uid: [1, 2, 3]))
        }
        let framing = mode == 0 ? ["08 630292630383"] : []
        let start = ["32 0100", "12 24", "06 63026303"] + framing + ["06 6305", "08 630565"]
        #expect(log == start + ["8c 05040001020320" + String(repeating: "00", count: 29) + "00"])
    }

    @Test("A random UID has three bytes, and differs")
    func randomIdentity() {
        let uids = (0..<8).map { _ in PN532Card.Identity().uid }
        #expect(uids.allSatisfy { $0.count == 3 } && Set(uids).count > 1)
        #expect(PN532Card.Identity().historicalBytes.isEmpty)
        // Every byte is possible: 12000 of them lack one no more often than once in 10^17 times.
        #expect(Set((0..<4000).flatMap { _ in PN532Card.Identity().uid }) == Set(0...0xFF))
    }

    @Test("An answer goes in parts of 262 bytes, of which the last ends it", arguments: [0, 1, 262, 263, 524, 525])
    func parts(count: Int) async throws {
        let response = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let log = try await Self.log { code, _ in
            [0x8E, 0x94].contains(code) ? .answer([0]) : nil
        } _: {
            let isThere = try await $0.respond(response)
            #expect(isThere)
        }
        var expected: [String] = []
        var rest = response[...]
        while rest.count > 262 {
            expected.append("94 " + rest.prefix(262).hexText())
            rest = rest.dropFirst(262)
        }
        #expect(log == expected + [rest.isEmpty ? "8e" : "8e " + rest.hexText()])
    }

    @Test(
        "A reader that is gone ends the exchange, other errors are the chip's",
        arguments: [
            (0x29, nil), (0x0A, nil), (0x25, nil), (0x01, .timeout), (0x02, .transmission), (0x27, .tagRemoved),
        ] as [(UInt8, LinkError.Code?)]
    )
    func errors(status: UInt8, code: LinkError.Code?) async throws {
        _ = try await Self.log { command, _ in
            [0x86, 0x8E].contains(command) ? .answer([status]) : nil
        } _: { card in
            if let code {
                await #expect(throws: LinkError(code, "")) { try await card.nextCommand() }
                await #expect(throws: LinkError(code, "")) { try await card.respond([0x90, 0x00]) }
            } else {
                let command = try await card.nextCommand()
                let isThere = try await card.respond([0x90, 0x00])
                #expect(command == nil && !isThere)
            }
        }
        _ = try await Self.log { command, _ in
            [0x86, 0x8E].contains(command) ? .answer([]) : nil
        } _: { card in
            await #expect(throws: LinkError(.transmission, "")) { try await card.nextCommand() }
            await #expect(throws: LinkError(.transmission, "")) { try await card.respond([0x90, 0x00]) }
        }
    }

    @Test("A reader's command that never ends is given up")
    func endless() async throws {
        let log = try await Self.log { code, _ in
            code == 0x86 ? .answer([0x40] + [UInt8](repeating: 1, count: 262)) : nil
        } _: { card in
            await #expect(throws: LinkError(.frameTooLong, "")) { try await card.nextCommand() }
        }
        // 65544 bytes are the longest extended command: 250 parts and a bit.
        #expect(log == [String](repeating: "86", count: 251))
    }

    @Test("The longest command of ISO/IEC 7816-4 comes whole")
    func longest() async throws {
        let parts = Locked(0)
        _ = try await Self.log { code, _ in
            guard code == 0x86 else { return nil }
            let part = parts.withLock {
                $0 += 1
                return $0
            }
            return .answer(
                part <= 250 ? [0x40] + [UInt8](repeating: 1, count: 262) : [0] + [UInt8](repeating: 2, count: 44)
            )
        } _: { card in
            let command = try await card.nextCommand()
            #expect(command?.count == 65544)
        }
    }

    @Test("Historical bytes are 15 at most")
    func historicalBytes() async throws {
        let bytes = [UInt8](1...15)
        let log = try await Self.log { code, _ in
            code == 0x8C ? .answer([0x08]) : nil
        } _: {
            try await $0.waitForReader(as: PN532Card.Identity(uid: [1, 2, 3], historicalBytes: bytes))
        }
        #expect(log.last?.hasSuffix("0f" + bytes.hexText()) == true)
    }

    @Test("An app's card meets readers through the chip")
    func port() async throws {
        let reader = OtherReader([[0x00, 0x00, 0xA4, 0x04, 0x00], [0x29]])
        let chip = try ScriptedChip { reader.respond($0, $1) }
        defer { chip.end() }
        let port = PN532CardPort(try PN532Card(chip.path, limits: .patient)) { Issue.record("\($0)") }
        let card = EchoCard()
        #expect(port.attach(card))
        #expect(!port.attach(EchoCard()))
        #expect(chip.commands.isEmpty)
        port.setEmulating(true)
        while !card.log.contains("deselected") { try await Task.sleep(for: .milliseconds(1)) }
        port.setEmulating(false)
        port.detach(card)
        #expect(card.log.prefix(3) == ["detected", "00a40400", "deselected"])
        #expect(reader.heard == [[0x00, 0xA4, 0x04, 0x00, 0x90, 0x00]])
    }
}

/// A card that answers every command with itself.
private final class EchoCard: EmulatedCard {
    private let state = Locked([String]())
    var log: [String] { state.withLock { $0 } }

    func readerDetected() { state.withLock { $0.append("detected") } }
    func readerDeselected() { state.withLock { $0.append("deselected") } }

    func received(_ apdu: [UInt8], respond: @escaping @Sendable ([UInt8]) -> Void) {
        let text = apdu.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        state.withLock { $0.append(text) }
        respond(apdu + [0x90, 0x00])
    }
}
