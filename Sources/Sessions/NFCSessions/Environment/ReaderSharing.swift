// SPDX-License-Identifier: Apache-2.0

/// Asks the background service to release the reader.
public protocol ReaderSharing: Sendable {
    /// Asks for the reader, and waits until the service has released it.
    ///
    /// - Parameters:
    ///   - purpose: what the reader is needed for.
    ///   - clock: the clock for the time limit.
    /// - Returns: keeps the reader while it exists; nil when there is no service.
    func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)?
}
