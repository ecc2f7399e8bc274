// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import Glibc
import TagLink
import Testing

@testable import PN532Driver

/// Checks what the driver forgets of a chip and its tags, and what it keeps.
@Suite(.timeLimit(.minutes(5)))
struct LeftOverTests {
    private static let tagA: [UInt8] = [1, 1, 0, 0x44, 0, 7, 4, 1, 2, 3, 4, 5, 6]

    /// A reader with one tag, and its chip, whose answers to other commands are a test's own.
    private static func withTag(
        list: [UInt8] = Self.tagA,
        _ responder: @escaping ScriptedChip.PartialResponder,
        _ body: (ScriptedChip, PN532Reader, any SelfActivatingLink) async throws -> Void
    ) async throws {
        let chip = try ScriptedChip { code, data in
            if let reply = responder(code, data) { return reply }
            return code == 0x4A && data[1] == 0 ? .answer(list) : nil
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
        try await body(chip, reader, try tag.link)
    }

    // MARK: The chip's settings

    @Test("A time-out that the chip has refused is not known, so that it is set anew, also if it was set before")
    func refusedTimeout() async throws {
        let responder: ScriptedChip.PartialResponder = { code, data in
            switch code {
            case 0x32 where data == [0x02, 0x00, 0x0B, 14]: .syntaxError
            case 0x42: .answer([0, 0x0A])
            default: nil
            }
        }
        try await Self.withTag(responder) { chip, _, link in
            _ = try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
            await #expect(throws: LinkError(.unsupported, "")) {
                try await link.transceive(Frame([0x60]), timeout: .milliseconds(500))
            }
            let before = chip.received.count
            _ = try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
            #expect(chip.log(from: before) == ["32 02000b07", "42 60"])
        }
    }

    @Test("A time-out and the registers are those of the open line: both are set anew after it was closed")
    func settingsAfterRelease() async throws {
        try await Self.withTag({ code, _ in code == 0x42 ? .answer([0, 0x0A]) : nil }) { chip, reader, link in
            _ = try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
            await reader.release()
            let again = try #require(try await reader.discover([.nfcA], systemCodes: []).first).link
            let before = chip.received.count
            _ = try await again.transceive(Frame([0x60]), timeout: .milliseconds(5))
            #expect(chip.log(from: before) == ["06 63026303", "08 630300", "32 02000b07", "42 60"])
        }
    }

    @Test("Each list of targets sets the chip's registers, so that they are read again, but its time-out stays")
    func settingsAfterList() async throws {
        try await Self.withTag({ code, _ in code == 0x42 ? .answer([0, 0x0A]) : nil }) { chip, reader, link in
            _ = try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
            let again = try #require(try await reader.discover([.nfcA], systemCodes: []).first).link
            let before = chip.received.count
            for _ in 0..<2 { _ = try await again.transceive(Frame([0x60]), timeout: .milliseconds(5)) }
            #expect(chip.log(from: before) == ["06 63026303", "08 630300", "42 60", "42 60"])
        }
    }

    // MARK: Targets

    /// A reader with one tag that does not answer, and a chip that answers so when it looks again.
    private static func withLostTag(
        laterLooks list: [UInt8],
        _ body: (ScriptedChip, PN532Reader, any SelfActivatingLink) async throws -> Void
    ) async throws {
        let looks = Locked(0)
        let responder: ScriptedChip.PartialResponder = { code, _ in
            if code == 0x42 { return .answer([1]) }
            guard code == 0x4A else { return nil }
            let look = looks.withLock {
                $0 += 1
                return $0
            }
            return look == 1 ? nil : .answer(list)
        }
        try await withTag(list: [1, 1, 0, 0x44, 0x20, 4, 1, 2, 3, 4], responder, body)
    }

