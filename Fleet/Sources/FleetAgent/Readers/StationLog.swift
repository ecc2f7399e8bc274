// SPDX-License-Identifier: Apache-2.0
import FleetModel
import TagProtocols

/// Makes events of what happens at a reader.
struct StationLog {
    private var stays: TagStays
    private var isAvailable: Bool?
    /// The tags that are near and can't be read, whose failures were reported.
    private var unreadable: Set<[UInt8]> = []
    private var isSweepDue = false

    init(delay: Duration) { stays = TagStays(delay: delay) }

    /// Handles what has happened.
    ///
    /// - Parameter schedule: has a sweep come after a delay.
    mutating func take(
        _ happening: ReaderStation.Happening,
        _ handler: StationHandler,
        schedule: (Duration) -> Void
    ) async {
        switch happening {
        case .available:
            isAvailable = true
            await handler.note(isAvailable: true, reason: nil)
        case .unavailable(let reason):
            let wasAvailable = isAvailable == true
            isAvailable = false
            unreadable = []
            let departures = stays.clear(now: handler.now)
            await store(departures, wasAvailable ? [Self.failure("reader-unavailable", reason)] : [], handler)
            await handler.note(isAvailable: false, reason: reason)
        case .near(let identifiers):
            stays.near(identifiers, now: handler.now)
            unreadable.formIntersection(identifiers)
            scheduleSweep(handler.now, schedule)
        case .seen(let identifier, let reply): reply(stays.continues(identifier, now: handler.now))
        case .arrived(let report, let reply): reply(await arrive(report, handler))
        case .unreadable(let identifier, let error):
            guard unreadable.insert(identifier).inserted else { return }
            var failure = Self.failure("tag-unreadable", error.reason)
            let names = handler.names(of: identifier)
            failure.subject = names?.subject
            failure.members += names?.members ?? []
            await store([], [failure], handler)
        case .sweep:
            isSweepDue = false
            await store(stays.sweep(now: handler.now), [], handler)
            scheduleSweep(handler.now, schedule)
        case .end: await store(stays.clear(now: handler.now), [], handler)
        }
    }

    private mutating func arrive(_ report: TagReport, _ handler: StationHandler) async -> WorkOrder? {
        let now = handler.now
        let departures = stays.makeRoom(for: report.identifier, now: now)
        guard let event = await handler.event(of: report) else { return nil }
        let id = await store(departures, [event], handler)
        stays.add(report.identifier, event: id, now: now)
        unreadable.remove(report.identifier)
        return await handler.jobs.order(for: report.identifier, at: handler.reader)
    }

    private mutating func scheduleSweep(_ now: Duration, _ schedule: (Duration) -> Void) {
        guard !isSweepDue, let limit = stays.nextLimit else { return }
        isSweepDue = true
        schedule(max(limit - now, .milliseconds(1)))
    }

    @discardableResult
    private func store(
        _ departures: [TagStays.Departure],
        _ others: [FleetEvent],
        _ handler: StationHandler
    ) async -> String? {
        let removals = departures.map { departure in
            let names = handler.names(of: departure.identifier)
            var members = names?.members ?? []
            if let event = departure.event { members.append(.init("tag_event", .string(event))) }
            members.append(.init("duration_ms", .integer(Int(departure.duration / .milliseconds(1)))))
            return FleetEvent(.removed, time: Timestamp.now, subject: names?.subject, members: members)
        }
        guard !(removals + others).isEmpty else { return nil }
        return await handler.store(removals + others)
    }

    private static func failure(_ code: String, _ reason: String) -> FleetEvent {
        FleetEvent(.error, time: Timestamp.now, ["code": .string(code), "message": .string(reason)])
    }
}
