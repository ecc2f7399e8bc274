// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NFCSessions
import TagLink
import TagProtocols

/// An error of a reader session or of a command to a tag.
///
/// Delegates and completion handlers receive only errors of this type. So `as? NFCReaderError`,
/// `catch NFCReaderError.readerTransceiveErrorTagConnectionLost` and `error as NSError` all work.
/// `localizedDescription` is the phone's English text. If the `NSError` has a `localizedFailureReason`, this describes
/// the problem in more detail. `print` shows both.
public struct NFCReaderError: _BridgedStoredNSError {
    /// The underlying error, in ``NFCErrorDomain``.
    public let _nsError: NSError

    /// Wraps an error of ``NFCErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(error.domain == NFCErrorDomain, "not an error of Core NFC")
        self._nsError = error
    }

    /// Creates an error with the phone's English text.
    ///
    /// - Parameters:
    ///   - code: the error code.
    ///   - userInfo: details. A localized description in the dictionary replaces the phone's text.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        var info: [String: Any] = [NSLocalizedDescriptionKey: code.text]
        info.merge(userInfo) { _, given in given }
        _nsError = NSError(domain: NFCErrorDomain, code: code.rawValue, userInfo: info)
    }

    /// The domain: ``NFCErrorDomain``.
    public static var errorDomain: String { NFCErrorDomain }

    /// The domain, for the bridge to `NSError`.
    public static var _nsErrorDomain: String { NFCErrorDomain }

    /// The error codes. The static properties of `NFCReaderError` with the same names describe each code.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        public typealias _ErrorType = NFCReaderError

        case readerErrorUnsupportedFeature = 1
        case readerErrorSecurityViolation = 2
        case readerErrorInvalidParameter = 3
        case readerErrorInvalidParameterLength = 4
        case readerErrorParameterOutOfBound = 5
        case readerErrorRadioDisabled = 6
        case readerErrorIneligible = 7
        case readerErrorAccessNotAccepted = 8

        case readerTransceiveErrorTagConnectionLost = 100
        case readerTransceiveErrorRetryExceeded = 101
        case readerTransceiveErrorTagResponseError = 102
        case readerTransceiveErrorSessionInvalidated = 103
        case readerTransceiveErrorTagNotConnected = 104
        case readerTransceiveErrorPacketTooLong = 105

        case readerSessionInvalidationErrorUserCanceled = 200
        case readerSessionInvalidationErrorSessionTimeout = 201
        case readerSessionInvalidationErrorSessionTerminatedUnexpectedly = 202
        case readerSessionInvalidationErrorSystemIsBusy = 203
        case readerSessionInvalidationErrorFirstNDEFTagRead = 204

        case tagCommandConfigurationErrorInvalidParameters = 300

        case ndefReaderSessionErrorTagNotWritable = 400
        case ndefReaderSessionErrorTagUpdateFailure = 401
        case ndefReaderSessionErrorTagSizeTooSmall = 402
        case ndefReaderSessionErrorZeroLengthMessage = 403

        case paymentTagReaderSessionErrorLocationAuthorizationDenied = 500
        case paymentTagReaderSessionErrorLocationServiceRestricted = 501
        case paymentTagReaderSessionErrorOnDeviceLocationUnavailable = 502
    }
}

extension NFCReaderError: CustomStringConvertible {
    /// The error as a phone prints it, with its text and its user info.
    ///
    /// Foundation on Linux would print the reason instead of the text, or `(null)` without a reason.
    public var description: String {
        let start = "Error Domain=\(_nsError.domain) Code=\(_nsError.code)"
        let info = _nsError.userInfo
        guard !info.isEmpty else { return "\(start) \"(null)\"" }
        // The text is printed first. A phone's order is undefined.
        let others = info.keys.filter { $0 != NSLocalizedDescriptionKey }.sorted()
        let keys = others.count < info.count ? [NSLocalizedDescriptionKey] + others : others
        let values = keys.map { key in "\(key)=\(info[key] ?? "")" }
        return "\(start) \"\(localizedDescription)\" UserInfo={\(values.joined(separator: ", "))}"
    }
}

/// The domain of every error that Core NFC reports.
public let NFCErrorDomain: String = "NFCError"

