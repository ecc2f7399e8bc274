// SPDX-License-Identifier: Apache-2.0

/// Keeps the reader from the service while it exists.
public protocol ReaderClaim: AnyObject, Sendable {
    /// Reports tags that the app's session has found. The service does not offer them again if they are still near
    /// afterwards.
    ///
    /// - Parameter identifiers: the tags' identifiers.
    func note(_ identifiers: [[UInt8]])
}
