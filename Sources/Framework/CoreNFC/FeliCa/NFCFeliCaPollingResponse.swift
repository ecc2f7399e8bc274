// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The answer to a Polling command.
public struct NFCFeliCaPollingResponse {
    /// The manufacture parameter (PMm): 8 octets.
    public var manufactureParameter: Data
    /// What was asked for, 2 octets; nil when nothing was or the card does not say it.
    public var requestData: Data?

    /// Creates a value, for a card of one's own for instance; each argument is the property of that name.
    public init(manufactureParameter: Data, requestData: Data?) {
        self.manufactureParameter = manufactureParameter
        self.requestData = requestData
    }
}
