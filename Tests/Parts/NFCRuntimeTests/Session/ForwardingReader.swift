// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A reader that does what another one does, but for what its own type does in another way.
///
/// Nothing is forwarded that drivers have a default for.
protocol ForwardingReader: DiscoveringDriver {
    associatedtype Base: DiscoveringDriver
    var base: Base { get }
}

extension ForwardingReader {
    var name: String { base.name }
    var technologies: Set<Technology> { base.technologies }
    var statistics: LinkStatistics { base.statistics }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        base.observePresence(handler)
    }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        try await base.discover(technologies, systemCodes: systemCodes)
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) { try await base.select(tag) }
    func release() async { await base.release() }
}
