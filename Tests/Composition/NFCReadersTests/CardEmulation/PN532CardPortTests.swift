// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCRuntime
import PN532Driver
import ReaderEmulation
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks an app's card on a PN532 in front of another PN532 that reads it.
@Suite(.timeLimit(.minutes(2))) struct `An app's card on a PN532` {
    /// Two chips in each other's field, each on its own line.
    private final class Chips {
        let folder = "/tmp/ocn-\(UUID().uuidString.prefix(8))"
        private let servers: [PN532Server]
        private let work: [Task<Void, Never>]
        let port: PN532CardPort
        let failures = Locked<[LinkError.Code]>([])
        let reader: PN532Reader
        let card = RecordingCard(answersAtOnce: true)

        init() throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let fields = (VirtualField(), VirtualField())
            servers = [
                try PN532Server(path: folder + "/card", field: fields.0, place: FacingCardPlace(fields.1)),
                try PN532Server(path: folder + "/reader", field: fields.1, place: FacingCardPlace(fields.0)),
            ]
            work = servers.map { $0.start() }
            port = PN532CardPort(
                try PN532Card(folder + "/card", limits: .patient),
                identity: PN532Card.Identity(uid: [1, 2, 3])
            ) { [failures] error in failures.withLock { $0.append(error.code) } }
            reader = try PN532Reader(folder + "/reader", limits: .patient)
        }

        /// Looks until the card is there.
        func find() async throws -> ISODEP {
            while true {
                if let tag = try await reader.discover([.nfcA], systemCodes: []).first {
                    #expect(tag.identity == .nfcA(atqa: 0x0004, sak: 0x20, uid: [0x08, 1, 2, 3]))
                    guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "No frames.") }
                    return ISODEP(link: link)
                }
                await Task.yield()
            }
        }

        func end() async {
            for server in servers { server.stop() }
            for task in work { await task.value }
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test func `The app gets each reader that comes, its commands and its leaving`() async throws {
        let chips = try Chips()
        #expect(chips.port.attach(chips.card))
        #expect(!chips.port.attach(RecordingCard()))
        chips.port.setEmulating(true)
        for _ in 0..<2 {
            let before = chips.card.log.count
            let card = try await chips.find()
            #expect(try await card.transmit([0, 0xA4, 4, 0]) == [0, 0xA4, 4, 0, 0x90, 0])
            #expect(try await card.transmit([0, 0xB0]) == [0, 0xB0, 0x90, 0])
            await chips.reader.release()
            #expect(await chips.card.happens(before + 4)[before...] == ["detected", "00a40400", "00b0", "deselected"])
        }
        chips.port.detach(chips.card)
        #expect(chips.failures.withLock { $0 } == [])
        await chips.end()
    }

    @Test func `A card that does not emulate is not found, and is again when it does`() async throws {
        let chips = try Chips()
        #expect(chips.port.attach(chips.card))
        chips.port.setEmulating(true)
        _ = try await chips.find()
        await chips.reader.release()
        chips.port.setEmulating(false)
        while try await !chips.reader.discover([.nfcA], systemCodes: []).isEmpty { await Task.yield() }
        chips.port.setEmulating(true)
        let card = try await chips.find()
        #expect(try await card.transmit([1]) == [1, 0x90, 0])
        // Another card's leaving does nothing to this one.
        chips.port.detach(RecordingCard())
        #expect(try await card.transmit([2]) == [2, 0x90, 0])
        await chips.reader.release()
        chips.port.detach(chips.card)
        await chips.end()
    }

    @Test func `A chip that is not there is reported once`() async throws {
        let failures = AsyncStream.makeStream(of: LinkError.Code.self)
        let port = PN532CardPort(try PN532Card("/tmp/ocn-no-such-line", limits: .patient)) {
            failures.continuation.yield($0.code)
            failures.continuation.finish()
        }
        let card = RecordingCard()
        // Without a card there is nothing to show.
        port.setEmulating(true)
        #expect(port.attach(card))
        port.setEmulating(true)
        var codes: [LinkError.Code] = []
        for await code in failures.stream { codes.append(code) }
        #expect(codes == [.readerUnavailable])
        #expect(card.log == ["deselected"])
    }
}
