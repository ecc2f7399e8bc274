// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// An error of a reader session or of a command to a tag.
///
/// Every error that a delegate or a completion handler is given is of this type, so `as? NFCReaderError`,
/// `catch NFCReaderError.readerTransceiveErrorTagConnectionLost` and `error as NSError` all work.
/// `localizedDescription` is the phone's English text; `localizedFailureReason` of the `NSError`, where there is one,
/// says what happened on the tag in more words. `print` shows both.
public struct NFCReaderError: _BridgedStoredNSError {
    /// The error behind the value, in ``NFCErrorDomain``.
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
    ///   - userInfo: more about it; a description in it replaces the text.
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

        /// The device, or the tag, does not have the feature.
        case readerErrorUnsupportedFeature = 1
        /// The app lacks an entitlement or an entry in its property list.
        case readerErrorSecurityViolation = 2
        /// A parameter is wrong.
        case readerErrorInvalidParameter = 3
        /// The length of a parameter is wrong.
        case readerErrorInvalidParameterLength = 4
        /// A parameter is outside of its range.
        case readerErrorParameterOutOfBound = 5
        /// The radio is off.
        case readerErrorRadioDisabled = 6
        /// The app or the person is not eligible for the feature.
        case readerErrorIneligible = 7
        /// The person did not accept that the app uses the feature.
        case readerErrorAccessNotAccepted = 8

        /// The reader lost the tag.
        case readerTransceiveErrorTagConnectionLost = 100
        /// Too many retries.
        case readerTransceiveErrorRetryExceeded = 101
        /// The tag answered with an error, wrongly, or not at all.
        case readerTransceiveErrorTagResponseError = 102
        /// The session has ended.
        case readerTransceiveErrorSessionInvalidated = 103
        /// The tag is not the connected one.
        case readerTransceiveErrorTagNotConnected = 104
        /// The packet is longer than the tag or the reader can take.
        case readerTransceiveErrorPacketTooLong = 105

        /// The person cancelled the session, or the app invalidated it.
        case readerSessionInvalidationErrorUserCanceled = 200
        /// The session reached its limit of time.
        case readerSessionInvalidationErrorSessionTimeout = 201
        /// The session ended unexpectedly.
        case readerSessionInvalidationErrorSessionTerminatedUnexpectedly = 202
        /// The system is busy.
        case readerSessionInvalidationErrorSystemIsBusy = 203
        /// The session was to read one tag, and has.
        case readerSessionInvalidationErrorFirstNDEFTagRead = 204

        /// The configuration of a command has wrong parameters.
        case tagCommandConfigurationErrorInvalidParameters = 300

        /// The tag can't be written.
        case ndefReaderSessionErrorTagNotWritable = 400
        /// The tag did not take the write.
        case ndefReaderSessionErrorTagUpdateFailure = 401
        /// The message is longer than the tag's capacity.
        case ndefReaderSessionErrorTagSizeTooSmall = 402
        /// The tag holds no message.
        case ndefReaderSessionErrorZeroLengthMessage = 403

        /// The person does not let the app use the location, which a payment session needs on a phone.
        case paymentTagReaderSessionErrorLocationAuthorizationDenied = 500
        /// The app may not use the location, because of a restriction.
        case paymentTagReaderSessionErrorLocationServiceRestricted = 501
        /// The location does not come from the device itself.
        case paymentTagReaderSessionErrorOnDeviceLocationUnavailable = 502
    }
}
