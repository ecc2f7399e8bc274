// SPDX-License-Identifier: Apache-2.0
import Synchronization
public import TagProtocols

/// A tag that a session has found: a handle, good until the tag is lost, polling is restarted, or the session ends.
public final class DetectedTag: Sendable {
    /// What the tag said of itself when it was activated.
    public let target: NFCATarget

    /// The session that found the tag.
    public let session: ReaderSession

    private let available = Mutex(true)

    package init(target: NFCATarget, session: ReaderSession) {
        self.target = target
        self.session = session
    }

    /// Whether the tag can still be used. Says nothing of whether it is in the field this very moment.
    public var isAvailable: Bool {
        available.withLock { $0 }
    }

    func becomeUnavailable() {
        available.withLock { $0 = false }
    }
}
