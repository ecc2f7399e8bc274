// SPDX-License-Identifier: Apache-2.0
import ChipTesting
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
        let card: RecordingCard

        init(answersAtOnce: Bool = true) throws {
            card = RecordingCard(answersAtOnce: answersAtOnce)
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
        // Twice is once.
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

    @Test func `The first answer of an app is the one that counts`() async throws {
        let chips = try Chips(answersAtOnce: false)
        #expect(chips.port.attach(chips.card))
        chips.port.setEmulating(true)
        let card = try await chips.find()
        async let answer = card.transmit([1])
        #expect(await chips.card.happens(2) == ["detected", "01"])
        chips.card.answer(0, [0x90, 0])
        chips.card.answer(0, [0x6A, 0x82])
        #expect(try await answer == [0x90, 0])
        async let later = card.transmit([2])
        _ = await chips.card.happens(3)
        chips.card.answer(1, [2, 0x90, 0])
        #expect(try await later == [2, 0x90, 0])
        await chips.reader.release()
        chips.port.detach(chips.card)
        await chips.end()
    }

    // MARK: Noise

    /// A chip that finds a reader at once, and then gives one status after the other in place of the reader's commands.
    private final class Noise {
        /// Readers that a chip meets from then on leave at once.
        static let released: UInt8 = 0x29

        let chip: ScriptedChip
        let port: PN532CardPort
        let card = RecordingCard()
        private let failures = AsyncStream.makeStream(of: LinkError.self)

        init(_ statuses: [UInt8]) throws {
            let rest = Locked(statuses)
            chip = try ScriptedChip { code, _ in
                switch code {
                case 0x8C: rest.withLock { $0.isEmpty } ? .silence : .answer([0x08, 0xE0, 0x80])
                case 0x86: .answer([rest.withLock { $0.removeFirst() }])
                default: nil
                }
            }
            port = PN532CardPort(try PN532Card(chip.path, limits: .patient)) { [failures] error in
                failures.continuation.yield(error)
            }
            #expect(port.attach(card))
            port.setEmulating(true)
        }

        deinit { chip.end() }

        /// Why the port has given up.
        func failure() async -> LinkError? { await failures.stream.first { _ in true } }

        /// How often the chip was made a card.
        var attempts: Int { chip.commands.count { $0 == 0x8C } }
    }

    /// A reader that comes and leaves.
    private static let meeting = ["detected", "deselected"]

    @Test(
        arguments: [
            (0x01, LinkError.Code.timeout), (0x02, .transmission), (0x06, .collision), (0x07, .frameTooLong),
            (0x27, .tagRemoved),
        ] as [(UInt8, LinkError.Code)]
    )
    func `A chip that only hears noise is given up after ten readers`(status: UInt8, code: LinkError.Code) async throws
    {
        let noise = try Noise([UInt8](repeating: status, count: 12))
        #expect(await noise.failure()?.code == code)
        #expect(noise.attempts == 10)
        #expect(noise.card.log == Array(repeating: Self.meeting, count: 10).flatMap(\.self))
    }

    @Test func `Noise is forgotten when a reader was served`() async throws {
        let some = [UInt8](repeating: 0x02, count: 9)
        let noise = try Noise(some + [Noise.released] + some + [Noise.released] + some + [0x02, 0x02])
        #expect(await noise.failure()?.code == .transmission)
        #expect(noise.attempts == 30)
        #expect(noise.card.log == Array(repeating: Self.meeting, count: 30).flatMap(\.self))
    }

    @Test(arguments: [(0x0D, LinkError.Code.readerUnavailable), (0x10, .unsupported)] as [(UInt8, LinkError.Code)])
    func `A chip that fails is given up at once`(status: UInt8, code: LinkError.Code) async throws {
        let noise = try Noise([Noise.released, status, Noise.released])
        #expect(await noise.failure()?.code == code)
        #expect(noise.attempts == 2 && noise.card.log == Self.meeting + Self.meeting)
    }

    @Test func `A card that is taken away while the chip waits is no failure`() async throws {
        let noise = try Noise([Noise.released])
        #expect(await noise.card.happens(2) == Self.meeting)
        while noise.attempts < 2 { await Task.yield() }
        noise.port.detach(noise.card)
        // The host ends the chip's wait.
        while !noise.chip.received.contains(.acknowledge) { await Task.yield() }
        #expect(noise.card.log == Self.meeting)
        // Another card has the chip for itself.
        let other = RecordingCard()
        #expect(noise.port.attach(other))
        noise.port.setEmulating(true)
        while noise.attempts < 3 { await Task.yield() }
        noise.port.detach(other)
        #expect(noise.card.log == Self.meeting && other.log == [])
    }
}
