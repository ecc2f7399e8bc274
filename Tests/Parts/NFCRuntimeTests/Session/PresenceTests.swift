// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Checks how a session learns that a tag has left, on readers that report it and on readers that don't.
@Suite(.timeLimit(.minutes(1))) struct `The presence of a tag` {
    private static func tag(_ number: UInt8 = 1) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, number])
    }

    @Test func `A reader that reports nothing is asked, at most once in a while`() async throws {
        let reader = ScriptedReader([.tags([Self.tag()])])
        let scene = Scene(.discovering(reader))
        let (session, tag) = try await scene.finding()
        #expect(!session.isConnected(to: tag))
        #expect(await session.connects(to: tag) == nil)
        let before = reader.statistics.exchanges
        #expect(session.isConnected(to: tag))
        await session.settles()
        #expect(reader.statistics.exchanges == before)
        scene.clock.advance(by: .seconds(10))
        for _ in 0..<3 { #expect(session.isConnected(to: tag)) }
        await session.settles()
        let after = reader.statistics.exchanges
        #expect(after > before)
        for _ in 0..<3 { #expect(session.isConnected(to: tag)) }
        await session.settles()
        #expect(reader.statistics.exchanges == after)
        // It left, which the next question shows.
        reader.removeTags()
        #expect(session.isConnected(to: tag))
        await session.settles()
        #expect(session.isConnected(to: tag) && tag.isAvailable)
        scene.clock.advance(by: .seconds(5))
        #expect(session.isConnected(to: tag))
        await session.settles()
        #expect(!session.isConnected(to: tag))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A tag that is about to be asked is not asked twice, however often the app looks at it`() async throws {
        let reader = ScriptedReader([.tags([Self.tag()])])
        let scene = Scene(.discovering(reader))
        let (session, tag) = try await scene.finding()
        #expect(await session.connects(to: tag) == nil)
        var questions: [Int] = []
        for (earlier, looks) in [(0, 1), (0, 3), (1, 3)] {
            scene.clock.advance(by: .seconds(5))
            let before = reader.statistics.exchanges
            // It was just asked when the command comes.
            for _ in 0..<earlier { #expect(session.isConnected(to: tag)) }
            let looked: Result<Void, CommandError> = await handedOver { done in
                session.perform(
                    on: tag,
                    { _ throws(TagError) in
                        // What is asked meanwhile waits for the end of this command.
                        for _ in 0..<looks { _ = session.isConnected(to: tag) }
                    },
                    completion: done
                )
            }
            #expect(throws: Never.self) { try looked.get() }
            await session.settles()
            questions.append(reader.statistics.exchanges - before)
        }
        #expect(questions[0] > 0 && questions.allSatisfy { $0 == questions[0] })
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A tag is not asked when its command has just ended, well or not`() async throws {
        let reader = ScriptedReader([.tags([Self.tag()])])
        let scene = Scene(.discovering(reader))
        let (session, tag) = try await scene.finding()
        #expect(await session.connects(to: tag) == nil)
        let before = reader.statistics.exchanges
        for fails in [false, true] {
            scene.clock.advance(by: .seconds(5))
            let isConnected: Bool = await handedOver { done in
                session.perform(
                    on: tag,
                    { _ throws(TagError) in
                        guard !fails else { throw TagError(.badAnswer, "It says nonsense.") }
                    },
                    // The app looks at the tag as soon as it has the result.
                    completion: { (_: Result<Void, CommandError>) in done(session.isConnected(to: tag)) }
                )
            }
            #expect(isConnected)
            await session.settles()
        }
        #expect(reader.statistics.exchanges == before)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A tag is asked when it is connected again, and not when it was just found or woken`() async throws {
        let field = VirtualField()
        for number: UInt8 in 1...2 { field.bring(Self.tag(number)) }
        let scene = Scene(.field(field))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        let tags = scene.tags
        var exchanges: [Int] = []
        // The last one is still selected from the look.
        for tag in [tags[1], tags[1], tags[0], tags[1]] {
            let before = field.statistics.exchanges
            #expect(await session.connects(to: tag) == nil)
            exchanges.append(field.statistics.exchanges - before)
        }
        #expect(exchanges[0] == 0 && exchanges[1] > 0)
        // Each way between the two takes the same.
        #expect(exchanges[2] > 0 && exchanges[2] == exchanges[3])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A reader that reports changes is not asked before it does`() async throws {
        let reader = ScriptedReader([.tags([Self.tag()])], tells: true)
        let scene = Scene(.discovering(reader))
        let (session, tag) = try await scene.finding()
        #expect(await session.connects(to: tag) == nil)
        let before = reader.statistics.exchanges
        reader.removeTags()
        scene.clock.advance(by: .seconds(10))
        #expect(session.isConnected(to: tag))
        await session.settles()
        #expect(session.isConnected(to: tag) && reader.statistics.exchanges == before)
        reader.tell()
        await session.settles()
        #expect(!session.isConnected(to: tag))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A reader that finds tags itself and tells arrivals apart knows who is still near without an exchange`()
        async throws
    {
        let field = VirtualField()
        let (tag, other) = (Self.tag(1), Self.tag(2))
        field.bring(tag)
        let scene = Scene(.discovering(KnowingReader(field)))
        let (session, found) = try await scene.finding()
        #expect(await session.connects(to: found) == nil)
        let before = field.statistics.exchanges
        field.bring(other)
        await session.settles()
        #expect(session.isConnected(to: found))
        // What comes back is another stay.
        field.remove(tag)
        field.bring(tag)
        await session.settles()
        #expect(!session.isConnected(to: found) && found.isAvailable)
        guard case .tag(let error)? = await session.connects(to: found) else { return #expect(Bool(false)) }
        #expect(error.code == .tagLost && !found.isAvailable && field.statistics.exchanges == before)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A report that does not come in time says nothing of the tags that were found`() async throws {
        let base = ScriptedReader([.tags([Self.tag()])], tells: true)
        let scene = Scene(.discovering(UntimelyReader(base)))
        let (session, tag) = try await scene.finding()
        #expect(await session.connects(to: tag) == nil)
        let before = base.statistics.exchanges
        base.removeTags()
        base.tell()
        await session.settles()
        #expect(session.isConnected(to: tag) && base.statistics.exchanges == before)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A tag that left before its first connection is lost, also where arrivals can't be told apart`()
        async throws
    {
        let reader = PluggedReader()
        reader.field.bring(Self.tag())
        let scene = Scene(.field(reader))
        let (session, tag) = try await scene.finding()
        reader.field.removeAll()
        guard case .tag(let error)? = await session.connects(to: tag) else { return #expect(Bool(false)) }
        #expect(error.code == .tagLost && !tag.isAvailable && session.connectedTag == nil)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A tag that went and came back before its first connection is lost, where arrivals are told apart`()
        async throws
    {
        let (field, tag) = (VirtualField(), Self.tag())
        field.bring(tag)
        let scene = Scene(.field(field))
        let (session, found) = try await scene.finding()
        field.remove(tag)
        field.bring(tag)
        guard case .tag(let error)? = await session.connects(to: found) else { return #expect(Bool(false)) }
        #expect(error.code == .tagLost && !found.isAvailable && session.connectedTag == nil)
        #expect(error.reason == "The tag has left the field. Restart polling to find it again.")
        session.restartPolling()
        #expect(await scene.event() == "a found 1")
        #expect(await session.connects(to: try #require(scene.tags.first)) == nil)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A Type B card without ISO-DEP is near while its own ATQB comes, and not when another card's does`()
        async throws
    {
        let cards = [UInt8(1), 2].map { number in
            let frontEnd = Type4FrontEnd.nfcB(pupi: [number, 9, 9, 9], protocolInfo: [0x00, 0x80, 0x71])
            return VirtualType4Tag(card: ScriptedCard([]), frontEnd: frontEnd)
        }
        let reader = PluggedReader()
        reader.field.bring(cards[0])
        let scene = Scene(.field(reader))
        let (session, tag) = try await scene.finding(plan: .everyTag)
        #expect(await session.connects(to: tag) == nil)
        reader.field.remove(cards[0])
        reader.field.bring(cards[1])
        guard case .tag(let error)? = await session.connects(to: tag) else { return #expect(Bool(false)) }
        #expect(error.code == .tagLost && !tag.isAvailable)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A tag that has no question for it is near while the reader can select it`() async throws {
        let classic = try #require(TagProduct(named: "Classic 1K")).blank().makeTag()
        let reader = ScriptedReader([.tags([classic])])
        let scene = Scene(.discovering(reader))
        let (session, tag) = try await scene.finding(plan: .everyTag)
        for _ in 0..<2 { #expect(await session.connects(to: tag) == nil) }
        reader.removeTags()
        guard case .tag(let error)? = await session.connects(to: tag) else { return #expect(Bool(false)) }
        #expect(error.code == .tagLost && !tag.isAvailable)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test(arguments: [true, false]) func `A reader that waits is cut off when the session ends`(isInterrupted: Bool)
        async throws
    {
        let reader = WaitingReader(noticesInterruption: isInterrupted)
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.event() == "a active")
        while !reader.isWaiting, !Task.isCancelled { await Task.yield() }
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        // The sheet is still to close. No other look is to come.
        #expect(scene.clock.scheduledEventCount == 1)
    }
}

/// A reader that finds tags itself, and tells their arrivals apart.
final class KnowingReader: ForwardingReader {
    private let field: VirtualField
    let base: ActivatingReader
    let name = "knowing"

    init(_ field: VirtualField) { (self.field, base) = (field, ActivatingReader(field)) }

    func arrival(of identifier: [UInt8]) -> UInt64? { field.arrival(of: identifier) }
}

/// A reader that reports changes at another time than they happen, as one that plays a recording.
private final class UntimelyReader: ForwardingReader {
    let base: ScriptedReader
    let reportsPresenceInTime = false

    init(_ base: ScriptedReader) { self.base = base }
}

/// A reader that waits for tags until its task is cancelled, or until it is interrupted.
private final class WaitingReader: DiscoveringDriver {
    let name = "waiting"
    let technologies = Set(Technology.allCases)
    var statistics: LinkStatistics { .zero }
    private let noticesInterruption: Bool
    private let state = Locked<(isWaiting: Bool, isInterrupted: Bool)>((false, false))
    var isWaiting: Bool { state.withLock { $0.isWaiting } }

    init(noticesInterruption: Bool) { self.noticesInterruption = noticesInterruption }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        state.withLock { $0.isWaiting = true }
        while !(noticesInterruption ? state.withLock { $0.isInterrupted } : Task.isCancelled) { await Task.yield() }
        throw LinkError(.cancelled, "It was cut off.")
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {}
    func interrupt() { state.withLock { $0.isInterrupted = true } }
    func release() async {}
}
