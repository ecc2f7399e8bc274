// SPDX-License-Identifier: Apache-2.0
import TagLink
public import TagProtocols

/// A tag that a session has found: a handle, good until the tag is lost, polling is restarted, or the session ends.
public final class DetectedTag: Sendable {
    /// What the tag said of itself when it was activated.
    public let target: TagTarget

    /// The session that found the tag.
    public let session: ReaderSession

    /// The application that was selected while the card was found; nil for none. It is selected again when the card is
    /// woken.
    public let selectedApplication: [UInt8]?

    /// The card's ATS, where its transport protocol was begun while it was found.
    public let answerToSelect: AnswerToSelect?

    /// The stay near the reader during which the tag was found.
    let stay: TagStay

    private let available = Locked(true)

    package init(
        target: TagTarget,
        session: ReaderSession,
        selectedApplication: [UInt8]? = nil,
        answerToSelect: AnswerToSelect? = nil
    ) {
        self.target = target
        self.session = session
        stay = session.driver.stay(of: target.identifier)
        self.selectedApplication = selectedApplication
        self.answerToSelect = answerToSelect
    }

    /// Whether the tag can still be used. Says nothing of whether it is in the field this very moment.
    public var isAvailable: Bool {
        available.withLock { $0 }
    }

    func becomeUnavailable() {
        available.withLock { $0 = false }
    }
}

/// One stay of a tag near the reader. When the tag goes away and comes back, it is another stay, where the reader can tell.
struct TagStay: Hashable, Sendable {
    let identifier: [UInt8]
    /// The number of the arrival; nil where the reader can't tell arrivals apart.
    let arrival: UInt64?
}

extension ReaderDriver {
    /// The stay of a tag that the last look has found.
    func stay(of identifier: [UInt8]) -> TagStay {
        TagStay(identifier: identifier, arrival: arrival(of: identifier))
    }
}
