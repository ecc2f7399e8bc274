// SPDX-License-Identifier: Apache-2.0

/// Why a peer could not be talked to.
public struct PeerError: Error, CustomStringConvertible {
    /// What happened, as a sentence.
    public var description: String

    /// Creates an error.
    public init(_ description: String) {
        self.description = description
    }
}
