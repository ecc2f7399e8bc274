// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import VirtualTags

/// A field that tells when a look at it is over: then the reader turns its carrier off.
final class LoadField: FieldDriver {
    let base = VirtualField(technologies: [.nfcA])
    private let handlers = Mutex(Handlers())

    /// Members of a type, because each read of a function that is itself the value of a lock wraps the function once more.
    private struct Handlers {
        var looked: (@Sendable () -> Void)?
    }

    var name: String { base.name }
    var technologies: Set<Technology> { base.technologies }

    /// Sets what is called after each look, on the thread of the reader.
    func onLooked(_ handler: @escaping @Sendable () -> Void) { handlers.withLock { $0.looked = handler } }

    func link(for technology: Technology) -> (any FrameLink)? { base.link(for: technology) }

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        base.switchCarrier(isOn)
        if !isOn { handlers.withLock { $0.looked }?() }
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        base.observePresence(handler)
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { base.arrival(of: identifier) }
}
