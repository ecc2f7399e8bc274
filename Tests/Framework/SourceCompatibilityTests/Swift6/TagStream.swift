// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation

// A wrapper that provides the tags of a session as an asynchronous stream.

enum TagStreamEvent: Sendable {
    case active
    case found([NFCTag])
}

final class TagStream: NSObject, NFCTagReaderSessionDelegate, Sendable {
    private let continuation: AsyncThrowingStream<TagStreamEvent, any Error>.Continuation

    private init(_ continuation: AsyncThrowingStream<TagStreamEvent, any Error>.Continuation) {
        self.continuation = continuation
    }

    static func events(
        for option: NFCTagReaderSession.PollingOption
    ) -> AsyncThrowingStream<TagStreamEvent, any Error> {
        AsyncThrowingStream { continuation in
            let delegate = TagStream(continuation)
            guard let session = NFCTagReaderSession(pollingOption: option, delegate: delegate, queue: nil) else {
                return continuation.finish(throwing: NFCReaderError(.readerErrorUnsupportedFeature))
            }
            continuation.onTermination = { _ in
                session.invalidate()
                withExtendedLifetime(delegate) {}
            }
            session.begin()
        }
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {
        continuation.yield(.active)
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        switch error {
        case NFCReaderError.readerSessionInvalidationErrorUserCanceled: continuation.finish()
        default: continuation.finish(throwing: error)
        }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        continuation.yield(.found(tags))
    }
}
