// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool

/// Handling a full spool, and its recovery.
extension Agent {
    /// How often to check for free space, in addition to checking after acknowledgements.
    private static let roomDelay = Duration.seconds(10)

    /// Logs when the spool becomes full, and when it has space again.
    ///
    /// - Parameter shortage: why there is no space; nil if there is.
    func noteRoom(_ shortage: SpoolShortage?) {
        guard shortage != self.shortage else { return }
        self.shortage = shortage
        switch shortage {
        case .limit?: log("events-dropped", "The spool is full, so events are dropped. \(SpoolShortage.limit.advice)")
        case .disk?: log("spool-full", "Events are sent without being stored. \(SpoolShortage.disk.advice)")
        case nil: log("spool-room", "The spool has room again.")
        }
        if outbox.isConnected { publishInfo() }
        if shortage != nil { lookForRoomLater() }
    }

    /// The maximum number of events kept in memory because the disk is full.
    private static let maximumUnstored = 100

    /// Keeps events that did not fit on the disk until they are acknowledged.
    func keepUnstored(_ events: some Sequence<StoredEvent>) async {
        unstoredEvents += events.filter { !$0.isStored }
        let excess = unstoredEvents.count - Self.maximumUnstored
        guard excess > 0 else { return }
        // Events in flight are not lost: the broker may acknowledge them.
        let lost = unstoredEvents.filter { outbox.inFlight[$0.number] == nil }.prefix(excess)
        let numbers = Set(lost.map(\.number))
        unstoredEvents.removeAll { numbers.contains($0.number) }
        noteRoom(.disk)
        do throws(SpoolError) {
            try await spool.drop(lost.map(\.place))
        } catch {
            log("spool", "\(lost.count) events were lost. \(error.reason)")
        }
    }

    /// Stores the events waiting in memory, if there is space.
    func storeUnstored() async {
        // Events before the last event sent are not read from the spool again, so keep them in memory until they are
        // sent.
        let events = unstoredEvents.filter { outbox.inFlight[$0.number] != nil || $0.number > outbox.lastSent }
        guard !events.isEmpty, let unstored = try? await spool.store(events) else { return }
        let stored = Set(events.map(\.number)).subtracting(unstored.map(\.number))
        unstoredEvents.removeAll { stored.contains($0.number) }
    }

    /// Sends events that report dropped events, if there is space.
    func announceDropped() async {
        await storeUnstored()
        do throws(SpoolError) {
            let reports = try await spool.announceDropped(time: Timestamp.now, after: shortage)
            if !reports.events.isEmpty { sendOrPump(reports) }
            noteRoom(reports.shortage)
        } catch {
            if error.code == .diskFull { noteRoom(.disk) }
        }
    }

    private func lookForRoomLater() {
        guard !looksForRoom else { return }
        looksForRoom = true
        later(Self.roomDelay) { await $0.lookForRoom() }
    }

    private func lookForRoom() async {
        looksForRoom = false
        guard shortage != nil, !isStopping else { return }
        await announceDropped()
        if shortage != nil { lookForRoomLater() }
    }
}
