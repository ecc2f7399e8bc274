// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import TagLink

/// What a session's delegate and completion handlers are called with, and what is wrong with the order of it.
final class SessionRecord: Sendable {
    struct Entries: Sendable {
        var hasBecomeActive = false
        /// How many times tags or messages were given to the delegate.
        var detections = 0
        var ends = 0
        var code: NFCReaderError.Code?
        /// How many commands were begun, and how many completion handlers were called.
        var commands = 0
        var completions = 0
        var problems: [String] = []
    }

    private let stored = Locked(Entries())
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    var entries: Entries { stored.withLock { $0 } }

    /// Watches a session's queue.
    func watch(_ queue: DispatchQueue) { queue.setSpecific(key: Self.key, value: ObjectIdentifier(self)) }

    private func change(_ what: String, isCommand: Bool = false, _ change: (inout Entries) -> Void) {
        let isOnQueue = DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self)
        stored.withLock { entries in
            if !isOnQueue { entries.problems.append("\(what) is reported on another queue") }
            // Commands that the end cuts off are answered before it, and those that come later after it.
            if entries.ends > 0, !isCommand { entries.problems.append("\(what) is reported after the end") }
            change(&entries)
        }
    }

    func becameActive() {
        change("that it is active") { entries in
            if entries.hasBecomeActive { entries.problems.append("It becomes active twice") }
            entries.hasBecomeActive = true
        }
    }

    func detected() {
        change("a detection") { entries in
            if !entries.hasBecomeActive { entries.problems.append("It detects before it is active") }
            entries.detections += 1
        }
    }

    func ended(_ error: any Error) {
        change("the end") { entries in
            entries.ends += 1
            entries.code = (error as? NFCReaderError)?.code
            if entries.code == nil { entries.problems.append("It ends with \(error)") }
        }
    }

    /// Begins a command.
    ///
    /// - Returns: what to call with its error.
    func command() -> @Sendable ((any Error)?) -> Void {
        stored.withLock { $0.commands += 1 }
        let calls = Locked(0)
        return { [self] error in
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            change("a command's result", isCommand: true) { entries in
                entries.completions += 1
                if call > 1 { entries.problems.append("A completion handler is called twice") }
                if let error, !(error is NFCReaderError) { entries.problems.append("A command fails with \(error)") }
                if entries.ends > 0, error == nil { entries.problems.append("A command succeeds after the end") }
            }
        }
    }
}

/// A delegate that gets tags.
final class StoryTagDelegate: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
    let record = SessionRecord()
    private let found = Locked(UncheckedTags<any NFCNDEFTag>())
    var tags: [any NFCNDEFTag] { found.withLock { $0.tags } }

    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { record.becameActive() }
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        record.detected()
    }
    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        found.withLock { $0.tags = tags }
        record.detected()
    }
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        record.ended(error)
    }
}

/// A delegate that gets messages.
final class StoryMessageDelegate: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
    let record = SessionRecord()

    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { record.becameActive() }
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        record.detected()
    }
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        record.ended(error)
    }
}

/// A delegate that gets tags of a technology.
final class StoryCardDelegate: NSObject, NFCTagReaderSessionDelegate, Sendable {
    let record = SessionRecord()
    private let found = Locked(UncheckedTags<NFCTag>())
    var tags: [NFCTag] { found.withLock { $0.tags } }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) { record.becameActive() }
    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        found.withLock { $0.tags = tags }
        record.detected()
    }
    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        record.ended(error)
    }
}

/// Tags that go from the session's queue to the test's task.
///
/// Sendable because tags may be used from any thread.
private struct UncheckedTags<Tag>: @unchecked Sendable {
    var tags: [Tag] = []
}
