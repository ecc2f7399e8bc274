// SPDX-License-Identifier: Apache-2.0
public import Dispatch
public import Foundation
import NFCSessions
import TagLink

/// A reader session that finds tags that may contain NDEF messages.
///
/// A delegate that implements ``NFCNDEFReaderSessionDelegate/readerSession(_:didDetect:)`` receives the tags. Any other
/// delegate receives a tag's message each time that the tag enters the field. With `invalidateAfterFirstRead`, the
/// session ends after the first message.
open class NFCNDEFReaderSession: NFCReaderSession {
    private let invalidatesAfterFirstRead: Bool
    /// Whether the delegate is known to receive messages instead of tags.
    private let readsMessages = Locked(false)
    /// The detection that is being delivered and was not reported yet. Whether the delegate has the method is known
    /// only when it uses the session, or has returned.
    private let unreportedDetection = Locked<String?>(nil)

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - delegate: receives the session's events; held weakly.
    ///   - queue: the queue for the delegate and completion handlers; nil for a serial queue that the session creates.
    ///   - invalidateAfterFirstRead: whether the session ends after the first message. Ignored when the delegate
    ///     receives tags.
    public init(delegate: any NFCNDEFReaderSessionDelegate, queue: DispatchQueue?, invalidateAfterFirstRead: Bool) {
        invalidatesAfterFirstRead = invalidateAfterFirstRead
        super.init(delegate: delegate, queue: queue, plan: .ndef)
    }

    private var ndefDelegate: (any NFCNDEFReaderSessionDelegate)? {
        delegate as? any NFCNDEFReaderSessionDelegate
    }

    // MARK: Tags

    /// Looks for tags again. The app can no longer use the tags found before.
    ///
    /// Does nothing for a delegate that receives messages: that session continues by itself.
    open func restartPolling() {
        if readsMessages.withLock({ $0 }) { return noteCall("restartPolling(), without effect") }
        willUseSession()
        noteRestart()
        runtime?.restartPolling()
    }

    /// Connects the session to a tag, and checks that the tag is present. A connection lasts at most 20 seconds.
    /// Connecting to the connected tag again does not restart the 20 seconds.
    ///
    /// - Parameters:
    ///   - tag: one of the last tags that this session found.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``:
    ///     `readerTransceiveErrorTagConnectionLost`, `readerTransceiveErrorSessionInvalidated`, or
    ///     `readerErrorInvalidParameter` when this session did not find the tag.
    @preconcurrency
    public func connect(to tag: any NFCNDEFTag, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        willUseSession()
        connect(object: tag as? TagObject, completionHandler)
    }

    /// The asynchronous form of ``connect(to:completionHandler:)``.
    public func connect(to tag: any NFCNDEFTag) async throws {
        try await withCompletion { connect(to: tag, completionHandler: $0) }
    }

    // MARK: Events

    override var request: AppConfiguration.Request? { .ndef }

    override var delegateConformsHere: Bool { delegate.conforms(to: (any NFCNDEFReaderSessionDelegate).self) }

    override func didBecomeActive() { ndefDelegate?.readerSessionDidBecomeActive(self) }

    override func didDetect(_ tags: [ConnectableTag]) {
        let count = tags.count == 1 ? "1 tag" : "\(tags.count) tags"
        noteCallInTrace("readerSession(_:didDetect:)", count)
        unreportedDetection.withLock { $0 = count }
        ndefDelegate?.readerSession(self, didDetect: tags.map { ndefTag(for: $0) })
        willUseSession()
    }

    override func willUseSession() {
        guard let detail = unreportedDetection.withLock({ $0.take() }) else { return }
        noteCallback("readerSession(_:didDetect:)", detail)
    }

    /// Returns the object for a tag: a tag object of its technology, or a general NDEF tag for other kinds.
    private func ndefTag(for handle: ConnectableTag) -> any NFCNDEFTag {
        tag(for: handle)?.ndefTag ?? TagObject(context(of: handle))
    }

    override func didEnd(_ error: NFCReaderError) {
        ndefDelegate?.readerSession(self, didInvalidateWithError: error)
    }

    // MARK: Messages

    /// Reads the messages of tags, for a delegate that does not receive tags.
    func readMessages(of tags: [any NFCNDEFTag], for delegate: any NFCNDEFReaderSessionDelegate) {
        guard let runtime else { return }
        readsMessages.withLock { $0 = true }
        environment.testContext?.note("the delegate lacks readerSession(_:didDetect:), so the messages are read")
        unreportedDetection.withLock { $0 = nil }
        runtime.drawsErrorSymbol = false
        let handles = tags.compactMap { ($0 as? TagObject)?.handle }
        let session = UncheckedSendableBox(self)
        runtime.readMessages(from: handles) { [environment, sessionQueue] encoded in
            guard let encoded else { return }
            environment.call(on: sessionQueue) {
                for message in encoded { session.value.report("didDetectNDEFs", received: message) }
                session.value.deliver(encoded.compactMap { NFCNDEFMessage(bytes: $0) })
            }
        }
    }

    private func deliver(_ messages: [NFCNDEFMessage]) {
        guard let runtime, runtime.isActive else { return }
        if !messages.isEmpty {
            let count = messages.count == 1 ? "1 message" : "\(messages.count) messages"
            noteCallback("readerSession(_:didDetectNDEFs:)", count)
            noteCallInTrace("readerSession(_:didDetectNDEFs:)", count)
            ndefDelegate?.readerSession(self, didDetectNDEFs: messages)
            if invalidatesAfterFirstRead { return runAfterCallbackWork { runtime.endAfterFirstMessage() } }
        }
        runtime.restartPolling(skippingReported: true)
    }
}

/// Receives the events of an NDEF reader session. All methods are called on the session's queue.
public protocol NFCNDEFReaderSessionDelegate: NSObjectProtocol {
    /// The session has ended. Called once, after all other methods.
    ///
    /// - Parameters:
    ///   - session: the session. It can't begin again.
    ///   - error: the reason, an ``NFCReaderError``.
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error)

    /// The session has read messages. Not called when the delegate implements ``readerSession(_:didDetect:)``.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - messages: one message for each tag.
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage])

    /// The session has found tags. Polling stops until the app calls ``NFCNDEFReaderSession/restartPolling()``.
    ///
    /// If the delegate does not implement this method, the session reads the tags and reports their messages.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - tags: the tags; connect to one before you send commands.
    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag])

    /// The session is active: the sheet is visible and the reader looks for tags. Called before any detection.
    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession)
}

extension NFCNDEFReaderSessionDelegate {
    /// Reads the tags and calls ``readerSession(_:didDetectNDEFs:)``, because the delegate does not implement this
    /// method.
    public func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        session.readMessages(of: tags, for: self)
    }

    /// Does nothing.
    public func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}
}
