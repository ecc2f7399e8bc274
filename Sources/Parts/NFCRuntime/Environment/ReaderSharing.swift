// SPDX-License-Identifier: Apache-2.0

/// What an app wants the reader for.
public enum ReaderPurpose: Sendable, Hashable {
    /// A reader session.
    case session
    /// A card that the app is itself.
    case card
}

/// Asks the service that reads tags in the background to give the reader up.
public protocol ReaderSharing: Sendable {
    /// Asks for the reader, and waits until the service has given it up.
    ///
    /// - Parameters:
    ///   - purpose: what the reader is wanted for.
    ///   - clock: the time by which the wait is limited.
    /// - Returns: what keeps the reader for as long as it lives; nil when there is no such service.
    func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)?
}

/// Keeps the reader from the service for as long as it lives.
public protocol ReaderClaim: AnyObject, Sendable {
    /// Reports tags that the app's session has found. The service does not offer those that stay when the session has ended.
    ///
    /// - Parameter identifiers: the tags' identifiers.
    func note(_ identifiers: [[UInt8]])
}
