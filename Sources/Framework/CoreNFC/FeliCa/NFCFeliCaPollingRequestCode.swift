// SPDX-License-Identifier: Apache-2.0

/// What a Polling command requests besides the manufacture parameter.
public enum NFCFeliCaPollingRequestCode: Int, Sendable {
    /// Nothing.
    case noRequest = 0
    /// The system code.
    case systemCode = 1
    /// The data rates.
    case communicationPerformance = 2

    /// Nothing.
    @available(*, deprecated, renamed: "noRequest")
    public static var PollingRequestCodeNoRequest: NFCFeliCaPollingRequestCode { .noRequest }
    /// The system code.
    @available(*, deprecated, renamed: "systemCode")
    public static var PollingRequestCodeSystemCode: NFCFeliCaPollingRequestCode { .systemCode }
    /// The data rates.
    @available(*, deprecated, renamed: "communicationPerformance")
    public static var PollingRequestCodeCommunicationPerformance: NFCFeliCaPollingRequestCode {
        .communicationPerformance
    }
}

/// What a Polling command requests besides the manufacture parameter.
@available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode")
public typealias PollingRequestCode = NFCFeliCaPollingRequestCode
