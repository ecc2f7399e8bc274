// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// How a session learns that a tag has left, on readers that report it and on readers that don't.
@Suite(.timeLimit(.minutes(1))) struct PresenceTests {
    private static let lost = CommandError.tag(.tagLost)

    // MARK: Readers that report nothing

    @Test func `isNear on a reader without reports: checks the tag if the last command was 250 ms ago, once`()
        async throws
    {
        let reader = ScriptedReader([.tags(ntag())])
        let scene = Scene(.discovering(reader))
        let (session, tags) = try await scene.finding()
        let tag = tags[0]
        /// How many exchanges follow some questions of the app.
        func exchanges(asking count: Int) async -> Int {
            let before = reader.statistics.exchanges
            for _ in 0..<count { #expect(session.isNear(tag)) }
            await session.settles()
            return reader.statistics.exchanges - before
        }
        #expect(session.isNear(tag) && tag.isNear && session.connectedTag == nil)
        scene.clock.advance(by: .seconds(5))
        #expect(await session.connects(to: tag) == nil)
        #expect(await exchanges(asking: 2) == 0)
        scene.clock.advance(by: .milliseconds(249))
        #expect(await exchanges(asking: 1) == 0)
        // A wait for the session counts as a command.
        scene.clock.advance(by: .milliseconds(250))
        let once = await exchanges(asking: 3)
        #expect(once > 0)
        #expect(await exchanges(asking: 3) == 0)
        scene.clock.advance(by: .milliseconds(250))
        #expect(try await session.answer([0x30, 3], of: tag).get().count == 16)
        #expect(await exchanges(asking: 1) == 0)
        // It has left, which the next question shows.
        reader.removeTags()
        scene.clock.advance(by: .milliseconds(249))
        #expect(await exchanges(asking: 1) == 0)
        scene.clock.advance(by: .milliseconds(250))
        _ = await exchanges(asking: 1)
        #expect(!session.isNear(tag) && session.connectedTag === tag)
    }

    // MARK: Readers that report

    @Test func `reader with presence reports: the tag's presence is checked only after a report`() async throws {
        let reader = ScriptedReader([.tags(ntag())], tells: true)
        let (session, tag) = try await Scene(.discovering(reader)).connected()
        let before = reader.statistics.exchanges
        reader.removeTags()
        #expect(session.isNear(tag))
        await session.settles()
        #expect(session.isNear(tag) && reader.statistics.exchanges == before)
        reader.tell()
        await session.settles()
        #expect(!session.isNear(tag))
    }

    @Test func `reader that counts arrivals: a tag that left and came back is tagLost, without a command`() async throws
    {
        let (near, tag) = (field(ntag(1)), ntag(2))
        near.bring(tag)
        let scene = Scene(.discovering(KnowingReader(near)))
        let (session, tags) = try await scene.finding(2)
        let found = try #require(tags.first { $0.target.identifier.last == 2 })
        #expect(await session.connects(to: found) == nil)
        let before = near.statistics.exchanges
        near.bring(ntag(3))
        await session.settles()
        #expect(session.isNear(found))
        near.remove(tag)
        near.bring(tag)
        await session.settles()
        #expect(!session.isNear(found) && found.isAvailable)
        #expect(await session.connects(to: found) == Self.lost)
        #expect(!found.isAvailable && near.statistics.exchanges == before)
    }

    @Test(arguments: [false, true], 0..<3)
    func `one of three tags leaves: connecting to it fails, and the others can be connected`(
        activatesTags: Bool,
        index: Int
    )
        async throws
    {
        let virtual = (1...3).map { ntag(UInt8($0)) }
        let near = field(virtual[0], virtual[1], virtual[2])
        let (session, found) = try await Scene(activatesTags ? .discovering(KnowingReader(near)) : .field(near))
            .finding(3)
        for tag in found { #expect(await session.connects(to: tag) == nil && tag.isNear) }
        let (leaving, other) = (found[index], found[(index + 1) % 3])
        #expect(await session.connects(to: leaving) == nil)
        near.remove(try #require(virtual.first { $0.identifier == leaving.target.identifier }))
        await session.settles()
        #expect(!leaving.isNear && session.connectedTag === leaving)
        #expect(await session.connects(to: leaving) == Self.lost)
        #expect(!leaving.isAvailable)
        #expect(await session.connects(to: leaving) == .tagUnavailable)
        #expect(await session.connects(to: other) == nil && other.isNear)
    }

    // MARK: Connecting to a tag that has left

    @Test(arguments: [false, true])
    func `tag that left before its first connection: tagLost; back in the field, a restart finds the tag`(
        tellsArrivals: Bool
    )
        async throws
    {
        let (tag, plugged) = (ntag(), PluggedReader(ntag()))
        let near = tellsArrivals ? field(tag) : plugged.virtual
        let scene = Scene(.field(tellsArrivals ? near : plugged))
        let (session, tags) = try await scene.finding()
        near.removeAll()
        // A reader that tells arrivals apart knows that it is another stay.
        if tellsArrivals { near.bring(tag) }
        #expect(await session.connects(to: tags[0]) == Self.lost)
        #expect(!tags[0].isAvailable && session.connectedTag == nil)
        if !tellsArrivals { near.bring(tag) }
        session.restartPolling()
        #expect(await scene.event() == "a found 1")
        #expect(await session.connects(to: scene.tags[0]) == nil)
    }

    @Test func `Type B card without ISO-DEP: tagLost if the ATQB received is another card's`() async throws {
        let cards = [UInt8(1), 2].map { number in
            let frontEnd = Type4FrontEnd.nfcB(pupi: [number, 9, 9, 9], protocolInfo: [0x00, 0x80, 0x71])
            return VirtualType4Tag(card: ScriptedCard([]), frontEnd: frontEnd)
        }
        let reader = PluggedReader(cards[0])
        let (session, tag) = try await Scene(.field(reader)).connected(plan: .everyTag)
        reader.virtual.remove(cards[0])
        reader.virtual.bring(cards[1])
        #expect(await session.connects(to: tag) == Self.lost)
        #expect(!tag.isAvailable)
    }

    @Test func `MIFARE Classic, which has no presence command: near while the reader can select it`() async throws {
        let classic = try #require(TagProduct(named: "Classic 1K")).blank().makeTag()
        let reader = ScriptedReader([.tags(classic)])
        let (session, tag) = try await Scene(.discovering(reader)).connected(plan: .everyTag)
        #expect(await session.connects(to: tag) == nil)
        reader.removeTags()
        #expect(await session.connects(to: tag) == Self.lost)
        #expect(!tag.isAvailable)
    }

    // MARK: Readers that refuse to select a tag

    @Test(
        arguments: [
            (.tagRemoved, .tagLost), (.timeout, .tagLost), (.transmission, .tagLost),
            (.readerUnavailable, .readerUnavailable), (.cancelled, .cancelled),
        ] as [(LinkError.Code, TagError.Code)]
    )
    func `reader that can't select a tag: the connection fails with the reason`(
        refusal: LinkError.Code,
        code: TagError.Code
    ) async throws {
        let reader = ScriptedReader([.tags(ntag(1), ntag(2))])
        let (session, tags) = try await Scene(.discovering(reader)).finding(2)
        reader.refuse(LinkError(refusal, "Refused."))
        #expect(await session.connects(to: tags[0]) == .tag(code))
        #expect(session.connectedTag == nil && tags[0].isAvailable == (code != .tagLost))
        #expect(await session.read(tags[0]) == .failure(code == .tagLost ? .tagUnavailable : .notConnected))
        reader.refuse(nil)
        #expect(await session.connects(to: tags[1]) == nil)
        #expect(try await session.answer([0x30, 3], of: tags[1]).get().first == 0xE1)
    }

    @Test func `opening an ISO-DEP card: tagRemoved leaves the card out, readerUnavailable ends the session`()
        async throws
    {
        let plan = PollingPlan(technologies: Set(Technology.allCases), opensCards: true)
        let card = try #require(TagProduct(named: "NTAG 424 DNA")).blank().makeTag()
        for code in [LinkError.Code.tagRemoved, .readerUnavailable] {
            let reader = ScriptedReader([.tags(ntag(), card)])
            let scene = Scene(.discovering(reader))
            reader.refuse(LinkError(code, "Gone."))
            try scene.session(plan: plan).begin()
            let end = SessionEnd.terminatedUnexpectedly(reason: "Gone.")
            #expect(await scene.events(2) == ["a active", code == .tagRemoved ? "a found 1" : "a ended: \(end)"])
        }
    }
}
