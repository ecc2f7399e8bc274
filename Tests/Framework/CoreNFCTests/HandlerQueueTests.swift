// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// Checks where an app's closures are called, also with errors that no tag has caused.
@Suite(.timeLimit(.minutes(1))) struct `The queue of completion handlers` {
    private static let key = DispatchSpecificKey<Bool>()

    /// Where handlers were called.
    private final class Places: Sendable {
        private let codes = Locked<[String: [Int]]>([:])
        private let strays = Locked<[String]>([])

        /// A handler of this name.
        func handler(_ name: String) -> @Sendable ((any Error)?) -> Void {
            { [self] error in
                if DispatchQueue.getSpecific(key: key) != true { strays.withLock { $0.append(name) } }
                codes.withLock { $0[name, default: []].append((error as? NFCReaderError)?.errorCode ?? 0) }
            }
        }

        func expect(_ expected: [String: Int], on queue: DispatchQueue) async {
            while codes.withLock({ $0.count }) < expected.count { await Task.yield() }
            await withCheckedContinuation { done in queue.async { done.resume() } }
            #expect(codes.withLock { $0 } == expected.mapValues { [$0] })
            #expect(strays.withLock { $0 } == [])
        }
    }

    private static func queue() -> DispatchQueue {
        let queue = DispatchQueue(label: "given")
        queue.setSpecific(key: key, value: true)
        return queue
    }

    @Test func `A session for tags calls its handlers on its queue`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let (queue, delegate, places) = (Self.queue(), TagSessionDelegate(), Places())
            let session = try #require(
                NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate, queue: queue)
            )
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            guard case .miFare(let tag)? = await events.nextTags()?.first else { throw ScriptedTag.OtherKind() }
            let foreign = try ScriptedTag.miFare().1
            let apdu = try #require(NFCISO7816APDU(data: Data([0, 0xB0, 0, 0, 0])))
            tag.sendMiFareCommand(commandPacket: Data([0x30, 3])) { places.handler("early")($1) }
            session.connect(to: .miFare(tag), completionHandler: places.handler("connect"))
            session.connect(to: .miFare(foreign), completionHandler: places.handler("foreign"))
            tag.sendMiFareCommand(commandPacket: Data([0x30, 3])) { places.handler("read")($1) }
            tag.sendMiFareCommand(commandPacket: Data()) { places.handler("empty")($1) }
            tag.sendMiFareISO7816Command(apdu) { places.handler("apdu")($3) }
            await places.expect(
                ["early": 104, "connect": 0, "foreign": 3, "read": 0, "empty": 4, "apdu": 1],
                on: queue
            )
            session.invalidate()
            tag.sendMiFareCommand(commandPacket: Data([0x30, 3])) { places.handler("late")($1) }
            await places.expect(
                ["early": 104, "connect": 0, "foreign": 3, "read": 0, "empty": 4, "apdu": 1, "late": 103],
                on: queue
            )
        }
    }

    @Test func `A session for messages calls its handlers on its queue`() async throws {
        try await withVirtualField { field in
            field.tags.bring(TestTag.ntag213(uri: "https://example.com/a"))
            let (queue, delegate, places) = (Self.queue(), TagDelegate(), Places())
            let session = NFCNDEFReaderSession(delegate: delegate, queue: queue, invalidateAfterFirstRead: false)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            let tag = try #require(await events.nextTags()?.first)
            let foreign: any NFCNDEFTag = try ScriptedTag.miFare().1
            let broken = NFCNDEFMessage(records: [
                NFCNDEFPayload(format: .empty, type: Data([1]), identifier: Data(), payload: Data())
            ])
            let large = NFCNDEFMessage(records: [
                NFCNDEFPayload(format: .unknown, type: Data(), identifier: Data(), payload: Data(count: 200))
            ])
            session.connect(to: tag, completionHandler: places.handler("connect"))
            session.connect(to: foreign, completionHandler: places.handler("foreign"))
            tag.queryNDEFStatus { places.handler("status")($2) }
            tag.readNDEF { places.handler("read")($1) }
            tag.writeNDEF(broken, completionHandler: places.handler("broken"))
            tag.writeNDEF(large, completionHandler: places.handler("large"))
            tag.writeNDEF(TestTag.message(uri: "https://example.com/b"), completionHandler: places.handler("write"))
            tag.writeLock(completionHandler: places.handler("lock"))
            tag.writeNDEF(TestTag.message(uri: "https://example.com/c"), completionHandler: places.handler("locked"))
            await places.expect(
                [
                    "connect": 0, "foreign": 3, "status": 0, "read": 0, "broken": 3, "large": 402, "write": 0,
                    "lock": 0, "locked": 400,
                ],
                on: queue
            )
            session.invalidate()
        }
    }

    @Test func `A session without a reader calls its delegate and its handlers on its queue`() async throws {
        let environment = NFCEnvironment(reader: .none(reason: "There is none."), isOfTest: true)
        try await NFCEnvironment.$scoped.withValue(environment) {
            let (queue, delegate, places) = (Self.queue(), TagDelegate(), Places())
            let session = NFCNDEFReaderSession(delegate: delegate, queue: queue, invalidateAfterFirstRead: false)
            let tag: any NFCNDEFTag = try ScriptedTag.miFare().1
            session.connect(to: tag, completionHandler: places.handler("connect"))
            await places.expect(["connect": 3], on: queue)
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            #expect(await events.end()?.code == .readerErrorUnsupportedFeature)
        }
    }
}
