// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Checks sessions on a reader that finds tags by itself, when it does not select one of them.
@Suite(.timeLimit(.minutes(1))) struct `A reader that does not select a tag` {
    private static func tag(_ number: UInt8) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, number])
    }

    private static func card() throws -> any VirtualTag {
        try #require(TagProduct(named: "NTAG 424 DNA")).blank().makeTag()
    }

    /// A plan that opens cards as they are found.
    private static let opening = PollingPlan(
        technologies: Set(Technology.allCases),
        opensCards: true,
        applications: [[0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]]
    )

    @Test(arguments: [
        (LinkError.Code.tagRemoved, TagError.Code.tagLost), (.timeout, .tagLost), (.transmission, .tagLost),
        (.readerUnavailable, .readerUnavailable), (.cancelled, .cancelled),
    ])
    func `A connection fails with its reason, and the next one may succeed`(
        refusal: LinkError.Code,
        code: TagError.Code
    ) async throws {
        let reader = RefusingReader([Self.tag(1), Self.tag(2)])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        let tags = scene.tags
        reader.refuse(LinkError(refusal, "It does not do it."))
        guard case .tag(let error)? = await session.connects(to: tags[0]) else { return #expect(Bool(false)) }
        #expect(error.code == code)
        #expect(session.connectedTag == nil && tags[0].isAvailable == (code != .tagLost))
        #expect(await session.read(tags[0]) == .failure(code == .tagLost ? .tagUnavailable : .notConnected))
        reader.refuse(nil)
        #expect(await session.connects(to: tags[1]) == nil)
        #expect(session.connectedTag === tags[1])
        #expect(try await session.answer([0x30, 3], of: tags[1]).get().first == 0xE1)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A card that has left before it is opened is not found, and the other tags are`() async throws {
        let reader = RefusingReader([Self.tag(1), try Self.card()])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a", plan: Self.opening)
        reader.refuse(LinkError(.tagRemoved, "It is gone."))
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(scene.tags.first?.target.identifier == [4, 1, 2, 3, 4, 5, 1])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A reader that is gone when a card is opened ends the session`() async throws {
        let reader = RefusingReader([try Self.card()])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a", plan: Self.opening)
        reader.refuse(LinkError(.readerUnavailable, "It was pulled out."))
        session.begin()
        let end = SessionEnd.terminatedUnexpectedly(reason: "It was pulled out.")
        #expect(await scene.events(2) == ["a active", "a ended: \(end)"])
    }

    @Test func `A card that was opened alone is not selected again`() async throws {
        let reader = RefusingReader([try Self.card()])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a", plan: Self.opening)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(reader.selections == 1)
        #expect(await session.connects(to: try #require(scene.tags.first)) == nil)
        #expect(reader.selections == 1)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        // Without opening, it is selected for the app.
        let plain = try scene.session("b")
        plain.begin()
        #expect(await scene.events(2) == ["b active", "b found 1"])
        #expect(reader.selections == 1)
        #expect(await plain.connects(to: try #require(scene.tags.first)) == nil)
        #expect(reader.selections == 2)
        plain.invalidate()
        #expect(await scene.event() == "b ended: userCanceled")
    }

    @Test func `A tag that left is noticed when it is connected again`() async throws {
        let reader = RefusingReader([Self.tag(1)])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let tag = try #require(scene.tags.first)
        for _ in 0..<3 { #expect(await session.connects(to: tag) == nil) }
        reader.field.removeAll()
        guard case .tag(let error)? = await session.connects(to: tag) else { return #expect(Bool(false)) }
        #expect(error.code == .tagLost && !tag.isAvailable && session.connectedTag == nil)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }
}

/// A reader that finds all tags, and may refuse to select them. It does not tell arrivals apart.
private final class RefusingReader: ForwardingReader {
    let field = VirtualField()
    let base: ActivatingReader
    private let state = Locked<(refusal: LinkError?, selections: Int)>((nil, 0))

    init(_ tags: [any VirtualTag]) {
        for tag in tags { field.bring(tag) }
        base = ActivatingReader(field)
    }

    /// Refuses to select tags for a reason, or selects them.
    func refuse(_ reason: LinkError?) { state.withLock { $0.refusal = reason } }

    /// How many tags were selected.
    var selections: Int { state.withLock { $0.selections } }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {
        if let refusal = state.withLock({ $0.refusal }) { throw refusal }
        try await base.select(tag)
        state.withLock { $0.selections += 1 }
    }
}