/// The user info key of the error code that an ISO/IEC 15693 tag reported, as an `Int`.
///
/// ISO/IEC 15693-3, 7.4.2 defines the values, such as 0x10 for a block that does not exist. The code of the
/// ``NFCReaderError`` is `readerTransceiveErrorTagResponseError`.
public let NFCISO15693TagResponseErrorKey: String = "ISO15693TagResponseErrorCode"

/// The user info key that marks an answer whose length does not match its command.
///
/// The key is present only for such an answer. Its value is `true`, and the code of the ``NFCReaderError`` is
/// `readerTransceiveErrorTagResponseError`.
public let NFCTagResponseUnexpectedLengthErrorKey: String = "TagResponseInvalidLength"

extension NFCReaderError {
    /// The device or the tag does not support the feature.
    public static let readerErrorUnsupportedFeature = Code.readerErrorUnsupportedFeature
    /// The app lacks an entitlement or an entry in its property list.
    public static let readerErrorSecurityViolation = Code.readerErrorSecurityViolation
    /// A parameter is wrong.
    public static let readerErrorInvalidParameter = Code.readerErrorInvalidParameter
    /// The length of a parameter is wrong.
    public static let readerErrorInvalidParameterLength = Code.readerErrorInvalidParameterLength
    /// A parameter is out of range.
    public static let readerErrorParameterOutOfBound = Code.readerErrorParameterOutOfBound
    /// The NFC radio is switched off.
    public static let readerErrorRadioDisabled = Code.readerErrorRadioDisabled
    /// The app or the user is not eligible for the feature.
    public static let readerErrorIneligible = Code.readerErrorIneligible
    /// The user did not allow the app to use the feature.
    public static let readerErrorAccessNotAccepted = Code.readerErrorAccessNotAccepted

    /// The reader lost the tag.
    public static let readerTransceiveErrorTagConnectionLost = Code.readerTransceiveErrorTagConnectionLost
    /// All retries failed.
    public static let readerTransceiveErrorRetryExceeded = Code.readerTransceiveErrorRetryExceeded
    /// The tag answered with an error, answered incorrectly, or did not answer.
    public static let readerTransceiveErrorTagResponseError = Code.readerTransceiveErrorTagResponseError
    /// The session has ended.
    public static let readerTransceiveErrorSessionInvalidated = Code.readerTransceiveErrorSessionInvalidated
    /// The tag is not the connected one.
    public static let readerTransceiveErrorTagNotConnected = Code.readerTransceiveErrorTagNotConnected
    /// The packet is too long for the tag or the reader.
    public static let readerTransceiveErrorPacketTooLong = Code.readerTransceiveErrorPacketTooLong

    /// The user cancelled the session, or the app invalidated it.
    public static let readerSessionInvalidationErrorUserCanceled = Code.readerSessionInvalidationErrorUserCanceled
    /// The session reached its time limit.
    public static let readerSessionInvalidationErrorSessionTimeout = Code.readerSessionInvalidationErrorSessionTimeout
    /// The session ended unexpectedly.
    public static let readerSessionInvalidationErrorSessionTerminatedUnexpectedly =
        Code.readerSessionInvalidationErrorSessionTerminatedUnexpectedly
    /// The system is busy.
    public static let readerSessionInvalidationErrorSystemIsBusy = Code.readerSessionInvalidationErrorSystemIsBusy
    /// The session was for a single tag, which has been read.
    public static let readerSessionInvalidationErrorFirstNDEFTagRead =
        Code.readerSessionInvalidationErrorFirstNDEFTagRead

    /// A command configuration has invalid parameters.
    public static let tagCommandConfigurationErrorInvalidParameters =
        Code.tagCommandConfigurationErrorInvalidParameters

    /// The tag can't be written.
    public static let ndefReaderSessionErrorTagNotWritable = Code.ndefReaderSessionErrorTagNotWritable
    /// The tag did not accept the write.
    public static let ndefReaderSessionErrorTagUpdateFailure = Code.ndefReaderSessionErrorTagUpdateFailure
    /// The message is longer than the tag's capacity.
    public static let ndefReaderSessionErrorTagSizeTooSmall = Code.ndefReaderSessionErrorTagSizeTooSmall
    /// The tag contains no message.
    public static let ndefReaderSessionErrorZeroLengthMessage = Code.ndefReaderSessionErrorZeroLengthMessage