    @Test("After a look in vain the chip has no modulation any more, so that no frame is sent before the next look")
    func modulationAfterEmptyList() async throws {
        try await Self.withLostTag(laterLooks: [0]) { chip, _, link in
            await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
            #expect(chip.commands.contains(0x42))
            let before = chip.received.count
            await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
            let look = "4a 010001020304"
            #expect(chip.log(from: before) == [look] + ScriptedChip.restart + [look])
        }
    }

    @Test("A list that can't be read leaves no modulation either")
    func modulationAfterFailedList() async throws {
        try await Self.withLostTag(laterLooks: [3]) { chip, _, link in
            await #expect(throws: LinkError(.transmission, "")) { try await link.reactivate() }
            let before = chip.received.count
            await #expect(throws: LinkError(.transmission, "")) { try await link.reactivate() }
            #expect(chip.log(from: before) == ["4a 010001020304"])
        }
    }

    @Test("The tag that was ready is not so any more when another was selected, and is woken each time from then on")
    func readyOnce() async throws {
        let body: [UInt8] = [0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0x00, 0x81, 0x71]
        let chip = try ScriptedChip { code, data in
            switch (code, data.dropFirst().first) {
            case (0x4A, 0x00): .answer(Self.tagA)
            case (0x4A, 0x03): .answer([1, 1] + body + [1, 0])
            case (0x42, _): .answer([0] + body)
            default: nil
            }
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tags = try await reader.discover([.nfcA, .nfcB], systemCodes: [])
        try #require(tags.count == 2)
        for tag in [tags[0], tags[0], tags[1], tags[1]] {
            let before = chip.received.count
            try await reader.select(tag)
            #expect(chip.received.count > before, "\(tag.identity)")
        }
    }

    @Test("A tag that is woken again after it was gone is worked with again")
    func wokenAfterLoss() async throws {
        let isNear = Locked(true)
        let responder: ScriptedChip.PartialResponder = { code, _ in
            if code == 0x42 { return .answer([0, 0x0A]) }
            return code == 0x4A && !isNear.withLock { $0 } ? .answer([0]) : nil
        }
        try await Self.withTag(responder) { _, reader, link in
            isNear.withLock { $0 = false }
            await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
            isNear.withLock { $0 = true }
            try await link.reactivate()
            #expect(try await link.transceive(Frame([0x60]), timeout: .milliseconds(5)).nibble == 0x0A)
            // A field in which nothing is found any more has no tag to go on with.
            isNear.withLock { $0 = false }
            #expect(try await reader.discover([.nfcA], systemCodes: []).isEmpty)
            isNear.withLock { $0 = true }
            await #expect(throws: LinkError(.tagRemoved, "")) {
                try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
            }
            await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
        }
    }

