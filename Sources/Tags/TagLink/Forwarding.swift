// SPDX-License-Identifier: Apache-2.0

/// A driver that wraps another driver. It forwards every call that it does not implement itself.
///
/// Use it for wrappers that record, trace or change the calls to a reader. A method added to ``ReaderDriver`` then
/// needs forwarding only here, not in each wrapper.
package protocol ForwardingDriver: ReaderDriver {
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

/// A ``ForwardingDriver`` that wraps a reader whose host sends every frame.
package protocol ForwardingField: ForwardingDriver, FieldDriver {
    var field: any FieldDriver { get }
}

extension ForwardingField {
    package var target: any ReaderDriver { field }
    package var statistics: LinkStatistics { field.statistics }
    package func link(for technology: Technology) -> (any FrameLink)? { field.link(for: technology) }
    package func setCarrier(_ isOn: Bool) async throws(LinkError) { try await field.setCarrier(isOn) }
}

/// A link that wraps another link. It forwards every call that it does not implement itself.
package protocol ForwardingLink: FrameLink {
    var target: any FrameLink { get }
}

extension ForwardingLink {
    package var technology: Technology { target.technology }
    package var maximumFrameLength: Int { target.maximumFrameLength }
    package var statistics: LinkStatistics { target.statistics }
    package var countsAir: Bool { target.countsAir }
    package var authenticatesClassic: Bool { target.authenticatesClassic }
    package func resetField() async throws(LinkError) { try await target.resetField() }
}
