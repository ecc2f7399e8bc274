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

    /// Whether the card says that it takes PACE; false where ``PollingPlan/findsPACE`` did not ask.
    public let supportsPACE: Bool

    /// The card's ATS, where its transport protocol was begun while it was found.
    public let answerToSelect: AnswerToSelect?

    /// The stay near the reader during which the tag was found.
    let stay: TagStay

    private let available = Locked(true)
    private let departure = Locked(false)

    package init(
        target: TagTarget,
        session: ReaderSession,
        selectedApplication: [UInt8]? = nil,
        supportsPACE: Bool = false,
        answerToSelect: AnswerToSelect? = nil
    ) {
        self.target = target
        self.session = session
        stay = session.driver.stay(of: target.identifier)
        self.selectedApplication = selectedApplication
        self.supportsPACE = supportsPACE
        self.answerToSelect = answerToSelect
        session.environment.place?.made(self, as: .tag)
    }

    /// Whether the tag can still be used: it was found last, and has not been lost since.
    public var isAvailable: Bool {
        available.withLock { $0 }
    }

    /// Whether the tag is the one that its session is connected to, and has not left as far as is known; see
    /// ``ReaderSession/isConnected(to:)``.
    public var isConnected: Bool { session.isConnected(to: self) }

    /// Whether the tag has left the field, as far as was noticed: a command would not reach it.
    var hasLeft: Bool { departure.withLock { $0 } }

    func noticeDeparture() { departure.withLock { $0 = true } }

    func becomeUnavailable() {
        available.withLock { $0 = false }
    }

    /// Whether a reader itself knows that the tag is near: nothing is sent to it.
    ///
    /// - Parameter driver: the session's reader.
    /// - Returns: nil where the reader can't tell one stay from another.
    func isKnownToStay(by driver: any ReaderDriver) async -> Bool? {
        guard let arrival = stay.arrival else { return nil }
        return await driver.isStillNear(stay.identifier, since: arrival)
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
