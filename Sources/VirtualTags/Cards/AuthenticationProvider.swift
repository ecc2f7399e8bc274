// SPDX-License-Identifier: Apache-2.0

/// The cryptography of a card, which this module leaves out: it plugs in from a module that has it.
///
/// Without a provider a card behaves as one whose keys nobody knows. It answers the first step of an authentication
/// with a challenge, and refuses every second step.
public protocol AuthenticationProvider: Sendable {
    /// Begins an authentication.
    ///
    /// - Parameters:
    ///   - command: the native command: 0A, 1A or AA of MIFARE DESFire, 71 or 77 of its successors.
    ///   - key: the number of the key.
    ///   - application: the AID of the selected application, least significant octet first.
    /// - Returns: the card's encrypted challenge, or nil when it has no such key.
    mutating func begin(command: UInt8, key: UInt8, application: [UInt8]) -> [UInt8]?

    /// Ends an authentication.
    ///
    /// - Parameter proof: what the reader sent in the second step.
    /// - Returns: the card's own proof, or nil when the reader's was wrong.
    mutating func finish(_ proof: [UInt8]) -> [UInt8]?

    /// Forgets any authentication.
    mutating func reset()
}

/// Challenges of a card whose keys nobody knows: octets that look random, and are the same in every run.
struct UnknownKeys: AuthenticationProvider {
    private var random: SplitMix64

    /// Creates challenges that follow from the card's identifier.
    init(_ identifier: [UInt8]) {
        random = SplitMix64(seed: identifier.reduce(0) { $0 << 8 | UInt64($1) })
    }

    mutating func begin(command: UInt8, key: UInt8, application: [UInt8]) -> [UInt8]? {
        let length = command == 0x0A ? 8 : 16
        return (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    mutating func finish(_ proof: [UInt8]) -> [UInt8]? { nil }

    mutating func reset() {}
}