    /// Checks that a tag that was found before is neither selected nor sent anything: the line is opened, and no more.
    private static func expectGone(_ tag: DiscoveredTag, of reader: PN532Reader, at chip: ScriptedChip) async throws {
        let before = chip.received.count
        let link = try tag.link
        await #expect(throws: LinkError(.tagRemoved, "")) { try await reader.select(tag) }
        await #expect(throws: LinkError(.tagRemoved, "")) {
            try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
        }
        await #expect(throws: LinkError(.tagRemoved, "")) { try await link.reactivate() }
        #expect(chip.log(from: before) == ScriptedChip.start)
    }

    @Test("A tag that was found before the line was closed is gone until it is found again, though it is near")
    func foundBeforeRelease() async throws {
        let chip = try ScriptedChip { code, _ in code == 0x4A ? .answer(Self.tagA) : nil }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
        await reader.release()
        try await Self.expectGone(tag, of: reader, at: chip)
        let again = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
        try await reader.select(again)
    }

    @Test("A tag that was found before the line was lost is gone on the line that is plugged in afterwards")
    func foundBeforeLoss() async throws {
        // A name that stays while its line changes, like udev's names.
        let path = "/tmp/pn532-\(UInt64.random(in: 0...UInt64.max))"
        defer { _ = unsafe unlink(path) }
        let first = try ScriptedChip { code, _ in
            switch code {
            case 0x4A: .answer(Self.tagA)
            case 0x42: .hangUp
            default: nil
            }
        }
        defer { first.end() }
        try #require(unsafe symlink(first.path, path) == 0)
        let reader = try PN532Reader(path, limits: .patient)
        let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
        await #expect(throws: LinkError(.readerUnavailable, "")) {
            try await tag.link.transceive(Frame([0x60]), timeout: .milliseconds(5))
        }
        _ = unsafe unlink(path)
        let second = try ScriptedChip { code, _ in code == 0x4A ? .answer(Self.tagA) : nil }
        defer { second.end() }
        try #require(unsafe symlink(second.path, path) == 0)
        try await Self.expectGone(tag, of: reader, at: second)
    }

    // MARK: The reader

    @Test("A reader that was let go of keeps its counts and its version; a link counts its own frames alone")
    func keptAfterRelease() async throws {
        let version = Locked<UInt8>(6)
        let responder: ScriptedChip.PartialResponder = { code, _ in
            switch code {
            case 0x02: .answer([0x32, 0x01, version.withLock { $0 }, 0x07])
            case 0x42: .answer([0, 0x0A])
            default: nil
            }
        }
        try await Self.withTag(responder) { chip, reader, link in
            _ = try await link.transceive(Frame([0x60]), timeout: .milliseconds(5))
            await reader.release()
            #expect(reader.wasThere && reader.name == "PN532 v1.6 (\(chip.path))")
            #expect(reader.statistics.exchanges == 1 && link.statistics == reader.statistics)
            // Another one is plugged in.
            version.withLock { $0 = 4 }
            let again = try #require(try await reader.discover([.nfcA], systemCodes: []).first).link
            #expect(reader.name == "PN532 v1.4 (\(chip.path))")
            #expect(again.statistics == .zero)
            for _ in 0..<2 { _ = try await again.transceive(Frame([0x60]), timeout: .milliseconds(5)) }
            #expect(again.statistics.exchanges == 2 && link.statistics.exchanges == 1)
            #expect(reader.statistics.exchanges == 3)
        }
    }

    // MARK: The card

    @Test("A chip that is made a card again is set up again, since it has changed its registers meanwhile")
    func cardAgain() async throws {
        let chip = try ScriptedChip { code, _ in code == 0x8C ? .answer([0x08]) : nil }
        defer { chip.end() }
        let card = try PN532Card(chip.path, limits: .patient)
        let identity = PN532Card.Identity(uid: [1, 2, 3])
        try await card.waitForReader(as: identity)
        let first = chip.log().dropFirst(ScriptedChip.start.count)
        try #require(first.contains("06 63026303"))
        var before = chip.received.count
        try await card.waitForReader(as: identity)
        #expect(chip.log(from: before) == Array(first))
        await card.close()
        #expect(chip.log().last == "32 0100")
        before = chip.received.count
        try await card.waitForReader(as: identity)
        #expect(chip.log(from: before) == ScriptedChip.start + first)
    }

    @Test("A reader that is gone in the middle of a command leaves nothing of it, and gets no more parts of an answer")
    func goneInTheMiddle() async throws {
        let commands = Locked<[[UInt8]]>([[0x40, 1, 2], [0x29], [0x40, 3], [0x02], [0, 4, 5]])
        let chip = try ScriptedChip { code, _ in
            switch code {
            case 0x86: .answer(commands.withLock { $0.removeFirst() })
            case 0x94: .answer([0x29])
            default: nil
            }
        }
        defer { chip.end() }
        let card = try PN532Card(chip.path, limits: .patient)
        #expect(try await card.nextCommand() == nil)
        await #expect(throws: LinkError(.transmission, "")) { try await card.nextCommand() }
        #expect(try await card.nextCommand() == [4, 5])
        let isThere = try await card.respond([UInt8](repeating: 7, count: 600))
        #expect(!isThere)
        #expect(chip.commands.count { $0 == 0x94 } == 1 && !chip.commands.contains(0x8E))
    }
}
