// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Synchronization

/// A call of a delegate.
enum DelegateEvent: Sendable {
    case active
    case messages([NFCNDEFMessage])
    case tags([any NFCNDEFTag])
    case invalidated(NFCReaderError)
}

/// Records the calls of a delegate as a stream. A call after the end of its session is an issue.
class RecordingDelegate: NSObject, @unchecked Sendable {
    // Sendable because the stream, its continuation and the watch are.
    let events: AsyncStream<DelegateEvent>
    let continuation: AsyncStream<DelegateEvent>.Continuation
    let watch = EndWatch()

    override init() {
        (events, continuation) = AsyncStream.makeStream()
    }

    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {
        watch.call(session)
        continuation.yield(.active)
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        watch.call(session)
        continuation.yield(.messages(messages))
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        watch.call(session, isEnd: true)
        guard let error = error as? NFCReaderError else { return }
        continuation.yield(.invalidated(error))
        continuation.finish()
    }
}

/// A delegate of the first kind, which gets messages.
final class MessageDelegate: RecordingDelegate, NFCNDEFReaderSessionDelegate, @unchecked Sendable {}

/// A delegate of the second kind, which gets tags.
final class TagDelegate: RecordingDelegate, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        watch.call(session)
        continuation.yield(.tags(tags))
    }
}

extension AsyncStream<DelegateEvent>.Iterator {
    /// The next tags, past other events; nil when the session ends first.
    mutating func nextTags() async -> [any NFCNDEFTag]? {
        while let event = await next(isolation: nil) {
            if case .tags(let tags) = event { return tags }
        }
        return nil
    }

    /// The next messages, past other events; nil when the session ends first.
    mutating func nextMessages() async -> [NFCNDEFMessage]? {
        while let event = await next(isolation: nil) {
            if case .messages(let messages) = event { return messages }
        }
        return nil
    }

    /// The error with which the session ends.
    mutating func end() async -> NFCReaderError? {
        while let event = await next(isolation: nil) {
            if case .invalidated(let error) = event { return error }
        }
        return nil
    }
}

/// A session whose delegate takes tags, and the tags that it found first.
struct FoundTags {
    let delegate = TagDelegate()
    let session: NFCNDEFReaderSession
    var events: AsyncStream<DelegateEvent>.Iterator
    let tags: [any NFCNDEFTag]
    /// The first of them.
    let tag: any NFCNDEFTag

    /// Begins the session, and waits until it has found tags.
    init() async throws {
        session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
        session.begin()
        events = delegate.events.makeAsyncIterator()
        // An error, not a failed requirement: in tests that lose tags on purpose it is not a failure of the test.
        guard let tags = await events.nextTags(), let tag = tags.first else { throw SessionEnded() }
        (self.tags, self.tag) = (tags, tag)
    }

    /// The session ended before it found a tag.
    struct SessionEnded: Error {}
}
