// SPDX-License-Identifier: Apache-2.0

extension NFCReaderError {
    /// The device or the tag does not support the feature.
    public static var readerErrorUnsupportedFeature: Code { .readerErrorUnsupportedFeature }
    /// The app lacks an entitlement or an entry in its property list.
    public static var readerErrorSecurityViolation: Code { .readerErrorSecurityViolation }
    /// A parameter is wrong.
    public static var readerErrorInvalidParameter: Code { .readerErrorInvalidParameter }
    /// The length of a parameter is wrong.
    public static var readerErrorInvalidParameterLength: Code { .readerErrorInvalidParameterLength }
    /// A parameter is out of range.
    public static var readerErrorParameterOutOfBound: Code { .readerErrorParameterOutOfBound }
    /// The radio is off.
    public static var readerErrorRadioDisabled: Code { .readerErrorRadioDisabled }
    /// The app or the user is not eligible for the feature.
    public static var readerErrorIneligible: Code { .readerErrorIneligible }
    /// The user did not allow the app to use the feature.
    public static var readerErrorAccessNotAccepted: Code { .readerErrorAccessNotAccepted }

    /// The reader lost the tag.
    public static var readerTransceiveErrorTagConnectionLost: Code { .readerTransceiveErrorTagConnectionLost }
    /// All retries failed.
    public static var readerTransceiveErrorRetryExceeded: Code { .readerTransceiveErrorRetryExceeded }
    /// The tag answered with an error, answered incorrectly, or did not answer.
    public static var readerTransceiveErrorTagResponseError: Code { .readerTransceiveErrorTagResponseError }
    /// The session has ended.
    public static var readerTransceiveErrorSessionInvalidated: Code { .readerTransceiveErrorSessionInvalidated }
    /// The tag is not the connected one.
    public static var readerTransceiveErrorTagNotConnected: Code { .readerTransceiveErrorTagNotConnected }
    /// The packet is longer than the tag or the reader can take.
    public static var readerTransceiveErrorPacketTooLong: Code { .readerTransceiveErrorPacketTooLong }

    /// The user cancelled the session, or the app invalidated it.
    public static var readerSessionInvalidationErrorUserCanceled: Code {
        .readerSessionInvalidationErrorUserCanceled
    }
    /// The session reached its time limit.
    public static var readerSessionInvalidationErrorSessionTimeout: Code {
        .readerSessionInvalidationErrorSessionTimeout
    }
    /// The session ended unexpectedly.
    public static var readerSessionInvalidationErrorSessionTerminatedUnexpectedly: Code {
        .readerSessionInvalidationErrorSessionTerminatedUnexpectedly
    }
    /// The system is busy.
    public static var readerSessionInvalidationErrorSystemIsBusy: Code {
        .readerSessionInvalidationErrorSystemIsBusy
    }
    /// The session was to read one tag, and it has.
    public static var readerSessionInvalidationErrorFirstNDEFTagRead: Code {
        .readerSessionInvalidationErrorFirstNDEFTagRead
    }

    /// A command configuration has invalid parameters.
    public static var tagCommandConfigurationErrorInvalidParameters: Code {
        .tagCommandConfigurationErrorInvalidParameters
    }

    /// The tag can't be written.
    public static var ndefReaderSessionErrorTagNotWritable: Code { .ndefReaderSessionErrorTagNotWritable }
    /// The tag did not accept the write.
    public static var ndefReaderSessionErrorTagUpdateFailure: Code { .ndefReaderSessionErrorTagUpdateFailure }
    /// The message is longer than the tag's capacity.
    public static var ndefReaderSessionErrorTagSizeTooSmall: Code { .ndefReaderSessionErrorTagSizeTooSmall }
    /// The tag holds no message.
    public static var ndefReaderSessionErrorZeroLengthMessage: Code { .ndefReaderSessionErrorZeroLengthMessage }

    /// The user does not let the app use the location. A payment session needs it on a phone.
    public static var paymentTagReaderSessionErrorLocationAuthorizationDenied: Code {
        .paymentTagReaderSessionErrorLocationAuthorizationDenied
    }
    /// A restriction forbids the app to use the location.
    public static var paymentTagReaderSessionErrorLocationServiceRestricted: Code {
        .paymentTagReaderSessionErrorLocationServiceRestricted
    }
    /// The location does not come from the device itself.
    public static var paymentTagReaderSessionErrorOnDeviceLocationUnavailable: Code {
        .paymentTagReaderSessionErrorOnDeviceLocationUnavailable
    }
}

extension NFCReaderError.Code {
    /// The phone's English text. Clients compare it.
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
        // The phone's text for these is not known.
        case .paymentTagReaderSessionErrorLocationAuthorizationDenied: "Location authorization denied"
        case .paymentTagReaderSessionErrorLocationServiceRestricted: "Location service restricted"
        case .paymentTagReaderSessionErrorOnDeviceLocationUnavailable: "On-device location unavailable"
        }
    }
}
