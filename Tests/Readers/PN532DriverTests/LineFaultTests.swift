// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import Foundation
import Glibc
import TagLink
import Testing

@testable import PN532Driver  // the host interface and its limits are internal

/// Chips and lines that misbehave. Every wait ends.
@Suite(.timeLimit(.minutes(2))) struct LineFaultTests {
    private static let payload = [UInt8](0..<16)
    private static let pages = [0] + payload + CyclicRedundancyCheck.a(payload).littleEndianBytes
    private static let answer = ScriptedChip.frame(0x42, pages)
    private static let damaged = ScriptedChip.frame(0x42, [1] + pages.dropFirst()).enumerated().map { index, byte in
        index == 7 ? byte ^ 1 : byte
    }

    /// The limits of a test that waits for a time-out: some seconds where an expected event must happen in time.
    private static let brief: HostLimits = {
        var limits = HostLimits.patient
        (limits.acknowledge, limits.wake, limits.tolerance) = (.seconds(2), .seconds(2), .seconds(2))
        limits.gap = HostLimits().gap
        return limits
    }()

    /// A Type 2 tag that answers every command with four pages, but for its first exchanges.
    private static func chip(on kind: ChipLineKind = .serial, _ replies: ScriptedChip.Reply...) throws -> ScriptedChip {
        let (rest, script) = (Locked(replies), ChipScript(ChipScript.type2))
        return try ScriptedChip(on: kind) { code, data in
            guard code == 0x42 else { return script.reply(code, data) }
            return rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } ?? .answer(pages)
        }
    }

    private static func link(_ reader: PN532Reader) async throws -> any SelfActivatingLink {
        try #require(try await reader.discover([.nfcA], systemCodes: []).first).link
    }

    /// What some reads of the tag give: the error of the read, or nil for its pages.
    private static func read(_ link: any FrameLink, times: Int = 1) async -> [LinkError.Code?] {
        var results: [LinkError.Code?] = []
        for _ in 0..<times {
            results.append(
                await code {
                    let answer = try await link.send([0x30, 0x00])
                    #expect(answer.bytes == payload)
                }
            )
        }
        return results
    }

    private static let noise: [UInt8] = [0x00, 0xFF, 0x00, 0x13, 0x37, 0xFF, 0xFF, 0x00]
    private static let stale = ScriptedChip.frame(0x42, [0] + [UInt8](repeating: 0xEE, count: 18))

    /// Replies of a chip to an exchange, what it repeats when asked, and the results of two reads.
    private static let faults:
        [(name: String, reply: ScriptedChip.Reply, repeats: [UInt8]?, results: [LinkError.Code?], nacks: Int)] = [
            ("noise", .unacknowledged(noise + ScriptedChip.acknowledge + noise + answer), nil, [nil, nil], 0),
            // The scripted chip repeats an empty answer, which has no status.
            ("damage, then an empty answer", .bytes(damaged), nil, [.transmission, nil], 1),
            ("damage, then the answer", .bytes(damaged), answer, [nil, nil], 1),
            ("damage alone", .bytes(damaged), damaged, [.transmission, nil], HostInterface.repeats),
            (
                "damage to another answer", .bytes(ScriptedChip.frame(0x4A, [1]).dropLast(2) + [0, 0] + answer), nil,
                [nil, nil], 0
            ),
            ("cut before its length", .bytes(Array(answer.prefix(7))), answer, [nil, nil], 1),
            ("cut in its data", .bytes(Array(answer.prefix(12))), answer, [nil, nil], 1),
            ("cut before its end", .bytes(Array(answer.prefix(25))), answer, [nil, nil], 1),
            ("no acknowledgement", .unacknowledged(answer), nil, [.transmission, nil], 0),
            ("silence", .silence, nil, [.timeout, nil], 0),
        ]

    /// On a bus, each frame is read by itself, so that there is nothing around it.
    private static let faultsOnLines = ChipLineKind.allCases.flatMap { kind in
        faults.indices.filter { kind == .serial || !["noise", "damage to another answer"].contains(faults[$0].name) }
            .map { ($0, kind) }
    }

    @Test(arguments: faultsOnLines)
    func `fault on the line: a damaged answer is asked for by NACK, the tag's command is never sent again`(
        index: Int,
        kind: ChipLineKind
    ) async throws {
        let fault = Self.faults[index]
        let chip = try Self.chip(on: kind, fault.reply)
        defer { chip.end() }
        if let bytes = fault.repeats { chip.repeats(bytes) }
        let link = try await Self.link(try chip.reader(Self.brief))
        #expect(await Self.read(link, times: 2) == fault.results, "\(fault.name)")
        // A bus reads no more than an acknowledgement first, and asks for an answer in its place again.
        let nacks = kind != .serial && fault.name == "no acknowledgement" ? 1 : fault.nacks
        #expect(chip.received.count { $0 == .negativeAcknowledge } == nacks, "\(fault.name)")
        // The command itself is never repeated, since the tag may have had it.
        #expect(chip.commands.count { $0 == 0x42 } == 2, "\(fault.name)")
    }

    @Test(arguments: [ETIMEDOUT, EIO])
    func `I2C write that fails although the chip has the command: not sent again, and its answer is read`(code: Int32)
        async throws
    {
        let chip = try Self.chip(on: .i2c)
        let link = try await Self.link(try chip.reader())
        // The first exchange also sends settings.
        #expect(await Self.read(link) == [nil])
        try #require(chip.openBus(chip.path, .i2c) as? BusModel).failNextWrite(code)
        #expect(await Self.read(link) == [nil] && chip.commands.count { $0 == 0x42 } == 2)
    }

    @Test func `late answer of an exchange that timed out: not taken for the answer of the next exchange`() async throws
    {
        let late = Self.stale + ScriptedChip.acknowledge + Self.answer
        let chip = try Self.chip(.silence, .unacknowledged(late))
        defer { chip.end() }
        let link = try await Self.link(try PN532Reader(chip.path, limits: Self.brief))
        #expect(await Self.read(link, times: 2) == [.timeout, nil])
        #expect(chip.received.contains(.acknowledge))
    }

    // MARK: Limits

    @Test func `answer that breaks off: timeout at the command's own time limit`() async throws {
        var limits = HostLimits.patient
        // A wait for the rest of the frame would outlast the test.
        (limits.tolerance, limits.gap) = (.milliseconds(500), .seconds(3600))
        let chip = try Self.chip(.bytes(Array(Self.answer.prefix(4))))
        defer { chip.end() }
        let link = try await Self.link(try PN532Reader(chip.path, limits: limits))
        #expect(await Self.read(link) == [.timeout])
    }

    @Test func `InListPassiveTarget without an answer: three attempts with its own limit, then readerUnavailable`()
        async throws
    {
        let chip = try ScriptedChip(script: "4a: silence")
        defer { chip.end() }
        var limits = HostLimits.patient
        limits.list = .milliseconds(10)
        let reader = try PN532Reader(chip.path, limits: limits)
        let start = ContinuousClock.now
        let result = await code { _ = try await reader.discover([.nfcA], systemCodes: []) }
        #expect(result == .readerUnavailable && chip.commands.count { $0 == 0x4A } == 3)
        #expect(ContinuousClock.now - start < limits.own)
    }

    @Test func `chip that hangs: readerUnavailable; when the chip answers again, its tags are found`() async throws {
        let hangs = Locked(false)
        let script = ChipScript(ChipScript.type2)
        let chip = try ScriptedChip { code, data in
            hangs.withLock { $0 } ? .unacknowledged([]) : script.reply(code, data)
        }
        defer { chip.end() }
        var limits = Self.brief
        // It is woken three times.
        limits.wake = .milliseconds(500)
        let reader = try PN532Reader(chip.path, limits: limits)
        let link = try await Self.link(reader)
        hangs.withLock { $0 = true }
        #expect(await Self.read(link) == [.readerUnavailable])
        hangs.withLock { $0 = false }
        #expect(try await reader.discover([.nfcA], systemCodes: []).count == 1)
    }

    @Test func `line without a chip, or that never stops sending: readerUnavailable within the standard limits`()
        async throws
    {
        let silent = try ScriptedChip { _, _ in .unacknowledged([]) }
        defer { silent.end() }
        let terminal = try PseudoTerminal()
        let isOver = Locked(false)
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) { terminal.write([UInt8](repeating: 0xFF, count: 64), milliseconds: 10) }
            terminal.close()
        }
        defer { isOver.withLock { $0 = true } }
        for path in [silent.path, terminal.path] {
            let reader = try PN532Reader(path)
            #expect(await code { try await reader.prepare() } == .readerUnavailable)
        }
    }

    @Test(arguments: ChipLineKind.allCases)
    func `cancelled task: the chip is stopped at once, and the next exchange works`(kind: ChipLineKind) async throws {
        let chip = try Self.chip(on: kind, .silence)
        defer { chip.end() }
        let link = try await Self.link(try chip.reader())
        let task = Task { try await link.transceive(Frame([0x30, 0]), timeout: .milliseconds(3000)) }
        while !chip.commands.contains(0x42) { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        await #expect(throws: LinkError(.cancelled, "")) { try await task.value }
        #expect(await Self.read(link) == [nil])
        #expect(chip.received.contains(.acknowledge))
    }

    // MARK: The device

    @Test func `line that is unplugged: readerUnavailable; on a new line, a tag of the old line is tagRemoved`()
        async throws
    {
        // A name that stays while its line changes, like udev's names.
        let path = "/tmp/pn532-\(UInt64.random(in: 0...UInt64.max))"
        defer { _ = unsafe unlink(path) }
        let first = try Self.chip(.hangUp)
        defer { first.end() }
        try #require(unsafe symlink(first.path, path) == 0)
        let reader = try PN532Reader(path, limits: .patient)
        let old = try await Self.link(reader)
        #expect(await Self.read(old) == [.readerUnavailable])
        _ = unsafe unlink(path)
        let absent = await code { _ = try await reader.discover([.nfcA], systemCodes: []) }
        #expect(absent == .readerUnavailable)
        let second = try Self.chip()
        defer { second.end() }
        try #require(unsafe symlink(second.path, path) == 0)
        #expect(await Self.read(old) == [.tagRemoved])
        #expect(second.log() == ScriptedChip.start)
        let link = try await Self.link(reader)
        #expect(await Self.read(link) == [nil])
    }

    @Test(arguments: [ChipLineKind.i2c, .spi])
    func `bus that fails: readerUnavailable; on a bus opened again, a tag of the old one is tagRemoved`(
        kind: ChipLineKind
    ) async throws {
        let (first, second) = (try Self.chip(on: kind, .hangUp), try Self.chip(on: kind))
        let current = Locked(first)
        let reader = try PN532Reader(first.path, limits: .patient) { (path, kind) throws(SystemCallError) in
            try current.withLock { $0 }.openBus(path, kind)
        }
        let old = try await Self.link(reader)
        #expect(await Self.read(old) == [.readerUnavailable])
        current.withLock { $0 = second }
        #expect(await Self.read(old) == [.tagRemoved])
        #expect(second.log() == ScriptedChip.start)
        #expect(await Self.read(try Self.link(reader)) == [nil])
    }

    @Test func `line in use by another program: refused until it is released`() async throws {
        let chip = try Self.chip()
        defer { chip.end() }
        let (first, second) = (
            try PN532Reader(chip.path, limits: .patient), try PN532Reader(chip.path, limits: .patient)
        )
        try await first.prepare()
        #expect(await code { try await second.prepare() } == .readerUnavailable)
        await first.release()
        try await second.prepare()
    }
}
