// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// An app proves its password by a packet of its own, and then writes with the procedures of the framework.
@Suite struct `A tag that an app has given its password` {
    /// A session that is connected to a tag.
    private static func scene(_ tag: VirtualType2Tag) async throws -> (Scene, ReaderSession, ConnectableTag) {
        let field = VirtualField()
        field.bring(tag)
        let scene = Scene(.field(field))
        let session = try scene.session("a", plan: .everyTag)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let found = try #require(scene.tags.first)
        #expect(await session.connects(to: found) == nil)
        return (scene, session, found)
    }

    @Test func `is not refused for this password`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        // AUTH0: everything from page 4 on. The password is the factory's.
        contents.memory[41 * 4 + 3] = 4
        let tag = VirtualType2Tag(contents)
        let (scene, session, found) = try await Self.scene(tag)
        let message: [UInt8] = [0xD1, 0x01, 0x04, 0x55, 0x00, 0x61, 0x3A, 0x62]
        func write() async -> Result<Bool, CommandError> {
            await handedOver { done in
                session.perform(
                    on: found,
                    { tag throws(TagError) in
                        try await tag.writeNDEF(message)
                        return true
                    },
                    completion: done
                )
            }
        }
        guard case .failure(.tag(let error)) = await write(), error.code == .readOnly else {
            Issue.record("It was written without its password.")
            return
        }
        #expect(tag.contents.memory == contents.memory)
        #expect(await session.answer([0x1B, 0xFF, 0xFF, 0xFF, 0xFF], of: found) == .success([0, 0]))
        #expect(await write() == .success(true))
        #expect(tag.contents.memory[21..<31].elementsEqual([0x03, 0x08] + message))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `hears it also after it fell asleep, because it refused to be read`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        // AUTH0 and PROT: everything from page 4 on, for reading too.
        contents.memory[41 * 4 + 3] = 4
        contents.memory[42 * 4] = 0x80
        let (scene, session, found) = try await Self.scene(VirtualType2Tag(contents))
        func read() async -> Result<[UInt8], CommandError> {
            await handedOver { done in
                session.perform(
                    on: found,
                    { tag throws(TagError) in try await tag.readNDEF() },
                    completion: done
                )
            }
        }
        guard case .failure(.tag(let error)) = await read(), error.code == .readProtected else {
            Issue.record("It was read without its password.")
            return
        }
        #expect(await session.answer([0x1B, 0xFF, 0xFF, 0xFF, 0xFF], of: found) == .success([0, 0]))
        #expect(await read() == .success([]))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `is written no further than before where the password was wrong`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        // The message would be in pages 5 to 10, and the password begins in the middle of it.
        contents.memory[41 * 4 + 3] = 7
        let tag = VirtualType2Tag(contents)
        let (scene, session, found) = try await Self.scene(tag)
        for attempt in 0..<2 {
            let result: Result<Void, CommandError> = await handedOver { done in
                session.perform(
                    on: found,
                    { tag throws(TagError) in try await tag.writeNDEF([UInt8](repeating: 0xAA, count: 20)) },
                    completion: done
                )
            }
            guard case .failure(.tag(let error)) = result, error.code == .readOnly else {
                Issue.record("It was written without its password: \(result)")
                break
            }
            #expect(tag.contents.memory == contents.memory)
            guard attempt == 0 else { continue }
            #expect(try await session.answer([0x1B, 1, 2, 3, 4], of: found).get().count == 1)
        }
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }
}
