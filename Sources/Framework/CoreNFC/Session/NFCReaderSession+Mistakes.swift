// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagProtocols

/// Mistakes of an app that cause no error, neither here nor on a phone.
extension NFCReaderSession {
    /// Reports a delegate that can't receive an event. Called on ``sessionQueue``.
    func reportDelegate(before event: ReaderSession.Event) {
        guard delegate != nil else {
            // An app that ended the session and released its delegate does not need the event.
            if case .ended = event, isInvalidated { return }
            return mistakes.add(.delegateReleased)
        }
        // When the main thread left the main queue to other threads, the runtime does not count work on it as the main
        // actor's.
        guard !MainQueue.isCurrent, !delegateConformsHere else { return }
        mistakes.add(.delegateOfMainActor)
        if configuration.isStrict { ConfigurationGate.endProcess(APIMisuse.delegateOfMainActor.explanation) }
    }

    /// Reports why the reader of a session was missing, was lost, or was in use by another program. Many apps show only
    /// the error's text, which is the same for every reason.
    func reportMissingReader(at end: SessionEnd) {
        if case .terminatedUnexpectedly(let reason) = end { environment.noticeOnce(reason) }
        if end == .timeout, let reason = runtime?.obstacle { environment.noticeOnce(reason) }
    }

    /// The error for a tag that this session can't connect to, because another session, or the app itself, created it.
    func refusal(of tag: TagObject?) -> NFCReaderError {
        if tag?.handle.session.hasEnded == true { mistakes.add(.tagOfOlderSession) }
        return NFCReaderError(.readerErrorInvalidParameter, reason: "The tag was not found by this session.")
    }

    /// Calls `work` after the work that a callback has put on the session's queue, and then after the work on the main
    /// queue. So if the app sets the sheet's text there, it does that first.
    ///
    /// - Parameter work: called on any thread, perhaps twice.
    func afterWorkOfCallback(_ work: @escaping @Sendable () -> Void) {
        environment.call(on: sessionQueue) { [environment] in
            MainQueue.afterPresentWork(clock: environment.clock, work)
        }
    }
}

extension Optional where Wrapped == AnyObject {
    /// Whether an object conforms to a protocol in the current isolation. A conformance that is isolated to the main
    /// actor exists only on the main actor.
    ///
    /// Generic, because for a cast to a known protocol the compiler emits a check that ignores isolation.
    @inline(never) func conforms<Delegate>(to delegate: Delegate.Type) -> Bool { self is Delegate }
}
