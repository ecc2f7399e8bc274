// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation

/// A session of a story, with its delegate and the app's actions on it.
struct SessionActor {
    let kind: SessionStory.Kind
    let session: NFCReaderSession
    let record: SessionRecord
    /// Kept, for a session holds its delegate weakly.
    private let delegate: AnyObject
    private(set) var hasBegun = false
    private(set) var alertMessage = ""
    /// The field's time at which the session was seen to be active.
    var activeSince: Duration?

    init(_ kind: SessionStory.Kind) throws {
        self.kind = kind
        switch kind {
        case .tags:
            let delegate = StoryTagDelegate()
            session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            (self.delegate, record) = (delegate, delegate.record)
        case .messages, .firstMessage:
            let delegate = StoryMessageDelegate()
            let endsAfterFirst = kind == .firstMessage
            session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: endsAfterFirst)
            (self.delegate, record) = (delegate, delegate.record)
        case .cards:
            let delegate = StoryCardDelegate()
            guard let session = NFCTagReaderSession(pollingOption: .iso14443, delegate: delegate) else {
                throw FoundTags.SessionEnded()
            }
            self.session = session
            (self.delegate, record) = (delegate, delegate.record)
        }
        record.watch(session.sessionQueue)
    }

    /// Whether it waits for its turn or is active.
    var isUnderWay: Bool { hasBegun && record.entries.ends == 0 }

    mutating func perform(_ step: SessionStory.Step) {
        switch step {
        case .begin:
            if record.entries.ends == 0 { hasBegun = true }
            session.begin()
        case .invalidate: session.invalidate()
        case .fail: session.invalidate(errorMessage: "It failed.")
        case .restart:
            (session as? NFCNDEFReaderSession)?.restartPolling()
            (session as? NFCTagReaderSession)?.restartPolling()
        case .message(_, let text):
            session.alertMessage = text
            alertMessage = text
        case .connect: connect()
        case .read: read()
        case .bring, .takeAway, .cancel, .wait: break
        }
    }

    private func connect() {
        if let delegate = delegate as? StoryCardDelegate, let tag = delegate.tags.first {
            (session as? NFCTagReaderSession)?.connect(to: tag, completionHandler: record.command())
        } else if let delegate = delegate as? StoryTagDelegate, let tag = delegate.tags.first {
            (session as? NFCNDEFReaderSession)?.connect(to: tag, completionHandler: record.command())
        }
    }

    private func read() {
        if let delegate = delegate as? StoryCardDelegate, case .miFare(let tag)? = delegate.tags.first {
            let done = record.command()
            tag.sendMiFareCommand(commandPacket: Data([0x30, 0])) { _, error in done(error) }
        } else if let delegate = delegate as? StoryTagDelegate, let tag = delegate.tags.first {
            let done = record.command()
            tag.readNDEF { _, error in done(error) }
        }
    }
}
