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

    /// What went wrong. The error's static properties of the same names describe each code.
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
