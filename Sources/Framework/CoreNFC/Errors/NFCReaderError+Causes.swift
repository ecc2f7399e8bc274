// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagLink
import TagProtocols

extension NFCReaderError {
    /// Creates an error with a sentence about what happened.
    init(_ code: Code, reason: String, text: String? = nil) {
        var info: [String: Any] = [NSLocalizedFailureReasonErrorKey: reason]
        if let text { info[NSLocalizedDescriptionKey] = text }
        self.init(code, userInfo: info)
    }

    /// The error of a command that a tag, or the session, did not carry out.
    init(_ error: CommandError) {
        switch error {
        case .sessionInvalidated:
            self.init(.readerTransceiveErrorSessionInvalidated, reason: "The session has ended.")
        case .notConnected:
            self.init(
                .readerTransceiveErrorTagNotConnected,
                reason: "Call connect(to:) with this tag before a command."
            )
        case .tagUnavailable:
            self.init(
                .readerTransceiveErrorTagConnectionLost,
                reason: "The tag is no longer the one that was found. Restart polling to find it again."
            )
        case .tag(let error): self.init(error)
        }
    }

    init(_ error: TagError) {
        var text: String?
        let code: Code
        switch error.code {
        case .tagLost, .readerUnavailable: code = .readerTransceiveErrorTagConnectionLost
        case .readOnly: code = .ndefReaderSessionErrorTagNotWritable
        case .messageTooLong: code = .ndefReaderSessionErrorTagSizeTooSmall
        case .updateFailed, .keyNeeded: code = .ndefReaderSessionErrorTagUpdateFailure
        case .cancelled: code = .readerTransceiveErrorSessionInvalidated
        case .unsupported where error.link?.code == .frameTooLong: code = .readerTransceiveErrorPacketTooLong
        case .unsupported: code = .readerErrorUnsupportedFeature
        default:
            code = .readerTransceiveErrorTagResponseError
            // A phone gives the response error this text when a tag is not formatted.
            if error.meansNotNDEF { text = "Tag Not NDEF formatted" }
        }
        self.init(code, reason: error.reason, text: text)
    }

    /// The error with which a session reports its end to its delegate.
    init(_ end: SessionEnd) {
        switch end {
        case .userCanceled: self.init(.readerSessionInvalidationErrorUserCanceled)
        case .timeout: self.init(.readerSessionInvalidationErrorSessionTimeout)
        case .systemBusy: self.init(.readerSessionInvalidationErrorSystemIsBusy)
        case .radioDisabled: self.init(.readerErrorRadioDisabled)
        case .firstMessageRead: self.init(.readerSessionInvalidationErrorFirstNDEFTagRead)
        case .terminatedUnexpectedly(let reason):
            self.init(.readerSessionInvalidationErrorSessionTerminatedUnexpectedly, reason: reason)
        case .appInBackground:
            self.init(
                .readerSessionInvalidationErrorSessionTerminatedUnexpectedly,
                reason: "The app went to the background."
            )
        case .unsupported(let reason):
            self.init(.readerErrorUnsupportedFeature, reason: reason)
        }
    }
}

extension Result where Failure == CommandError {
    /// The failure as an app receives it.
    var readerError: NFCReaderError? {
        if case .failure(let error) = self { return NFCReaderError(error) }
        return nil
    }
}
