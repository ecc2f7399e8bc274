// SPDX-License-Identifier: Apache-2.0

/// A message from the driver in pcscd over the reader's socket: kind, sequence number, length in four bytes, and the
/// bytes.
struct DriverMessage: Sendable, Equatable {
    /// The driver's request.
    enum Request: Sendable, Equatable {
        /// The driver has accepted the greeting, and uses this version of the protocol.
        case hello(version: UInt8)
        case power(EmulatedReader.Power)
        case transmit([UInt8])
        case control(UInt32, [UInt8])
        case attribute(UInt32)
    }

    var request: Request
    /// The number that the answer repeats.
    var sequence: UInt8

    /// The version that both sides use.
    static let version: UInt8 = 2
}
