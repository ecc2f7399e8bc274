// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The answer to a Polling command.
public struct NFCFeliCaPollingResponse: Sendable {
    /// The manufacture parameter (PMm): 8 octets.
    public var manufactureParameter: Data
    /// What was asked for, 2 octets; nil when nothing was or the card does not say it.
    public var requestData: Data?
}
