// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
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
        field.bring(Type2Tag(contents))
        let session = try #require(
            ReaderSession(environment: NFCEnvironment(reader: .field(field), clock: ManualClock()))
        )
        let (events, continuation) = AsyncStream.makeStream(of: [DetectedTag].self)
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
}
