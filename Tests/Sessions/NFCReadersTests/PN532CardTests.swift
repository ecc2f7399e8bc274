// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import NFCReaders
import NFCSessions
import PN532Driver
import ReaderEmulation
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Two PN532 that lie on one another: one is an app's card, and the other reads it.
@Suite(.timeLimit(.minutes(5))) struct PN532CardTests {
    // MARK: The port

    /// Two chips in each other's field, each on its own line.
    private final class Chips {
        let folder: Folder
        private let servers: [PN532Server]
        private let work: [Task<Void, Never>]
        let port: PN532CardPort
        let failures = Locked<[LinkError.Code]>([])
        let reader: PN532Reader
        let card: RecordingCard

        init() throws {
            folder = try Folder()
            card = RecordingCard(answersAtOnce: true)
            let fields = (VirtualField(), VirtualField())
            servers = [
                try PN532Server(path: folder.path + "/card", field: fields.0, place: VirtualFieldCardSlot(fields.1)),
                try PN532Server(path: folder.path + "/reader", field: fields.1, place: VirtualFieldCardSlot(fields.0)),
            ]
            work = servers.map { $0.start() }
            port = PN532CardPort(
                try PN532Card(folder.path + "/card", limits: .patient),
                identity: PN532Card.Identity(uid: [1, 2, 3])
            ) { [failures] error in failures.withLock { $0.append(error.code) } }
            reader = try PN532Reader(folder.path + "/reader", limits: .patient)
            #expect(port.attach(card))
            port.setEmulating(true)
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
            port.detach(card)
            for server in servers { server.stop() }
            for task in work { await task.value }
            #expect(failures.withLock { $0 } == [])
        }
    }

    @Test func `PN532 as a card: the app is told each reader's arrival, commands and departure, while it emulates`()
        async throws
    {
        let chips = try Chips()
        #expect(!chips.port.attach(RecordingCard()))
        for _ in 0..<2 {
            let before = chips.card.log.count
            let card = try await chips.find()
            let long = [0, 0xD6, 0, 0] + [UInt8](repeating: 7, count: 600)
            #expect(try await card.transmit([0, 0xA4, 4, 0]) == [0, 0xA4, 4, 0, 0x90, 0])
            #expect(try await card.transmit(long) == long + [0x90, 0])
            await chips.reader.release()
            #expect(
                await chips.card.happens(before + 4)[before...] == [
                    "detected", "00a40400", long.hexText(), "deselected",
                ]
            )
        }
        // A card that does not emulate is not found, and is again when it does.
        chips.port.setEmulating(false)
        while try await !chips.reader.discover([.nfcA], systemCodes: []).isEmpty { await Task.yield() }
        // Twice is once.
        for _ in 0..<2 { chips.port.setEmulating(true) }
        let card = try await chips.find()
        #expect(try await card.transmit([1]) == [1, 0x90, 0])
        await chips.reader.release()
        await chips.end()
    }

    @Test func `missing PN532: readerUnavailable when an app starts emulating, and the app's card is deselected`()
        async throws
    {
        let failures = AsyncStream.makeStream(of: LinkError.Code.self)
        let port = PN532CardPort(try PN532Card("/tmp/ocn-no-such-line", limits: .patient)) {
            failures.continuation.yield($0.code)
            failures.continuation.finish()
        }
        let card = RecordingCard()
        #expect(port.attach(card))
        port.setEmulating(true)
        #expect(await failures.stream.reduce(into: []) { $0.append($1) } == [.readerUnavailable])
        #expect(card.log == ["deselected"])
    }

    // MARK: Noise

    /// A chip that finds a reader at once, and then gives one status after the other in place of the reader's commands.
    private final class Noise {
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
    private static let released: UInt8 = 0x29

    /// What a chip gives, why and after how many readers the port gives up.
    static let noises: [([UInt8], LinkError.Code, Int)] = {
        let some = [UInt8](repeating: 0x02, count: 9)
        let codes: [(UInt8, LinkError.Code)] = [(0x01, .timeout), (0x02, .transmission), (0x27, .tagRemoved)]
        return codes.map { ([UInt8](repeating: $0, count: 12), $1, 10) } + [
            // Noise is forgotten when a reader was served.
            (some + [released] + some + [released] + some + [0x02, 0x02], .transmission, 30),
            // A chip that fails is given up at once.
            ([released, 0x0D, released], .readerUnavailable, 2), ([released, 0x10, released], .unsupported, 2),
        ]
    }()

    @Test(arguments: noises)
    func `PN532 as a card: emulation ends after ten noisy meetings in a row, or at once if the chip fails`(
        statuses: [UInt8],
        code: LinkError.Code,
        readers: Int
    ) async throws {
        let noise = try Noise(statuses)
        #expect(await noise.failure()?.code == code && noise.attempts == readers)
        #expect(noise.card.log == Array(repeating: Self.meeting, count: readers).flatMap(\.self))
    }

}
