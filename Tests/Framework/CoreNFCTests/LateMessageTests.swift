// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// Checks what becomes of messages when the session ends just as they have been read.
@Suite(.timeLimit(.minutes(1))) struct `Messages that come late` {
    /// What happens on the app's queue while a tag is read.
    enum Change: CaseIterable, Sendable {
        case nothing, invalidated, outOfTime, cancelled
    }

    @Test(arguments: Change.allCases)
    func `are given to the app while its session is active, and not after`(change: Change) async {
        let (clock, sheet, queue) = (ManualClock(), RecordingSheet(), DispatchQueue(label: "late"))
        let hook = Locked<(@Sendable () -> Void)?>(nil)
        let field = VirtualField(
            onElapsed: { _ in },
            onExchange: { exchange in
                guard exchange.request.bytes.first == 0x30 else { return }
                hook.withLock { $0.take() }?()
            }
        )
        let environment = NFCEnvironment(reader: .field(field), clock: clock, sheet: sheet, isOfTest: true)
        await NFCEnvironment.$scoped.withValue(environment) {
            let delegate = MessageDelegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: queue, invalidateAfterFirstRead: true)
            let ends = HandedToQueue(session: session)
            hook.withLock { hook in
                hook = {
                    // The message is put behind this in the queue.
                    queue.async {
                        switch change {
                        case .nothing: break
                        case .invalidated: ends.session.invalidate()
                        case .outOfTime: clock.advance(by: .seconds(60))
                        case .cancelled: sheet.cancel()
                        }
                    }
                }
            }
            field.bring(TestTag.ntag213(uri: "https://example.com/a"))
            session.begin()
            var events = delegate.events.makeAsyncIterator()
            var isGiven = false
            var code: NFCReaderError.Code?
            while let event = await events.next(isolation: nil) {
                if case .messages = event { isGiven = true }
                if case .invalidated(let error) = event { code = error.code }
            }
            #expect(isGiven == (change == .nothing))
            switch change {
            case .nothing: #expect(code == .readerSessionInvalidationErrorFirstNDEFTagRead)
            case .outOfTime: #expect(code == .readerSessionInvalidationErrorSessionTimeout)
            case .invalidated, .cancelled: #expect(code == .readerSessionInvalidationErrorUserCanceled)
            }
            // Whatever is still in the queue would be a call after the end.
            await withCheckedContinuation { done in queue.async { done.resume() } }
        }
    }

    /// Sendable because a session may be invalidated on any thread.
    private struct HandedToQueue: @unchecked Sendable {
        let session: NFCNDEFReaderSession
    }
}
