// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TagLink
import Testing

/// A call of a session's delegate.
enum DelegateEvent: Sendable {
    case active
    case messages([NFCNDEFMessage])
    case ndefTags([any NFCNDEFTag])
    case tags([NFCTag])
    case ended(NFCReaderError)

    /// The call in a word, with the number of tags or messages, or the code of the end.
    var text: String {
        switch self {
        case .active: "active"
        case .messages(let messages): "messages \(messages.count)"
        case .ndefTags(let tags): "tags \(tags.count)"
        case .tags(let tags): "tags \(tags.count)"
        case .ended(let error): "ended \(error.errorCode)"
        }
    }
}

/// Records the calls of a session's delegate. A call after the end of the session is an issue.
class Recorder: NSObject, @unchecked Sendable {
    // Sendable because its properties are constants that are.
    typealias Hook = @Sendable (NFCReaderSession, DelegateEvent) -> Void

    private let events: AsyncStream<DelegateEvent>
    private let continuation: AsyncStream<DelegateEvent>.Continuation
    private let words = Locked<[String]>([])
    private let hook: Hook?

    /// - Parameter hook: what the app does in each call.
    init(_ hook: Hook? = nil) {
        (events, continuation) = AsyncStream.makeStream()
        self.hook = hook
    }

    /// All calls until now.
    var log: [String] { words.withLock { $0 } }

    private func note(_ event: DelegateEvent, _ session: NFCReaderSession) {
        let isLate = words.withLock { words in
            defer { words.append(event.text) }
            return words.last?.hasPrefix("ended") == true
        }
        if isLate { Issue.record("\(event.text) is called after the end of the session.") }
        hook?(session, event)
        continuation.yield(event)
        if case .ended = event { continuation.finish() }
    }

    private func end(_ error: any Error, _ session: NFCReaderSession) {
        guard let error = error as? NFCReaderError else {
            Issue.record("The session ends with \(error).")
            return continuation.finish()
        }
        note(.ended(error), session)
    }

    // MARK: Waiting

    /// The next call; nil after the end.
    func next() async -> DelegateEvent? {
        var iterator = events.makeAsyncIterator()
        return await iterator.next(isolation: nil)
    }

    /// What `pick` finds in the next call for which it finds something; nil when the session ends before.
    private func next<Value>(_ pick: (DelegateEvent) -> Value?) async -> Value? {
        while let event = await next() {
            if let value = pick(event) { return value }
        }
        return nil
    }

    /// The tags of the next detection by a session for tags.
    func nextTags() async -> [NFCTag]? { await next { if case .tags(let tags) = $0 { tags } else { nil } } }

    /// The tags of the next detection by a session for NDEF.
    func nextNDEFTags() async -> [any NFCNDEFTag]? {
        await next { if case .ndefTags(let tags) = $0 { tags } else { nil } }
    }

    /// The links of the next messages.
    func nextLinks() async -> [String]? {
        await next { if case .messages(let messages) = $0 { messages.map { $0.link ?? "none" } } else { nil } }
    }

    /// Waits for the end of the session, and returns its error.
    @discardableResult func end() async -> NFCReaderError? {
        await next { if case .ended(let error) = $0 { error } else { nil } }
    }

    /// Waits for the end of the session, and returns all calls.
    func wholeLog() async -> [String] {
        await end()
        return log
    }

    // MARK: The methods of all delegates

    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { note(.active, session) }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        note(.messages(messages), session)
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        end(error, session)
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) { note(.active, session) }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) { note(.tags(tags), session) }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        end(error, session)
    }

    func readerSessionDidBecomeActive(_ session: NFCVASReaderSession) { note(.active, session) }

    func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error) { end(error, session) }

    func readerSession(_ session: NFCVASReaderSession, didReceive responses: [NFCVASResponse]) {}

    fileprivate func detect(_ tags: [any NFCNDEFTag], _ session: NFCReaderSession) { note(.ndefTags(tags), session) }
}

/// A delegate of a session for NDEF that gets messages.
final class MessageDelegate: Recorder, NFCNDEFReaderSessionDelegate, @unchecked Sendable {}

/// A delegate of a session for NDEF that gets tags.
final class TagDelegate: Recorder, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) { detect(tags, session) }
}

/// A delegate of a session for tags.
final class TagSessionDelegate: Recorder, NFCTagReaderSessionDelegate, @unchecked Sendable {}

/// A delegate of a session for value added services.
final class VASDelegate: Recorder, NFCVASReaderSessionDelegate, @unchecked Sendable {}