    /// The user does not allow the app to use the location, which payment sessions need on a phone.
    public static let paymentTagReaderSessionErrorLocationAuthorizationDenied =
        Code.paymentTagReaderSessionErrorLocationAuthorizationDenied
    /// A restriction prevents the app from using the location.
    public static let paymentTagReaderSessionErrorLocationServiceRestricted =
        Code.paymentTagReaderSessionErrorLocationServiceRestricted
    /// The location was not determined by the device itself.
    public static let paymentTagReaderSessionErrorOnDeviceLocationUnavailable =
        Code.paymentTagReaderSessionErrorOnDeviceLocationUnavailable
}

extension NFCReaderError.Code {
    /// The phone's English text. Clients may compare this text.
    var text: String {
        switch self {
        case .readerErrorUnsupportedFeature: "Feature not supported"
        case .readerErrorSecurityViolation: "Missing required entitlement"
        case .readerErrorInvalidParameter: "Invalid parameter"
        case .readerErrorInvalidParameterLength: "Invalid parameter length"
        case .readerErrorParameterOutOfBound: "Parameter value is out of bound"
        case .readerErrorRadioDisabled: "NFC radio is disabled"
        case .readerErrorIneligible: "Device or user is not eligible"
        case .readerErrorAccessNotAccepted: "Access not accepted by user"
        case .readerTransceiveErrorTagConnectionLost: "Tag connection lost"
        case .readerTransceiveErrorRetryExceeded: "Maximum retries exceeded"
        case .readerTransceiveErrorTagResponseError: "Tag response error / no response"
        case .readerTransceiveErrorSessionInvalidated: "Session invalidated"
        case .readerTransceiveErrorTagNotConnected: "Tag is not connected"
        case .readerTransceiveErrorPacketTooLong: "Packet length has exceeded the limit"
        case .readerSessionInvalidationErrorUserCanceled: "Session invalidated by user"
        case .readerSessionInvalidationErrorSessionTimeout: "Session timeout"
        case .readerSessionInvalidationErrorSessionTerminatedUnexpectedly: "Session invalidated unexpectedly"
        case .readerSessionInvalidationErrorSystemIsBusy: "System resource unavailable"
        case .readerSessionInvalidationErrorFirstNDEFTagRead: "First NDEF tag read"
        case .tagCommandConfigurationErrorInvalidParameters: "Invalid configuration parameters"
        case .ndefReaderSessionErrorTagNotWritable: "NDEF tag is read only"
        case .ndefReaderSessionErrorTagUpdateFailure: "NDEF tag write failed"
        case .ndefReaderSessionErrorTagSizeTooSmall: "Insufficient space on NDEF tag"
        case .ndefReaderSessionErrorZeroLengthMessage: "NDEF tag does not contain any NDEF message"
        // The phone's texts for the following codes are unknown.
        case .paymentTagReaderSessionErrorLocationAuthorizationDenied: "Location authorization denied"
        case .paymentTagReaderSessionErrorLocationServiceRestricted: "Location service restricted"
        case .paymentTagReaderSessionErrorOnDeviceLocationUnavailable: "On-device location unavailable"
        }
    }
}

extension NFCReaderError {
    /// The code and the text, for a test's trace.
    var traceText: String { "error \(errorCode) \"\(localizedDescription)\"" }

    /// The result of a call, for a test's trace.
    static func traceText(of error: CommandError?) -> String {
        error.map { NFCReaderError($0).traceText } ?? "no error"
    }

    init(_ code: Code, reason: String, text: String? = nil) {
        var info: [String: Any] = [NSLocalizedFailureReasonErrorKey: reason]
        if let text { info[NSLocalizedDescriptionKey] = text }
        self.init(code, userInfo: info)
    }

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
                reason: "The tag is no longer available. Restart polling to find it again."
            )
        case .connectionExpired(let limit):
            self.init(
                .readerTransceiveErrorTagConnectionLost,
                reason: """
                    The tag was connected for \(limit.components.seconds) s, which is the limit. Restart polling to \
                    find it again.
                    """
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
            // Phones use this text if the tag is not formatted.
            if error.meansNotNDEF { text = "Tag Not NDEF formatted" }
        }
        self.init(code, reason: error.reason, text: text)
    }

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
    var readerError: NFCReaderError? {
        if case .failure(let error) = self { return NFCReaderError(error) }
        return nil
    }
}
