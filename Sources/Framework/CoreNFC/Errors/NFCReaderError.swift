// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// An error of a reader session or of a command to a tag.
///
/// Delegates and completion handlers receive only errors of this type. So `as? NFCReaderError`,
/// `catch NFCReaderError.readerTransceiveErrorTagConnectionLost` and `error as NSError` all work.
/// `localizedDescription` is the phone's English text. `localizedFailureReason` of the `NSError`, if it is not nil,
/// describes in more detail what happened on the tag. `print` shows both.
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
    ///   - code: what went wrong.
    ///   - userInfo: details; a description in it replaces the text.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        var info: [String: Any] = [NSLocalizedDescriptionKey: code.text]
        info.merge(userInfo) { _, given in given }
        _nsError = NSError(domain: NFCErrorDomain, code: code.rawValue, userInfo: info)
    }

    /// The domain: ``NFCErrorDomain``.
    public static var errorDomain: String { NFCErrorDomain }

    /// The domain, for the bridge to `NSError`.
    public static var _nsErrorDomain: String { NFCErrorDomain }

    /// What went wrong.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        public typealias _ErrorType = NFCReaderError

        /// The device or the tag does not support the feature.
        case readerErrorUnsupportedFeature = 1
        /// The app lacks an entitlement or an entry in its property list.
        case readerErrorSecurityViolation = 2
        /// A parameter is wrong.
        case readerErrorInvalidParameter = 3
        /// The length of a parameter is wrong.
        case readerErrorInvalidParameterLength = 4
        /// A parameter is out of range.
        case readerErrorParameterOutOfBound = 5
        /// The radio is off.
        case readerErrorRadioDisabled = 6
        /// The app or the user is not eligible for the feature.
        case readerErrorIneligible = 7
        /// The user did not allow the app to use the feature.
        case readerErrorAccessNotAccepted = 8

        /// The reader lost the tag.
        case readerTransceiveErrorTagConnectionLost = 100
        /// All retries failed.
        case readerTransceiveErrorRetryExceeded = 101
        /// The tag answered with an error, answered incorrectly, or did not answer.
        case readerTransceiveErrorTagResponseError = 102
        /// The session has ended.
        case readerTransceiveErrorSessionInvalidated = 103
        /// The tag is not the connected one.
        case readerTransceiveErrorTagNotConnected = 104
        /// The packet is longer than the tag or the reader can take.
        case readerTransceiveErrorPacketTooLong = 105

        /// The user cancelled the session, or the app invalidated it.
        case readerSessionInvalidationErrorUserCanceled = 200
        /// The session reached its time limit.
        case readerSessionInvalidationErrorSessionTimeout = 201
        /// The session ended unexpectedly.
        case readerSessionInvalidationErrorSessionTerminatedUnexpectedly = 202
        /// The system is busy.
        case readerSessionInvalidationErrorSystemIsBusy = 203
        /// The session was to read one tag, and it has.
        case readerSessionInvalidationErrorFirstNDEFTagRead = 204

        /// A command configuration has invalid parameters.
        case tagCommandConfigurationErrorInvalidParameters = 300

        /// The tag can't be written.
        case ndefReaderSessionErrorTagNotWritable = 400
        /// The tag did not accept the write.
        case ndefReaderSessionErrorTagUpdateFailure = 401
        /// The message is longer than the tag's capacity.
        case ndefReaderSessionErrorTagSizeTooSmall = 402
        /// The tag holds no message.
        case ndefReaderSessionErrorZeroLengthMessage = 403

        /// The user does not let the app use the location. A payment session needs it on a phone.
        case paymentTagReaderSessionErrorLocationAuthorizationDenied = 500
        /// A restriction forbids the app to use the location.
        case paymentTagReaderSessionErrorLocationServiceRestricted = 501
        /// The location does not come from the device itself.
        case paymentTagReaderSessionErrorOnDeviceLocationUnavailable = 502
    }
}

extension NFCReaderError: CustomStringConvertible {
    /// The error as a phone prints it: with its text and its user info.
    ///
    /// Foundation on Linux would print the reason in place of the text, or `(null)` without a reason.
    public var description: String {
        let start = "Error Domain=\(_nsError.domain) Code=\(_nsError.code)"
        let info = _nsError.userInfo
        guard !info.isEmpty else { return "\(start) \"(null)\"" }
        // The text comes first; a phone's order is undefined.
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
/// ISO/IEC 15693-3, 7.4.2 defines the codes: 0x10 for a block that does not exist, for example. The code of the
/// ``NFCReaderError`` is `readerTransceiveErrorTagResponseError`.
public let NFCISO15693TagResponseErrorKey: String = "ISO15693TagResponseErrorCode"

/// The user info key that marks an answer whose length does not fit its command.
///
/// The key is present only for such an answer. Its value is `true`, and the code of the ``NFCReaderError`` is
/// `readerTransceiveErrorTagResponseError`.
public let NFCTagResponseUnexpectedLengthErrorKey: String = "TagResponseInvalidLength"
