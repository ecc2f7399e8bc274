// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Sessions that read messages for apps that do not get the tags.
@Suite(.timeLimit(.minutes(1))) struct MessageReadingTests {
    private static let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x48]

    /// A tag with a message, or an empty one.
    private static func tag(_ number: UInt8, isEmpty: Bool = false) -> VirtualType2Tag {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, number])
        let stored = isEmpty ? [0x03, 0x00, 0xFE] : [0x03, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(16..<16 + stored.count, with: stored)
        return VirtualType2Tag(contents)
    }

    @Test func `several tags: their messages are read, and empty tags are left out`() async throws {
        let scene = Scene(.field(field(Self.tag(1), Self.tag(2, isEmpty: true), Self.tag(3))))
        let (session, tags) = try await scene.finding(3)
        #expect(await session.messages(of: tags) == [Self.message, Self.message])
        #expect(await session.messages(of: []) == [])
        #expect(await session.messages(of: tags.filter { $0.target.identifier.last == 2 }) == [])
        session.invalidate()
        #expect(await session.messages(of: tags) == nil)
    }

    @Test(arguments: [0, 1, 2, nil])
    func `tag that left before or during the read: left out, and the others are read`(index: Int?) async throws {
        let virtual = (1...(index == nil ? 1 : 3)).map { Self.tag(UInt8($0)) }
        let near = VirtualField()
        for tag in virtual { near.bring(tag) }
        let (session, tags) = try await Scene(.field(near)).finding(virtual.count)
        guard let index else {
            near.arm(.loss(atExchange: 0))
            return #expect(await session.messages(of: tags) == [])
        }
        near.remove(try #require(virtual.first { $0.identifier == tags[index].target.identifier }))
        #expect(await session.messages(of: tags) == [Self.message, Self.message])
        let others = tags.indices.filter { $0 != index }.map { tags[$0] }
        #expect(await session.messages(of: others) == [Self.message, Self.message])
    }

    @Test(arguments: [false, true])
    func `restart before or during the read: tagUnavailable, and the tags of the next look are read`(isDuring: Bool)
        async throws
    {
        let near = field(Self.tag(1))
        let scene = Scene(.field(near))
        let (session, old) = try await scene.finding()
        if isDuring {
            near.arm(.effect(.call { session.restartPolling() }, atExchange: 0))
        } else {
            session.restartPolling()
        }
        if !isDuring { #expect(await scene.event() == "a found 1") }
        #expect(await session.messages(of: old) == nil)
        if isDuring { #expect(await scene.event() == "a found 1") }
        #expect(await session.messages(of: scene.tags) == [Self.message])
        #expect(await session.messages(of: scene.tags + old) == nil)
    }
}
