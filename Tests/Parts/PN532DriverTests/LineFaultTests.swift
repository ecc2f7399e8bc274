// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import Foundation
import Glibc
import SystemLibrary
import TagLink
import Testing

@testable import PN532Driver

/// Checks chips and lines that misbehave. Every wait ends.
struct LineFaultTests {
    /// A Type 2 tag that answers every command with four pages; `reply` answers its first exchange in another way.
    private static func chip(
        _ reply: @escaping @Sendable (_ attempt: Int) -> ScriptedChip.Reply?
    ) throws -> ScriptedChip {
        let attempts = Locked(0)
        return try ScriptedChip { code, data in
            switch code {
            case 0x4A where data[1] == 0: .answer([1, 1, 0x00, 0x44, 0x00, 7, 4, 1, 2, 3, 4, 5, 6])
            case 0x42:
                reply(
                    attempts.withLock {
                        $0 += 1
                        return $0
                    }
                ) ?? .answer(pages)
            default: nil
            }
        }
    }

    /// The limits of a test that waits for a timeout: some seconds where an expected event must come in time.
    private static let brief: HostLimits = {
        var limits = HostLimits.patient
        limits.acknowledge = .seconds(4)
        limits.wake = .seconds(4)
        limits.gap = HostLimits.standard.gap
        limits.tolerance = .seconds(4)
        return limits
    }()

    private static let payload: [UInt8] = (0..<16).map { $0 }
    private static let pages: [UInt8] = {
        let crc = CyclicRedundancyCheck.a(payload)
        return [0] + payload + [UInt8(crc & 0xFF), UInt8(crc >> 8)]
    }()

    /// Reads four pages of the tag on a chip.
    private static func read(_ chip: ScriptedChip, limits: HostLimits = .patient) async throws -> [UInt8] {
        let reader = try PN532Reader(chip.path, limits: limits)
        let link = try await link(reader)
        return try await link.transceive(Frame([0x30, 0x00]), timeout: .milliseconds(5)).bytes
    }

    private static func link(_ reader: PN532Reader) async throws -> any SelfActivatingLink {
        let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
        #expect(tag.identity == .nfcA(atqa: 0x0044, sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
        return link
    }

    @Test("Noise around frames costs nothing")
    func noise() async throws {
        let noise: [UInt8] = [0x00, 0xFF, 0x00, 0x13, 0x37, 0xFF, 0xFF, 0x00]
        let bytes = noise + ScriptedChip.acknowledge + noise + ScriptedChip.frame(0x42, Self.pages)
        let chip = try Self.chip { _ in .unacknowledged(bytes) }
        defer { chip.end() }
        #expect(try await Self.read(chip) == Self.payload)
    }

    @Test("An answer that is damaged is asked for again")
    func damage() async throws {
        var damaged = ScriptedChip.frame(0x42, Self.pages)
        damaged[10] ^= 1
        let bytes = damaged
        let chip = try Self.chip { $0 == 1 ? .bytes(bytes) : nil }
        defer { chip.end() }
        // The scripted chip repeats an empty answer, which has no status.
        let error = await #expect(throws: LinkError.self) { _ = try await Self.read(chip) }
        #expect(error?.code == .transmission)
        #expect(chip.received.contains(.negativeAcknowledge))
    }

    @Test("An answer that breaks off is asked for again, wherever it does", arguments: [7, 8, 12, 25])
    func torn(length: Int) async throws {
        let whole = ScriptedChip.frame(0x42, Self.pages)
        let chip = try Self.chip { $0 == 1 ? .bytes(Array(whole.prefix(length))) : nil }
        chip.repeats(whole)
        defer { chip.end() }
        #expect(try await Self.read(chip, limits: Self.brief) == Self.payload)
        #expect(chip.received.contains(.negativeAcknowledge))
        #expect(chip.commands.count { $0 == 0x42 } == 1)
    }

