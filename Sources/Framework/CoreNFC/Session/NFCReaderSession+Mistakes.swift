// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime
import TagLink
import TagProtocols

/// Mistakes of an app that fail nowhere, here as on a phone.
extension NFCReaderSession {
    /// Reports a delegate that can't be told of an event. Called on ``sessionQueue``.
    func reportDelegate(before event: ReaderSession.Event) {
        guard delegate != nil else {
            // Who ends a session and lets go of it needs no word of it.
            if case .ended = event, isInvalidated { return }
            return mistakes.add(.delegateReleased)
        }
        // What runs on the main queue is not the main actor's for the runtime, where the main thread has left it to others.
        guard !MainQueue.isCurrent, !delegateConformsHere else { return }
        mistakes.add(.delegateOfMainActor)
        if configuration.isStrict { ConfigurationGate.endProcess(SilentMistake.delegateOfMainActor.explanation) }
    }

    /// Says why the reader of a session could not be had, was lost, or was in use by another program: many apps show only the error's text, which is the
    /// same for every reason.
    func reportMissingReader(at end: SessionEnd) {
        if case .terminatedUnexpectedly(let reason) = end { environment.noticeOnce(reason) }
        if end == .timeout, let reason = runtime?.obstacle { environment.noticeOnce(reason) }
    }

    /// The error for a tag to which a session can't connect, because another one, or the app itself, made it.
    func refusal(of tag: DetectedNDEFTag?) -> NFCReaderError {
        if tag?.detected.session.hasEnded == true { mistakes.add(.tagOfOlderSession) }
        return NFCReaderError(.readerErrorInvalidParameter, reason: "The tag was not found by this session.")
    }

    /// Does something when the work is done that a callback has put on the session's queue, and then on the main queue: an app
    /// that sets the sheet's text there sets it before.
    ///
    /// - Parameter work: what is done, on any thread; it may be done twice.
    func afterWorkOfCallback(_ work: @escaping @Sendable () -> Void) {
        environment.call(on: sessionQueue) { [environment] in
            MainQueue.afterPresentWork(clock: environment.clock, work)
        }
    }
}

extension Optional where Wrapped == AnyObject {
    /// Whether an object conforms to a protocol where this is asked: a conformance of the main actor's is there on the main
    /// actor alone.
    ///
    /// Generic, because the compiler turns a cast to a protocol that it knows into a question that leaves isolation out.
    @inline(never) func conforms<Delegate>(to delegate: Delegate.Type) -> Bool { self is Delegate }
}
