// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import Glibc
import TagLink
import Testing

@testable import PN532Driver

/// Checks how a chip is started from any state.
@Suite(.timeLimit(.minutes(5)))
struct ChipStartTests {
    /// A chip whose answers may look at how its line is set.
    private static func chip(
        _ responder: @escaping @Sendable (ScriptedChip, UInt8, [UInt8]) -> ScriptedChip.Reply?
    ) throws -> ScriptedChip {
        let itself = Locked<ScriptedChip?>(nil)
        let chip = try ScriptedChip { code, data in
            itself.withLock { $0 }.flatMap { responder($0, code, data) }
        }
        itself.withLock { $0 = chip }
        return chip
    }

    @Test("A line is raw, of 8 bits without parity and with one stop bit, and at the chip's own speed first")
    func settings() async throws {
        let chip = try Self.chip { _, _, _ in nil }
        defer { chip.end() }
        try await PN532Reader(chip.path, limits: .patient).prepare()
        let settings = chip.lineSettings
        #expect(settings.c_ospeed == speed_t(B115200) && settings.c_ispeed == speed_t(B115200))
        #expect(settings.c_cflag & tcflag_t(CSIZE) == tcflag_t(CS8))
        #expect(settings.c_cflag & (tcflag_t(PARENB) | tcflag_t(CSTOPB) | tcflag_t(CRTSCTS) | tcflag_t(HUPCL)) == 0)
        #expect(settings.c_cflag & (tcflag_t(CREAD) | tcflag_t(CLOCAL)) == tcflag_t(CREAD) | tcflag_t(CLOCAL))
        #expect(settings.c_lflag & (tcflag_t(ICANON) | tcflag_t(ECHO) | tcflag_t(ISIG)) == 0)
        #expect(settings.c_iflag & (tcflag_t(ICRNL) | tcflag_t(IXON)) == 0)
        #expect(settings.c_oflag & tcflag_t(OPOST) == 0)
        #expect(chip.log() == ScriptedChip.start)
    }

    @Test("Each speed has its number at the chip and at the line", arguments: SerialSpeed.allCases)
    func speeds(_ speed: SerialSpeed) async throws {
        let numbers: [SerialSpeed: (UInt8, Int32)] = [
            .baud9600: (0, B9600), .baud19200: (1, B19200), .baud38400: (2, B38400), .baud57600: (3, B57600),
            .baud115200: (4, B115200), .baud230400: (5, B230400), .baud460800: (6, B460800), .baud921600: (7, B921600),
        ]
        let (number, code) = try #require(numbers[speed])
        let chip = try Self.chip { _, _, _ in nil }
        defer { chip.end() }
        let reader = try PN532Reader("\(chip.path)@\(speed.rawValue)", limits: .patient)
        try await reader.prepare()
        #expect(chip.lineSettings.c_ospeed == speed_t(code))
        // The chip changes its speed when its answer is acknowledged, and is asked whether it did. A terminal drops what its
        // other end has not read when its settings change, so that the acknowledgement may be lost here.
        func log() -> [String] { chip.log().filter { $0 != "ACK" } }
        let change = speed == .initial ? [] : ["10 " + [number].hexText(), "02"]
        #expect(log() == ScriptedChip.start + change)
        // No acknowledgement goes before what it acknowledges.
        #expect(chip.log().starts(with: ScriptedChip.start + Array(change.prefix(1))))
        await reader.release()
        #expect(chip.lineSettings.c_ospeed == speed_t(B115200))
        let back = speed == .initial ? [] : ["10 04", "02"]
        #expect(log() == ScriptedChip.start + change + ["32 0100"] + back)
    }

    @Test("A chip that was left at the other speed is found at it", arguments: [460800, 115200, 9600])
    func leftAtAnotherSpeed(speed: Int) async throws {
        let chip = try Self.chip { chip, _, _ in
            // What comes at another speed is nothing that the chip understands.
            chip.lineSettings.c_ospeed == speed_t(B460800)
                ? nil : .unacknowledged([0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00])
        }
        defer { chip.end() }
        let reader = try PN532Reader("\(chip.path)@\(speed)", limits: .patient)
        let woken = [String](repeating: "14 011400", count: 3)
        if speed == 460800 {
            try await reader.prepare()
            #expect(chip.log() == woken + ScriptedChip.start)
        } else {
            let error = await #expect(throws: LinkError.self) { try await reader.prepare() }
            #expect(
                error?.code == .readerUnavailable && error?.reason.contains("No PN532 answers at \(chip.path)") == true
            )
            #expect(chip.log() == (speed == 115200 ? woken : woken + woken))
        }
    }

    @Test("A setting is sent three times before the chip is given up", arguments: 0...3)
    func damage(times: Int) async throws {
        var damaged = ScriptedChip.frame(0x02, [0x32, 1, 6, 7])
        damaged[8] ^= 1
        let (bad, good) = (damaged, ScriptedChip.frame(0x02, [0x32, 1, 6, 7]))
        let asked = Locked(0)
        let chip = try Self.chip { chip, code, _ in
            guard code == 0x02 else { return nil }
            let count = asked.withLock {
                $0 += 1
                return $0
            }
            chip.repeats(count <= times ? bad : good)
            return .bytes(count <= times ? bad : good)
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        do throws(LinkError) {
            try await reader.prepare()
            #expect(times < 3)
        } catch {
            #expect(times == 3 && error.code == .readerUnavailable)
            #expect(error.reason.contains("The PN532 at \(chip.path) does not answer any more"))
        }
        let each = ["02", "NACK", "NACK"]
        let all = ["14 011400"] + [[String]](repeating: each, count: times).joined()
        #expect(chip.log().filter { $0 != "ACK" } == all + (times < 3 ? ScriptedChip.start.dropFirst() : []))
    }

    @Test("A real reader is waited for as long as its manual lets it take")
    func limits() {
        let limits = HostLimits.standard
        // The chip acknowledges within 15 ms; a USB adapter and a busy machine take their time too.
        #expect(limits.acknowledge == .milliseconds(150) && limits.wake == .milliseconds(500))
        #expect(limits.gap == .milliseconds(60) && limits.write == .seconds(1) && limits.own == .milliseconds(300))
        #expect(limits.list == .milliseconds(1500) && limits.answer == .seconds(5))
        #expect(limits.tolerance == .milliseconds(500))
        let patient = HostLimits.patient
        for limit in [
            patient.acknowledge, patient.wake, patient.gap, patient.write, patient.own, patient.list, patient.answer,
            patient.tolerance,
        ] { #expect(limit == .seconds(30)) }
    }

    @Test("What people are told a PN532 can do names each technology and each call")
    func calls() {
        let support = Dictionary(uniqueKeysWithValues: PN532Reader.calls.map { ($0.name, $0.support) })
        #expect(
            support == [
                "NFCNDEFTag.readNDEF, writeNDEF": .yes, "NFCISO7816Tag.sendCommand": .yes,
                "NFCMiFareTag.sendMiFareCommand": .yes, "NFCFeliCaTag's commands": .yes,
                "NFCISO15693Tag's commands": .no,
                "NFCVASReaderSession": .no, "CardSession": .yes,
            ]
        )
        #expect(PN532Reader.calls.allSatisfy { $0.reason.hasSuffix(".") && $0.reason.count > 20 })
        for (line, start) in zip(
            PN532Reader.capabilities,
            ["NFC-A:", "NFC-B:", "NFC-F:", "NFC-V:", "As a card:", "It does not report"]
        ) {
            #expect(line.hasPrefix(start))
        }
    }
}
