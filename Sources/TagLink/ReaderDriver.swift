// SPDX-License-Identifier: Apache-2.0

/// A reader: the thing that makes the field.
///
/// A driver conforms to ``FieldDriver`` when the host sends every frame itself, activation included. Readers whose chip
/// activates tags by itself get a protocol of their own beside it.
public protocol ReaderDriver: AnyObject, Sendable {
    /// The reader's name as people know it, such as `virtual` or `ACS ACR122U PICC Interface 00 00`.
    var name: String { get }

    /// The technologies that the reader can poll for.
    var technologies: Set<Technology> { get }

    /// Calls `handler` whenever a tag may have come or gone, until the returned observation is cancelled or released.
    ///
    /// - Parameter handler: called on any thread, never under the driver's locks.
    /// - Returns: the observation, or nil when the reader can't tell and has to be polled by time.
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation?
}

/// A reader whose host sends every frame, from the first REQA on.
public protocol FieldDriver: ReaderDriver {
    /// The link to whatever is in the field, in one technology. The same object for the same technology.
    ///
    /// - Returns: the link, or nil when the reader does not have the technology.
    func link(for technology: Technology) -> (any FrameLink)?

    /// Turns the carrier on or off. Tags lose power, and with it their state, when it is off.
    func setCarrier(_ isOn: Bool) async throws(LinkError)
}

/// Keeps a presence handler registered for as long as it lives.
public final class PresenceObservation: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates an observation.
    ///
    /// - Parameter onCancel: takes the handler out again; called when the observation is released.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    deinit {
        onCancel()
    }
}
