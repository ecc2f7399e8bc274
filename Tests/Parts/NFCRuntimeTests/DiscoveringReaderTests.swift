// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Checks sessions on a reader that finds and activates tags by itself.
struct DiscoveringReaderTests {
    /// A session on a reader with some tags near, which waits until they are found.
    private struct Scan {
        let session: ReaderSession
        let tags: [ConnectableTag]

        init(_ tags: [any VirtualTag], plan: PollingPlan = .ndef) async throws {
            let field = VirtualField(onElapsed: { _ in })
            for tag in tags { field.bring(tag) }
            let environment = NFCEnvironment(
                reader: .discovering(ActivatingReader(field)),
                clock: ManualClock()
            )
            let session = try #require(ReaderSession(environment: environment, plan: plan))
            self.session = session
            self.tags = await handedOver { done in
                session.observe { event in
                    if case .detected(let tags) = event { done(tags) }
                }
                session.begin()
            }
        }

        func run<Value: Sendable>(
            on tag: ConnectableTag,
            _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value
        ) async throws -> Value {
            try await handedOver { session.connect(to: tag, completion: $0) }.get()
            return try await handedOver { session.perform(on: tag, procedure, completion: $0) }.get()
        }
    }

    private static let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x48]

    @Test(
        "A tag of each technology is read and written",
        arguments: [
            VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])) as any VirtualTag,
            VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])),
            VirtualType4Tag(NTAG424Contents()),
            VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: [0xE0, 4, 1, 0x10, 1, 2, 3, 4])),
        ]
    )
    func roundTrip(tag: any VirtualTag) async throws {
        let scan = try await Scan([tag])
        let found = try #require(scan.tags.first)
        try await scan.run(on: found) { tag throws(TagError) in
            _ = try await tag.detectNDEF()
            try await tag.writeNDEF(Self.message)
        }
        let read = try await scan.run(on: found) { tag throws(TagError) in
            _ = try await tag.detectNDEF()
            return try await tag.readNDEF()
        }
        #expect(read == Self.message)
        scan.session.invalidate()
    }

    @Test("Of two tags each is worked with in turn")
    func twoTags() async throws {
        let uids: [[UInt8]] = [[4, 1, 2, 3, 4, 5, 6], [4, 9, 8, 7, 6, 5, 4]]
        let scan = try await Scan(uids.map { VirtualType2Tag(Type2Contents(blank: .ntag213, uid: $0)) })
        #expect(Set(scan.tags.map(\.target.identifier)) == Set(uids))
        for (index, tag) in (scan.tags + scan.tags.reversed()).enumerated() {
            let byte = UInt8(index)
            let read = try await scan.run(on: tag) { tag throws(TagError) in
                _ = try await tag.detectNDEF()
                try await tag.writeNDEF([0xD1, 0x01, 0x01, 0x54, byte])
                return try await tag.readNDEF()
            }
            #expect(read == [0xD1, 0x01, 0x01, 0x54, byte])
        }
        scan.session.invalidate()
    }

    @Test("A tag that another program has is waited for")
    func inUse() async throws {
        let field = VirtualField(onElapsed: { _ in })
        field.bring(VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])))
        let reader = SharedReader(ActivatingReader(field), timesInUse: 3)
        let session = try #require(ReaderSession(environment: NFCEnvironment(reader: .discovering(reader))))
        let (events, continuation) = AsyncStream.makeStream(of: ReaderSession.Event.self)
        session.observe { continuation.yield($0) }
        session.begin()
        var isFound = false
        waiting: for await event in events {
            switch event {
            case .detected(let tags):
                isFound = tags.count == 1
                break waiting
            case .ended: break waiting
            default: continue
            }
        }
        #expect(isFound)
        #expect(reader.obstacles.withLock { $0 } == 3)
        #expect(session.obstacle == nil)
        session.invalidate()
    }

    @Test("A tag that fell asleep over a refused command is woken by the reader")
    func refusedCommand() async throws {
        let tag = VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6]))
        let scan = try await Scan([tag])
        let found = try #require(scan.tags.first)
        try await handedOver { scan.session.connect(to: found, completion: $0) }.get()
        func send(_ bytes: [UInt8]) async -> Result<[UInt8], CommandError> {
            let packet = TagPacket(bytes, answer: .within(.milliseconds(5)))
            return await handedOver { scan.session.send(packet, to: found, completion: $0) }
        }
        // It refuses and falls asleep; then it is silent, and is woken.
        let refusal = try await send([0x77]).get()
        #expect(refusal == [0x00])
        let silence = await send([0x77])
        #expect(throws: CommandError.self) { try silence.get() }
        let pages = try await send([0x30, 0x03]).get()
        #expect(pages.prefix(4) == [0xE1, 0x10, 0x12, 0x00])
        scan.session.invalidate()
    }
}

/// A reader whose tag another program has for a few looks.
final class SharedReader: DiscoveringDriver {
    private let base: ActivatingReader
    private let timesInUse: Int
    let obstacles = Locked(0)
    var name: String { base.name }
    var technologies: Set<Technology> { base.technologies }
    var statistics: LinkStatistics { base.statistics }

    init(_ base: ActivatingReader, timesInUse: Int) {
        self.base = base
        self.timesInUse = timesInUse
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }

    func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag] {
        let isInUse = obstacles.withLock { count in
            defer { count = min(count + 1, timesInUse) }
            return count < timesInUse
        }
        if isInUse { throw LinkError(.inUse, "Another program has it.") }
        return try await base.discover(technologies, systemCodes: systemCodes)
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) { try await base.select(tag) }

    func release() async { await base.release() }
}
