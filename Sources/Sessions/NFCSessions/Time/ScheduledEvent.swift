// SPDX-License-Identifier: Apache-2.0

/// A scheduled event of a clock.
public struct ScheduledEvent: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates an event.
    ///
    /// - Parameter onCancel: removes the event from its clock; does nothing if it has fired.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    /// Removes the event from its clock. Does nothing if it has fired.
    public func cancel() {
        onCancel()
    }
}
