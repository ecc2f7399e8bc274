// SPDX-License-Identifier: Apache-2.0
import FleetModel
import TagProtocols

/// Creates the events for what happens at a reader.
struct StationLog {
    private var stays: TagStays
    private var isAvailable: Bool?
    /// Nearby tags that can't be read and whose errors have been reported.
    private var unreadable: Set<[UInt8]> = []
    private var isSweepDue = false
    /// The arrival events of the tags on the reader.
    private var arrivals: [[UInt8]: FleetEvent] = [:]

    init(delay: Duration) { stays = TagStays(delay: delay) }

    /// Handles one event at the reader.
    ///
    /// - Parameter schedule: schedules a sweep after a delay.
    mutating func take(
        _ event: ReaderStation.Event,
        _ handler: StationHandler,
        schedule: (Duration) -> Void
    ) async {
        switch event {
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
        arrivals[report.identifier] = event
        await handler.note(tags: tags)
        unreadable.remove(report.identifier)
        return await handler.jobs.order(for: report.identifier, at: handler.reader)
    }

    private mutating func scheduleSweep(_ now: Duration, _ schedule: (Duration) -> Void) {
        guard !isSweepDue, let limit = stays.nextLimit else { return }
        isSweepDue = true
        schedule(max(limit - now, .milliseconds(1)))
    }

    /// The tags on the reader, in order of arrival.
    private var tags: JSONValue {
        let names: Set = ["uid", "uid_hash", "tag_id", "allowed"]
        return .array(
            stays.stays.compactMap { stay in
                arrivals[stay.identifier].map { event in
                    .object(
                        [.init("time", .string(Timestamp.text(event.time)))]
                            + event.members.filter { names.contains($0.name) }
                    )
                }
            }
        )
    }

    @discardableResult
    private mutating func store(
        _ departures: [TagStays.Departure],
        _ others: [FleetEvent],
        _ handler: StationHandler
    ) async -> String? {
        let removals = departures.map { departure in
            let names = handler.names(of: departure.identifier)
            let arrival = arrivals.removeValue(forKey: departure.identifier)
            // An ID from a link on the tag is known only from the arrival event.
            var members = (names?.members ?? []).map { member in
                arrival?.members.first { $0.name == member.name } ?? member
            }
            if let event = departure.event { members.append(.init("tag_event", .string(event))) }
            members.append(.init("duration_ms", .integer(Int(departure.duration / .milliseconds(1)))))
            return FleetEvent(.removed, time: Timestamp.now, subject: names?.subject, members: members)
        }
        guard !(removals + others).isEmpty else { return nil }
        let id = await handler.store(removals + others)
        if !removals.isEmpty { await handler.note(tags: tags) }
        return id
    }

    private static func failure(_ code: String, _ reason: String) -> FleetEvent {
        FleetEvent(.error, time: Timestamp.now, ["code": .string(code), "message": .string(reason)])
    }
}
