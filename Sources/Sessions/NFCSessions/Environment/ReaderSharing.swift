// SPDX-License-Identifier: Apache-2.0

/// Asks the background service to release the reader.
public protocol ReaderSharing: Sendable {
    /// Asks for the reader, and waits until the service has released it.
    ///
    /// - Returns: keeps the reader while it exists; nil when there is no service.
    func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)?
}

/// Keeps the reader from the service while it exists.
public protocol ReaderClaim: AnyObject, Sendable {
    /// Reports tags that the app's session has found. The service does not offer them again if they are still near
    /// afterwards.
    func note(_ identifiers: [[UInt8]])
}

/// What an app needs the reader for.
public enum ReaderPurpose: UInt8, Sendable, Hashable {
    /// A reader session.
    case session = 0x52
    /// To act as a card.
    case card = 0x43
}
