// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A reader that does what another one does, but for what its own type does in another way.
///
/// Nothing is forwarded that drivers have a default for.
package protocol ForwardingReader: DiscoveringDriver {
    associatedtype Base: DiscoveringDriver
    var base: Base { get }
}

extension ForwardingReader {
    package var name: String { base.name }
    package var technologies: Set<Technology> { base.technologies }
    package var statistics: LinkStatistics { base.statistics }

    package func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        base.observePresence(handler)
    }

    package func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag] {
        try await base.discover(technologies, systemCodes: systemCodes)
    }

    package func select(_ tag: DiscoveredTag) async throws(LinkError) { try await base.select(tag) }
    package func release() async { await base.release() }
}
