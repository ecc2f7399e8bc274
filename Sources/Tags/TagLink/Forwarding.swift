// SPDX-License-Identifier: Apache-2.0

/// A driver around another one. It passes every call on, except those that it implements itself.
///
/// Use it for what records, traces or changes the calls to a reader: a call that is added to ``ReaderDriver`` then reaches
/// the reader without a change in each of them.
package protocol ForwardingDriver: ReaderDriver {
    /// The driver that gets the calls.
    var target: any ReaderDriver { get }
}

extension ForwardingDriver {
    package var name: String { target.name }
    package var technologies: Set<Technology> { target.technologies }
    package var statistics: LinkStatistics { target.statistics }
    package var executor: (any SerialExecutor & TaskExecutor)? { target.executor }
    package var wasAvailable: Bool { target.wasAvailable }
    package var reportsPresenceInTime: Bool { target.reportsPresenceInTime }

    package func prepare() async throws(LinkError) { try await target.prepare() }
    package func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        target.observePresence(handler)
    }
    package func arrival(of identifier: [UInt8]) -> UInt64? { target.arrival(of: identifier) }
    package func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        await target.isStillNear(identifier, since: arrival)
    }
}

/// A ``ForwardingDriver`` around a reader whose host sends every frame.
package protocol ForwardingField: ForwardingDriver, FieldDriver {
    /// The driver that gets the calls.
    var field: any FieldDriver { get }
}

extension ForwardingField {
    package var target: any ReaderDriver { field }
    package var statistics: LinkStatistics { field.statistics }
    package func link(for technology: Technology) -> (any FrameLink)? { field.link(for: technology) }
    package func setCarrier(_ isOn: Bool) async throws(LinkError) { try await field.setCarrier(isOn) }
}

/// A link around another one. It passes every call on, except those that it implements itself.
package protocol ForwardingLink: FrameLink {
    /// The link that gets the calls.
    var target: any FrameLink { get }
}

extension ForwardingLink {
    package var technology: Technology { target.technology }
    package var maximumFrameLength: Int { target.maximumFrameLength }
    package var statistics: LinkStatistics { target.statistics }
    package var countsAir: Bool { target.countsAir }
}
