// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The answer to a Polling command.
public struct NFCFeliCaPollingResponse {
    /// The manufacture parameter (PMm): 8 bytes.
    public var manufactureParameter: Data
    /// The requested data, 2 bytes; nil when nothing was requested or the card does not report it.
    public var requestData: Data?

    /// Creates a value, for example for your own card class. Each argument sets the property of the same name.
    public init(manufactureParameter: Data, requestData: Data?) {
        self.manufactureParameter = manufactureParameter
        self.requestData = requestData
    }
}