    @Test("A list of targets has a limit of its own, after which the chip counts as silent")
    func listLimit() async throws {
        let chip = try ScriptedChip { code, _ in code == 0x4A ? .silence : nil }
        defer { chip.end() }
        var limits = HostLimits.patient
        limits.list = .milliseconds(10)
        let reader = try PN532Reader(chip.path, limits: limits)
        let start = ContinuousClock.now
        await #expect(throws: LinkError(.readerUnavailable, "")) {
            try await reader.discover([.nfcA], systemCodes: [])
        }
        #expect(chip.commands.count { $0 == 0x4A } == 3)
        // With the limit of other commands this takes three times as long as one of them.
        #expect(ContinuousClock.now - start < limits.own)
    }

    @Test("Damage to an answer that is not awaited is passed over, and nothing is asked for again")
    func foreignDamage() async throws {
        var damaged = ScriptedChip.frame(0x4A, [1, 2, 3])
        damaged[8] ^= 1
        let bytes = damaged + ScriptedChip.frame(0x42, Self.pages)
        let chip = try Self.chip { $0 == 1 ? .bytes(bytes) : nil }
        defer { chip.end() }
        let link = try await Self.link(try PN532Reader(chip.path, limits: .patient))
        // After the second one the chip has heard all that was sent for the first.
        for _ in 0..<2 {
            let answer = try await link.transceive(Frame([0x30, 0x00]), timeout: .milliseconds(5))
            #expect(answer.bytes == Self.payload)
        }
        #expect(!chip.received.contains(.negativeAcknowledge))
    }

    @Test("A chip that answers with damage alone gets a command to stop, and the tag is not lost")
    func damageForEver() async throws {
        var damaged = ScriptedChip.frame(0x42, Self.pages)
        damaged[10] ^= 1
        let bytes = damaged
        let chip = try Self.chip { $0 == 1 ? .bytes(bytes) : nil }
        chip.repeats(bytes)
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let link = try await Self.link(reader)
        let error = await #expect(throws: LinkError.self) {
            _ = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
        }
        #expect(error?.code == .transmission)
        #expect(chip.received.count { $0 == .negativeAcknowledge } == HostInterface.repeats)
        let pages = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5)).bytes
        #expect(pages == Self.payload)
    }

    @Test("An answer that breaks off is waited for no longer than the command's own time", .timeLimit(.minutes(5)))
    func tornAtTheEnd() async throws {
        var limits = HostLimits.patient
        limits.tolerance = .seconds(1)
        // A wait for the rest of the frame would outlast the test.
        limits.gap = .seconds(3600)
        let whole = ScriptedChip.frame(0x42, Self.pages)
        let chip = try Self.chip { $0 == 1 ? .bytes(Array(whole.prefix(4))) : nil }
        defer { chip.end() }
        let error = await #expect(throws: LinkError.self) { _ = try await Self.read(chip, limits: limits) }
        #expect(error?.code == .timeout)
    }

    @Test("A command without acknowledgement is not repeated, since the tag may have had it")
    func noAcknowledgement() async throws {
        let chip = try Self.chip { $0 == 1 ? .unacknowledged(ScriptedChip.frame(0x42, Self.pages)) : nil }
        defer { chip.end() }
        let error = await #expect(throws: LinkError.self) { _ = try await Self.read(chip, limits: Self.brief) }
        #expect(error?.code == .transmission)
        #expect(chip.commands.count { $0 == 0x42 } == 1)
    }

    @Test("What is left of an exchange that was given up is not taken for the next answer")
    func late() async throws {
        let stale = ScriptedChip.frame(0x42, [0] + [UInt8](repeating: 0xEE, count: 18))
        let chip = try Self.chip { attempt in
            switch attempt {
            case 1: .silence
            case 2: .unacknowledged(stale + ScriptedChip.acknowledge + ScriptedChip.frame(0x42, Self.pages))
            default: nil
            }
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: Self.brief)
        let link = try await Self.link(reader)
        let error = await #expect(throws: LinkError.self) {
            _ = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
        }
        #expect(error?.code == .timeout)
        #expect(chip.received.contains(.acknowledge))
        let pages = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5)).bytes
        #expect(pages == Self.payload)
    }

    /// FIONREAD of asm-generic/ioctls.h.
    private static let waitingBytes: UInt = 0x541B

    @Test("What came before a command is not taken for its answer", .timeLimit(.minutes(2)))
    func early() throws {
        let terminal = try PseudoTerminal()
        defer { terminal.close() }
        let port = try SerialPort(path: terminal.path, speed: .initial, interrupt: Interrupt())
        let host = HostInterface(port: port, limits: .patient)
        let stale = ScriptedChip.acknowledge + ScriptedChip.frame(0x02, [0xEE, 1, 6, 7])
        terminal.write(stale)
        // The line takes a moment.
        let line = unsafe open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(line) }
        var waiting: Int32 = 0
        while waiting < Int32(stale.count) {
            try #require(unsafe ioctl(line, Self.waitingBytes, &waiting) == 0)
        }
        Thread.detachNewThread {
            while terminal.read(milliseconds: 10) == nil {}
            terminal.write(ScriptedChip.acknowledge + ScriptedChip.frame(0x02, [0x32, 1, 6, 7]))
        }
        #expect(try host.exchange(0x02, [], limit: .seconds(30), nil) == [0x32, 1, 6, 7])
    }

    @Test("A chip that hangs ends the session's reader in time", .timeLimit(.minutes(2)))
    func hang() async throws {
        let hangs = Locked(false)
        let chip = try ScriptedChip { code, data in
            if hangs.withLock({ $0 }) { return .unacknowledged([]) }
            if code == 0x4A, data[1] == 0 { return .answer([1, 1, 0x00, 0x44, 0x00, 7, 4, 1, 2, 3, 4, 5, 6]) }
            return nil
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: Self.brief)
        let link = try await Self.link(reader)
        hangs.withLock { $0 = true }
        let error = await #expect(throws: LinkError.self) {
            _ = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
        }
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason.contains(chip.path) == true)
        // It has come to itself.
        hangs.withLock { $0 = false }
        #expect(try await reader.discover([.nfcA], systemCodes: []).count == 1)
    }

    @Test("A line that goes away ends the exchange; what is plugged in afterwards works")
    func unplugged() async throws {
        // A name that stays while its line changes, like udev's names.
        let path = "/tmp/pn532-\(UInt64.random(in: 0...UInt64.max))"
        defer { _ = unsafe unlink(path) }
        let first = try Self.chip { _ in .hangUp }
        try #require(unsafe symlink(first.path, path) == 0)
        let reader = try PN532Reader(path, limits: .patient)
        let link = try await Self.link(reader)
        let error = await #expect(throws: LinkError.self) {
            _ = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
        }
        #expect(error?.code == .readerUnavailable)
        _ = unsafe unlink(path)
        let absent = await #expect(throws: LinkError.self) { _ = try await reader.discover([.nfcA], systemCodes: []) }
        #expect(absent?.code == .readerUnavailable)
        let second = try Self.chip { _ in nil }
        defer { second.end() }
        try #require(unsafe symlink(second.path, path) == 0)
        let again = try await Self.link(reader)
        #expect(try await again.transceive(Frame([0x30, 0]), timeout: .milliseconds(5)).bytes == Self.payload)
        let old = await #expect(throws: LinkError.self) {
            _ = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
        }
        #expect(old?.code == .tagRemoved)
    }

    @Test("A line that has gone takes nothing more", .timeLimit(.minutes(1)))
    func goneBeforeWriting() throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort(path: terminal.path, speed: .initial, interrupt: Interrupt())
        terminal.close()
        #expect(throws: LinkError(.readerUnavailable, "")) { try port.write([0x55], before: .now, nil) }
    }

    @Test("A line that is silent is waited for until the limit", .timeLimit(.minutes(1)))
    func silentLine() throws {
        let terminal = try PseudoTerminal()
        defer { terminal.close() }
        let port = try SerialPort(path: terminal.path, speed: .initial, interrupt: Interrupt())
        let deadline = ContinuousClock.now + .milliseconds(100)
        #expect(try port.read(before: deadline, nil).isEmpty)
        #expect(ContinuousClock.now >= deadline)
    }

    @Test("A line without a chip says what to look at")
    func noChip() async throws {
        let chip = try ScriptedChip { _, _ in .unacknowledged([]) }
        defer { chip.end() }
        let error = await #expect(throws: LinkError.self) { try await PN532Reader(chip.path).prepare() }
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason.contains("HSU") == true)
    }

    @Test("A device that never stops sending is not waited for", .timeLimit(.minutes(2)))
    func flood() async throws {
        let terminal = try PseudoTerminal()
        let isOver = Locked(false)
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) { terminal.write([UInt8](repeating: 0xFF, count: 64), milliseconds: 10) }
            terminal.close()
        }
        defer { isOver.withLock { $0 = true } }
        let error = await #expect(throws: LinkError.self) { try await PN532Reader(terminal.path).prepare() }
        #expect(error?.code == .readerUnavailable)
    }

    @Test("Something else than a PN532 is not taken for one")
    func anotherChip() async throws {
        let chip = try ScriptedChip { code, _ in code == 0x02 ? .answer([0x33, 1, 0, 7]) : nil }
        defer { chip.end() }
        let error = await #expect(throws: LinkError.self) {
            try await PN532Reader(chip.path, limits: .patient).prepare()
        }
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason.contains("no PN532") == true)
    }

    @Test("A task that is cancelled stops the chip at once", .timeLimit(.minutes(2)))
    func cancelled() async throws {
        let chip = try Self.chip { $0 == 1 ? .silence : nil }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let link = try await Self.link(reader)
        let task = Task { try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(3000)) }
        while !chip.commands.contains(0x42) { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        let error = await #expect(throws: LinkError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        let pages = try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5)).bytes
        #expect(pages == Self.payload)
        #expect(chip.received.contains(.acknowledge))
    }

    @Test("A tag that was found before the line was let go of is not one that is found afterwards")
    func foundBefore() async throws {
        let chip = try Self.chip { _ in nil }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let old = try await Self.link(reader)
        await reader.release()
        let link = try await Self.link(reader)
        #expect(try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5)).bytes == Self.payload)
        let error = await #expect(throws: LinkError.self) {
            _ = try await old.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
        }
        #expect(error?.code == .tagRemoved)
    }

    @Test("A line that another program has is left alone until it lets go")
    func inUse() async throws {
        let chip = try Self.chip { _ in nil }
        defer { chip.end() }
        let first = try PN532Reader(chip.path, limits: .patient)
        try await first.prepare()
        #expect(first.name == "PN532 v1.6 (\(chip.path))")
        let second = try PN532Reader(chip.path, limits: .patient)
        let error = await #expect(throws: LinkError.self) { try await second.prepare() }
        #expect(error?.reason.contains("in use") == true)
        await first.release()
        try await second.prepare()
    }

    @Test("A line is free when it is let go of, though a program that was just started still has its descriptor")
    func inheritedDescriptor() async throws {
        let chip = try Self.chip { _ in nil }
        defer { chip.end() }
        let first = try PN532Reader(chip.path, limits: .patient)
        try await first.prepare()
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let copies = descriptors.filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == chip.path
        }.map { dup($0) }
        defer { for copy in copies { close(copy) } }
        // The terminal's own, and the driver's.
        try #require(copies.count == 2)
        await first.release()
        try await PN532Reader(chip.path, limits: .patient).prepare()
    }

    @Test("Lists of targets that make no sense are refused, and crash nothing")
    func malformedLists() async throws {
        let answers: [[UInt8]] = [
            [], [3], [1], [2, 1, 0, 0x44, 0, 4, 1, 2, 3, 4], [1, 1, 0, 0x44, 0, 200, 1, 2], [1, 1, 0, 0x44, 0, 0],
            [0xFF] + [UInt8](repeating: 0xFF, count: 250), [1, 1, 0x50], [1, 1, 18, 1, 2, 3], [1, 1, 0x14],
        ]
        for answer in answers {
            let chip = try ScriptedChip { code, _ in code == 0x4A ? .answer(answer) : nil }
            defer { chip.end() }
            let reader = try PN532Reader(chip.path, limits: .patient)
            for technology in [Technology.nfcA, .nfcB, .nfcF] {
                do throws(LinkError) {
                    #expect(try await reader.discover([technology], systemCodes: [0x12FC]).isEmpty)
                } catch {
                    #expect(error.code == .transmission, "\(answer) \(technology)")
                }
            }
        }
    }
}
