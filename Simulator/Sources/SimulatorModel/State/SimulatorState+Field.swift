// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import TagLink
import TagTrace
import VirtualTags

extension SimulatorState {
    // MARK: Arrival and removal of tags

    /// Brings a tag near.
    mutating func bring(_ card: DrawerCard, isHeld: Bool) throws(SimulatorFailure) {
        guard try field.bring(card.id, card.tag, isHeld: isHeld) else {
            // The tag was already near. A new visit number keeps the end of an earlier tap from removing it.
            visits[card.id] = nextVisit()
            drawer.update(card.id, isStored: false) { _ in }
            return
        }
        drawer.update(card.id, isStored: false) { $0.visit() }
        visits[card.id] = nextVisit()
        noteArrival(card.id, isNear: true, "\(card.name) comes near")
        presenceChanged()
        let obstacles = background.machine.conditions.obstacles.filter { $0 != .readerSession }
        guard !isAppReading, !obstacles.isEmpty else { return }
        background.notRead(obstacles)
        note(.background, "Not read in the background: " + obstacles.map(\.reason).joined(separator: " "), tag: card.id)
    }

    /// Takes a tag away.
    mutating func remove(_ id: String, because reason: String = "leaves") {
        guard field.remove(id) else { return }
        journal.add(.remove(tag: id))
        left([id], because: reason)
    }

    /// Takes all tags away.
    mutating func removeAll() {
        let ids = field.removeAll()
        guard !ids.isEmpty else { return }
        for id in ids { journal.add(.remove(tag: id)) }
        left(ids, because: "leaves")
    }

    private mutating func left(_ ids: [String], because reason: String) {
        for id in ids {
            visits[id] = nil
            drawer.update(id, isStored: false) { _ in }
            noteArrival(id, isNear: false, "\(drawer[id]?.name ?? id) \(reason)")
        }
        presenceChanged()
    }

    private mutating func noteArrival(_ id: String, isNear: Bool, _ words: String) {
        var row = TraceRow(time: microseconds, kind: .presence, tag: id, words: words)
        row.isNear = isNear
        trace.add(row)
        dirty.insert(.summary)
    }

    private mutating func presenceChanged() {
        for client in apps.clients.values where client.watches {
            effects.append(.send(client.id, ["event": "presence"]))
        }
    }

    /// Tells background reading which tags an app has read, so that they don't count as new until they leave.
    mutating func reportAnsweredTags() {
        let identifiers = answeredTags.compactMap { drawer[$0]?.contents.uid }
        answeredTags = []
        if !identifiers.isEmpty { apply(background.handle(.readByApp(identifiers), now: now)) }
    }

    // MARK: Exchanges

    /// Exchanges a frame between a program and the tags near the phone.
    mutating func exchange(
        _ frame: Frame,
        _ technology: Technology,
        timeout: Airtime,
        source: String
    ) -> Field.Outcome {
        let only = field.near.count == 1 ? field.near[0].id : nil
        let outcome = field.exchange(frame, technology, timeout: timeout, switches)
        guard field.isCarrierOn else { return outcome }
        trace.add(
            Trace.Exchange(
                .frames(technology),
                request: frame,
                answer: outcome.result,
                duration: outcome.elapsed.duration
            ),
            timeout: timeout,
            elapsed: outcome.elapsed,
            time: microseconds,
            source: source,
            tag: only,
            isWrite: outcome.isWrite
        )
        dirty.insert(.summary)
        // While a program waits for its turn, background reading may still exchange frames.
        if turns.current?.isGranted == true, case .success = outcome.result {
            answeredTags.formUnion(field.near.map(\.id))
        }
        for kind in outcome.happened { journal.add(.fault(kind)) }
        if outcome.isWrite, switches.weakField { journal.add(.fault(.brownOut)) }
        if outcome.isWrite {
            let written = field.near.map(\.id) + outcome.left
            for id in written where drawer[id]?.technology == technology { drawer.update(id) { $0.wasWritten() } }
        }
        if !outcome.happened.isEmpty {
            if outcome.happened.contains(.loss) { switches.leaveAfter = nil }
            if outcome.happened.contains(.tear) { switches.tearWrite = nil }
            touch(.switches)
            if !outcome.left.isEmpty {
                left(
                    outcome.left,
                    because: outcome.happened.contains(.tear) ? "leaves in the middle of a write" : "leaves"
                )
            }
        }
        return outcome
    }

    /// Turns the field on or off.
    ///
    /// - Parameter isCall: whether a program asked for the change.
    mutating func setCarrier(_ isOn: Bool, source: String, isCall: Bool = true) {
        guard isCall || isOn != field.isCarrierOn else { return }
        field.setCarrier(isOn)
        trace.fieldChanged(isOn: isOn, isCall: isCall, time: microseconds, source: source)
        dirty.insert(.summary)
    }
}
