// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks sessions that read messages for apps that are not given tags.
@Suite(.timeLimit(.minutes(5))) struct MessageReadingTests {
    private static let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x48]

    @Test func `Tags that were found before polling was restarted are left to be found again`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        let stored = [0x03, UInt8(Self.message.count)] + Self.message + [0xFE]
        contents.memory.replaceSubrange(16..<16 + stored.count, with: stored)
        let field = VirtualField()
        field.bring(VirtualType2Tag(contents))
        let session = try #require(
            ReaderSession(environment: NFCEnvironment(reader: .field(field), clock: ManualClock()))
        )
        let (events, continuation) = AsyncStream.makeStream(of: [ConnectableTag].self)
        session.observe { if case .detected(let tags) = $0 { continuation.yield(tags) } }
        session.begin()
        var found = events.makeAsyncIterator()
        let old = try #require(await found.next(isolation: nil))
        session.restartPolling()
        let new = try #require(await found.next(isolation: nil))
        let ofOld: Result<[[UInt8]], CommandError> = await handedOver {
            session.readMessages(from: old, completion: $0)
        }
        #expect(ofOld == .failure(.tagUnavailable))
        let ofNew: Result<[[UInt8]], CommandError> = await handedOver {
            session.readMessages(from: new, completion: $0)
        }
        #expect(ofNew == .success([Self.message]))
        session.invalidate()
    }

    /// A tag with a message, or an empty one.
    private static func tag(_ number: UInt8, isEmpty: Bool = false) -> VirtualType2Tag {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, number])
        let stored = isEmpty ? [0x03, 0x00, 0xFE] : [0x03, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(16..<16 + stored.count, with: stored)
        return VirtualType2Tag(contents)
    }

    /// A session with tags near, which were found.
    private static func scene(_ tags: [VirtualType2Tag]) async throws -> (Scene, VirtualField, ReaderSession) {
        let field = VirtualField()
        for tag in tags { field.bring(tag) }
        let scene = Scene(.field(field))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found \(tags.count)"])
        return (scene, field, session)
    }

    private static func messages(
        _ session: ReaderSession,
        of tags: [ConnectableTag]
    ) async -> Result<[[UInt8]], CommandError> {
        await handedOver { session.readMessages(from: tags, completion: $0) }
    }

    @Test func `The messages of all tags are read, and tags without one are left out`() async throws {
        let (scene, _, session) = try await Self.scene([
            Self.tag(1), Self.tag(2, isEmpty: true), Self.tag(3),
        ])
        #expect(await Self.messages(session, of: scene.tags) == .success([Self.message, Self.message]))
        #expect(await Self.messages(session, of: []) == .success([]))
        let empty = scene.tags.filter { $0.target.identifier.last == 2 }
        #expect(await Self.messages(session, of: empty) == .success([]))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        #expect(await Self.messages(session, of: scene.tags) == .failure(.sessionInvalidated))
    }

    @Test func `A tag that leaves while it is read is left out`() async throws {
        let (scene, field, session) = try await Self.scene([Self.tag(1)])
        field.arm(.loss(atExchange: 0))
        #expect(await Self.messages(session, of: scene.tags) == .success([]))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test(arguments: 0..<3) func `A tag that has left is left out, and the others are read, whichever it is`(index: Int)
        async throws
    {
        let tags = (1...3).map { Self.tag(UInt8($0)) }
        let (scene, field, session) = try await Self.scene(tags)
        let found = scene.tags
        field.remove(try #require(tags.first { $0.identifier == found[index].target.identifier }))
        #expect(await Self.messages(session, of: found) == .success([Self.message, Self.message]))
        // Those that stayed can be read again.
        let others = found.indices.filter { $0 != index }.map { found[$0] }
        #expect(await Self.messages(session, of: others) == .success([Self.message, Self.message]))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A restart while tags are read leaves them to be found again`() async throws {
        let (scene, field, session) = try await Self.scene([Self.tag(1)])
        let old = scene.tags
        field.arm(.effect(.call { session.restartPolling() }, atExchange: 0))
        #expect(await Self.messages(session, of: old) == .failure(.tagUnavailable))
        #expect(await scene.event() == "a found 1")
        #expect(await Self.messages(session, of: scene.tags) == .success([Self.message]))
        // One of them is not enough.
        #expect(await Self.messages(session, of: scene.tags + old) == .failure(.tagUnavailable))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }
}
