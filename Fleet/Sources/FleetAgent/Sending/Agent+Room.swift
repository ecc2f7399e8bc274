// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool

/// What is done when the spool has no room, and when it has room again.
extension Agent {
    /// How often it is looked whether there is room again, besides after acknowledgements.
    private static let roomDelay = Duration.seconds(10)

    /// Logs when the spool is full, and when it has room again.
    ///
    /// - Parameter shortage: why events were dropped just now; nil when there is room.
    func noteRoom(_ shortage: SpoolShortage?) {
        guard shortage != self.shortage else { return }
        self.shortage = shortage
        switch shortage {
        case .limit?: log("events-dropped", "The spool is full, and events are dropped. \(SpoolShortage.limit.advice)")
        case .disk?: log("events-dropped", "Events are dropped. \(SpoolShortage.disk.advice)")
        case nil: log("spool-room", "The spool has room.")
        }
        if shortage != nil { lookForRoomLater() }
    }

    /// Sends events that report what was dropped, if there is room for them now.
    func announceDropped() async {
        do throws(SpoolError) {
            let reports = try await spool.announceDropped(time: Timestamp.now)
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
