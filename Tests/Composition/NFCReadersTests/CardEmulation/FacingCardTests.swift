// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCRuntime
import PN532Driver
import ReaderEmulation
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks two PN532 that lie on one another: one is a card, and the other reads it.
@Suite(.timeLimit(.minutes(5))) struct `A PN532 as a card in front of another one` {
    /// TgInitAsTarget as libnfc sends it for a Type 4 tag: passive, ISO/IEC 14443-4 alone, with one historical byte.
    private static let becomeCard: [UInt8] =
        [0x8C, 0x05, 0x04, 0x00, 0x00, 0xB0, 0x0B, 0x20] + [UInt8](repeating: 0, count: 28) + [0x00, 0x01, 0x80]

    /// The chip that is a card, and the one that reads.
    private struct Pair {
        var card: PN53xChip
        var reader: PN53xChip

        /// - Parameter seconds: how long the card's host may take to answer.
        init(answersWithin seconds: Int = 60) {
            let field = VirtualField()
            card = PN53xChip(field: VirtualField(), place: FacingCardPlace(field, answersWithin: seconds))
            reader = PN53xChip(field: field)
        }

        /// Makes the one a card, and has the other find it.
        mutating func meet() async {
            #expect(await card.receive([0x12, 0x24]) == .answer([]))
            #expect(await card.receive(becomeCard) == .waiting)
            #expect(
                await reader.receive([0x4A, 0x01, 0x00])
                    == .answer([1, 1, 0x00, 0x04, 0x20, 4, 0x08, 0x00, 0xB0, 0x0B, 6, 0x75, 0x33, 0x92, 0x03, 0x80])
            )
            // The chip answers again what its host has asked before.
            #expect(await card.receive(becomeCard) == .answer([0x08, 0xE0, 0x80]))
        }
    }

    @Test func `It is found with its host's parameters, and is released with its reader`() async {
        var pair = Pair()
        await pair.meet()
        #expect(await pair.card.receive([0x8A]) == .answer([1, 0]))
        #expect(await pair.card.receive([0x86]) == .waiting)
        #expect(await pair.reader.receive([0x44, 0x01]) == .answer([0]))
        #expect(await pair.card.receive([0x86]) == .answer([0x29]))
        #expect(await pair.card.receive([0x8E, 0x90, 0x00]) == .answer([0x29]))
        #expect(await pair.card.receive([0x8A]) == .answer([2, 0]))
        // It is silent until it is made a card again.
        _ = await pair.reader.receive([0x32, 0x05, 0xFF, 0x01, 0x01])
        #expect(await pair.reader.receive([0x4A, 0x01, 0x00]) == .answer([0]))
        await pair.meet()
        #expect(await pair.reader.receive([0x32, 0x01, 0x00]) == .answer([]))
        #expect(await pair.card.receive([0x86]) == .answer([0x0A]))
    }

    @Test func `It is in the reader's field as long as it is a card, and one at a time`() async {
        let field = VirtualField()
        let changes = Locked(0)
        let observation = field.observePresence { changes.withLock { $0 += 1 } }
        var card = PN53xChip(field: VirtualField(), place: FacingCardPlace(field))
        let (first, second): ([UInt8], [UInt8]) = ([0x08, 0x00, 0xB0, 0x0B], [0x08, 0x00, 0xB0, 0x0C])
        _ = await card.receive([0x12, 0x24])
        #expect(await card.receive(Self.becomeCard) == .waiting)
        #expect(field.arrival(of: first) != nil && changes.withLock { $0 } == 1)
        card.stopWaiting()
        #expect(field.arrival(of: first) == nil && changes.withLock { $0 } == 2)
        var other = Self.becomeCard
        other[6] = 0x0C
        #expect(await card.receive(other) == .waiting)
        #expect(field.arrival(of: first) == nil && field.arrival(of: second) != nil)
        withExtendedLifetime(observation) {}
    }

    @Test func `It is gone when its host stops waiting, or wants a reader`() async {
        for ends in [nil, [0x4A, 0x01, 0x00], [0x16, 0xF0], [0x32, 0x01, 0x00]] as [[UInt8]?] {
            var pair = Pair()
            _ = await pair.card.receive([0x12, 0x24])
            #expect(await pair.card.receive(Self.becomeCard) == .waiting)
            if let ends { _ = await pair.card.receive(ends) } else { pair.card.stopWaiting() }
            _ = await pair.reader.receive([0x32, 0x05, 0xFF, 0x01, 0x01])
            #expect(await pair.reader.receive([0x4A, 0x01, 0x00]) == .answer([0]), "\(ends ?? [])")
            #expect(await pair.card.receive([0x86]) == .answer([0x27]))
        }
    }

    @Test func `What makes no card of this kind is refused, or waits`() async {
        var pair = Pair()
        // Without ISO/IEC 14443-4 in SetParameters it would be a card of raw frames.
        #expect(await pair.card.receive(Self.becomeCard) == .waiting)
        _ = await pair.card.receive([0x12, 0x24])
        for length in 1..<Self.becomeCard.count {
            #expect(await pair.card.receive(Array(Self.becomeCard[..<length])) == .syntaxError, "\(length)")
        }
        #expect(await pair.card.receive(Self.becomeCard + [0]) == .syntaxError)
        _ = await pair.reader.receive([0x32, 0x05, 0xFF, 0x01, 0x01])
        #expect(await pair.reader.receive([0x4A, 0x01, 0x00]) == .answer([0]))
    }

    /// Two lines, for hosts that are programs.
    private final class Lines {
        let folder = "/tmp/ocn-\(UUID().uuidString.prefix(8))"
        let servers: [PN532Server]
        let work: [Task<Void, Never>]
        var card: String { folder + "/card" }
        var reader: String { folder + "/reader" }

        init() throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let fields = (VirtualField(), VirtualField())
            servers = [
                try PN532Server(
                    path: folder + "/card",
                    field: fields.0,
                    place: FacingCardPlace(fields.1, answersWithin: 60)
                ),
                try PN532Server(
                    path: folder + "/reader",
                    field: fields.1,
                    place: FacingCardPlace(fields.0, answersWithin: 60)
                ),
            ]
            work = servers.map { $0.start() }
        }

        func end() async {
            for server in servers { server.stop() }
            for task in work { await task.value }
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test func `An app's card is written and read by a reader, in long and short commands`() async throws {
        let lines = try Lines()
        let card = try PN532Card(lines.card, limits: .patient)
        let serving = Task {
            var application = ApplicationCard([NDEFApplication()])
            try await card.waitForReader(as: PN532Card.Identity(uid: [1, 2, 3]))
            var count = 0
            while let command = try await card.nextCommand() {
                count += 1
                guard try await card.respond(application.process(command, tear: nil).bytes) else { break }
            }
            await card.close()
            return count
        }
        let reader = try PN532Reader(lines.reader, limits: .patient)
        var tags: [DiscoveredTag] = []
        // The other program may not be a card yet.
        while tags.isEmpty {
            tags = try await reader.discover([.nfcA], systemCodes: [])
            if tags.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        }
        let tag = try #require(tags.first)
        #expect(tag.identity == .nfcA(atqa: 0x0004, sak: 0x20, uid: [0x08, 1, 2, 3]))
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "A PN532 has frames.") }
        let forumTag = Type4Tag(link: ISODEP(link: link))
        let head: [UInt8] = [0xC2, 0x03, 0x00, 0x00, 0x02, 0x58]
        let message = head + Array("a/b".utf8) + [UInt8](repeating: 7, count: 600)
        try await forumTag.writeNDEF(message)
        #expect(try await forumTag.readNDEF() == message)
        await reader.release()
        #expect(try await serving.value > 5)
        await lines.end()
    }

    @Test func `A host that gives no answer leaves a reader without one, and the field works on`() async throws {
        var pair = Pair()
        await pair.meet()
        let asking = Task { [reader = pair.reader] in
            var reader = reader
            return await reader.receive([0x40, 0x01, 0x00, 0xA4, 0x04, 0x00])
        }
        while await pair.card.receive([0x86]) == .waiting { await Task.yield() }
        // The host goes, and wants a reader now.
        _ = await pair.card.receive([0x32, 0x01, 0x00])
        guard case .answer(let answer) = await asking.value else { throw LinkError(.timeout, "No answer.") }
        #expect(answer != [0] && answer.count == 1)
    }

    @Test func `A host that does not answer in its time leaves a reader without an answer too`() async throws {
        var pair = Pair(answersWithin: 0)
        await pair.meet()
        let start = ContinuousClock.now
        let reply = await pair.reader.receive([0x40, 0x01, 0x00, 0xA4, 0x04, 0x00])
        guard case .answer(let answer) = reply else { throw LinkError(.timeout, "No answer.") }
        #expect(answer != [0] && answer.count == 1)
        // The usual time is five seconds.
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test func `A card that was only selected is there again when the field was off for a moment`() async throws {
        let field = VirtualField()
        var card = PN53xChip(field: VirtualField(), place: FacingCardPlace(field))
        _ = await card.receive([0x12, 0x24])
        #expect(await card.receive(Self.becomeCard) == .waiting)
        let link = try #require(field.link(for: .nfcA))
        let request = Frame(bits: [0x26], validBitsInLastByte: 7)
        let select = Frame([0x93, 0x70, 0x08, 0x00, 0xB0, 0x0B, 0xB3])
        for _ in 0..<2 {
            #expect(try await link.transceive(request, timeout: .milliseconds(1)).bytes == [0x04, 0x00])
            #expect(try await link.transceive(select, timeout: .milliseconds(1)).bytes == [0x20])
            try await field.setCarrier(false)
            try await field.setCarrier(true)
        }
        withExtendedLifetime(card) {}
    }
}
