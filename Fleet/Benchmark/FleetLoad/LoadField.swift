// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import VirtualTags

/// A field that reports the end of each poll, when the reader turns its carrier off.
final class LoadField: FieldDriver {
    let base = VirtualField(technologies: [.nfcA])
    private let handlers = Mutex(Handlers())

    /// A struct, because Swift wraps a bare closure once more on each access to the lock's value.
    private struct Handlers {
        var pollEnd: (@Sendable () -> Void)?
    }

    var name: String { base.name }
    var technologies: Set<Technology> { base.technologies }

    /// Sets the function to call after each poll, on the reader's thread.
    func onPollEnd(_ handler: @escaping @Sendable () -> Void) { handlers.withLock { $0.pollEnd = handler } }

    func link(for technology: Technology) -> (any FrameLink)? { base.link(for: technology) }

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        base.switchCarrier(isOn)
        if !isOn { handlers.withLock { $0.pollEnd }?() }
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        base.observePresence(handler)
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { base.arrival(of: identifier) }
}
