// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Locking Type 4 tags that have keys` {
    /// A virtual tag in its own field, and the reader's side.
    private func stage(_ tag: VirtualType4Tag) async throws -> (VirtualField, any ForumTag) {
        let field = VirtualField()
        field.bring(tag)
        let link = try #require(field.link(for: .nfcA))
        let target = try #require(try await NFCAActivation(link: link).activateAll().first)
        return (field, try #require(makeForumTag(for: target, link: link)))
    }

    private func failure(_ body: () async throws(TagError) -> Void) async -> TagError? {
        do throws(TagError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    /// Cards on which key 0 alone may write the capability container.
    static let keyed: [@Sendable () -> VirtualType4Tag] = [
        { VirtualType4Tag(DESFireContents.ndef()) },
        { VirtualType4Tag(DESFireContents.ndef(generation: .ev3)) },
        { VirtualType4Tag(NTAG424Contents()) },
    ]

    @Test(arguments: keyed.indices)
    func `A card whose capability container is its key's says so before and while it is locked`(_ index: Int)
        async throws
    {
        let (field, tag) = try await stage(Self.keyed[index]())
        let before = await failure { () throws(TagError) in try await tag.checkLocking() }
        #expect(before == TagError(.keyNeeded, ""))
        #expect(before?.reason.hasPrefix("A key is needed") == true)
        #expect(field.writeCount == 0)
        // The question costs the next procedure nothing: it begins as on a tag that was not asked.
        try await tag.writeNDEF([0xD0, 0x00, 0x00])
        #expect(try await tag.readNDEF() == [0xD0, 0x00, 0x00])
        let locking = await failure { () throws(TagError) in try await tag.lock() }
        #expect(locking == TagError(.keyNeeded, ""))
        #expect(locking?.reason.contains("6982") == true)
    }

    @Test func `A card that lets everybody write its capability container, and one that has no rights, can be locked`()
        async throws
    {
        var contents = DESFireContents.ndef()
        contents.applications[0].files[0].accessRights = 0xEEE0
        let cards = [
            VirtualType4Tag(contents), VirtualType4Tag(card: ApplicationCard([NDEFApplication()])),
        ]
        for card in cards {
            let (_, tag) = try await stage(card)
            try await tag.checkLocking()
            try await tag.lock()
            #expect(try await tag.detectNDEF().access == .readOnly)
        }
    }

    @Test func `A DESFire whose NDEF file is its key's says that a key is needed to write it`() async throws {
        var contents = DESFireContents.ndef()
        contents.applications[0].files[1].accessRights = 0xE000
        let (_, tag) = try await stage(VirtualType4Tag(contents))
        let error = await failure { () throws(TagError) in try await tag.writeNDEF([0xD0, 0x00, 0x00]) }
        #expect(error == TagError(.keyNeeded, ""))
    }

    @Test func `Tags of other types know nothing against it`() async throws {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213))
        let link = try #require(field.link(for: .nfcA))
        let target = try #require(try await NFCAActivation(link: link).activateAll().first)
        try await makeForumTag(for: target, link: link)?.checkLocking()
    }
}
