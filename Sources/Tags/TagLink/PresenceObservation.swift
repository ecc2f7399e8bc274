// SPDX-License-Identifier: Apache-2.0

/// Keeps a presence handler registered until it is released.
public final class PresenceObservation: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates an observation.
    ///
    /// - Parameter onCancel: removes the handler. Called when the observation is released.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    deinit {
        onCancel()
    }
}
