// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import Glibc
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// The queue on which a session calls its app, and what it waits for on the main queue.
@Suite(.timeLimit(.minutes(5))) struct SessionQueueTests {
    private static let key = DispatchSpecificKey<Bool>()

    /// The completion handlers that were called, with the codes of their errors.
    private final class Handlers: Sendable {
        private let calls = Locked<[String]>([])

        func note(_ name: String, _ error: (any Error)? = nil) {
            let place = DispatchQueue.getSpecific(key: key) == true ? "" : " elsewhere"
            calls.withLock { $0.append("\(name) \(code(of: error))\(place)") }
        }

        func handler(_ name: String) -> @Sendable ((any Error)?) -> Void { { [self] in note(name, $0) } }

        /// Waits for as many calls, and returns all of them in the order of their names.
        func all(_ count: Int, _ queue: DispatchQueue) async throws -> [String] {
            try await waitWhile(calls.withLock { $0.count } < count)
            queue.sync {}
            return calls.withLock { $0.sorted() }
        }
    }

    private static func queue() -> DispatchQueue {
        let queue = DispatchQueue(label: "given")
        queue.setSpecific(key: key, value: true)
        return queue
    }

    @Test func `Handlers of a session for tags: each is called once on the session's queue, whatever its error`()
        async throws
    {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213())
            let (queue, delegate, handlers) = (Self.queue(), TagSessionDelegate(), Handlers())
            let session = tagSession(delegate, queue: queue)
            session.begin()
            let tag = try #require(await delegate.nextTags()?.first).miFare
            let foreign = try await ScriptedTag.miFare().1
            let apdu = try #require(NFCISO7816APDU(data: Data(bytes("00b0000000"))))
            let read = Data([0x30, 3])
            tag.sendMiFareCommand(commandPacket: read) { handlers.note("early", $1) }
            session.connect(to: .miFare(tag), completionHandler: handlers.handler("connect"))
            session.connect(to: .miFare(foreign), completionHandler: handlers.handler("foreign"))
            tag.sendMiFareCommand(commandPacket: read) { handlers.note("read", $1) }
            tag.sendMiFareCommand(commandPacket: Data()) { handlers.note("empty", $1) }
            tag.sendMiFareISO7816Command(apdu) { handlers.note("apdu", $3) }
            let expected = ["apdu 1", "connect 0", "early 104", "empty 4", "foreign 3", "read 0"]
            #expect(try await handlers.all(6, queue) == expected)
            session.invalidate()
            tag.sendMiFareCommand(commandPacket: read) { handlers.note("too late", $1) }
            #expect(try await handlers.all(7, queue) == expected + ["too late 103"])
        }
    }

    @Test
    func `Session for NDEF: its delegate and each handler are called once on the session's queue, whatever the error`()
        async throws
    {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213())
            let (queue, handlers) = (Self.queue(), Handlers())
            let delegate = TagDelegate { _, event in handlers.note(event.text) }
            let session = ndefSession(delegate, queue: queue)
            #expect(session.sessionQueue === queue)
            session.begin()
            let tag = try #require(await delegate.nextNDEFTags()?.first)
            let foreign: any NFCNDEFTag = try await ScriptedTag.miFare().1
            let broken = NFCNDEFMessage(records: [
                NFCNDEFPayload(format: .empty, type: Data([1]), identifier: Data(), payload: Data())
            ])
            session.connect(to: tag, completionHandler: handlers.handler("connect"))
            session.connect(to: foreign, completionHandler: handlers.handler("foreign"))
            tag.queryNDEFStatus { handlers.note("status", $2) }
            tag.readNDEF { handlers.note("read", $1) }
            tag.writeNDEF(broken, completionHandler: handlers.handler("broken"))
            tag.writeNDEF(TestTag.message(size: 200), completionHandler: handlers.handler("large"))
            tag.writeNDEF(TestTag.message(), completionHandler: handlers.handler("write"))
            tag.writeLock(completionHandler: handlers.handler("lock"))
            tag.writeNDEF(TestTag.message(), completionHandler: handlers.handler("locked"))
            _ = try await handlers.all(11, queue)
            session.invalidate()
            #expect(
                try await handlers.all(12, queue) == [
                    "active 0", "broken 3", "connect 0", "ended 200 0", "foreign 3", "large 402", "lock 0",
                    "locked 400", "read 0", "status 0", "tags 1 0", "write 0",
                ]
            )
        }
    }

    // MARK: The main queue

    // A session that has read its one message waits for the main queue, on which the app may still set the sheet's
    // text. The test has a process of its own, because a process has one main queue, and what is known of it stays.

    @Test(.ownThreads)
    func `invalidateAfterFirstRead: the session ends with error 204 although the main thread is blocked`() async {
        await #expect(processExitsWith: .success) {
            // The main thread waits, as that of a command-line tool.
            let end = Locked<Int?>(nil)
            DispatchQueue.main.async {
                while end.withLock({ $0 }) == nil { usleep(1000) }
                exit(end.withLock { $0 } == 204 ? 0 : 1)
            }
            Task.detached {
                try await withVirtualField { field in
                    field.tags.bring(TestTag.ntag213())
                    let delegate = MessageDelegate()
                    ndefSession(delegate, once: true).begin()
                    _ = await delegate.nextLinks()
                    // As time would pass.
                    while !field.environment.arbiter.isIdle {
                        field.clock.advance(by: .milliseconds(100))
                        try await Task.sleep(for: .milliseconds(1))
                    }
                    let code = await delegate.end()?.errorCode
                    end.withLock { $0 = code }
                }
            }
            try await Task.sleep(for: .seconds(60))
        }
    }
}
