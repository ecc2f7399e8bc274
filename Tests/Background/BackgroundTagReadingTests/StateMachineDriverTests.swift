// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

struct StateMachineDriverTests {
    @Test func `state machine driver: events before it begins wait, and are handled after the first events`() {
        let loop = StateMachineDriver { .zero }
        var actions: [BackgroundReader.Action] = []
        loop.perform = { actions.append($0) }
        loop.handle(.conditions(ReadingConditions()))
        loop.handle(.lock(isLocked: true))
        #expect(actions == [] && !loop.machine.isLooking && !loop.machine.isLocked)
        loop.begin([.conditions(ReadingConditions(obstacles: [.displayOff])), .lock(isLocked: false)])
        #expect(actions == [.startLooking] && loop.machine.isLooking && loop.machine.isLocked)
        // From now on none waits.
        loop.handle(.lock(isLocked: false))
        #expect(!loop.machine.isLocked)
        loop.handle(.conditions(ReadingConditions(obstacles: [.displayOff])))
        #expect(actions == [.startLooking, .stopLooking])
    }

    @Test func `state machine driver: an event caused by an action waits for the other actions`() throws {
        let loop = StateMachineDriver { .zero }
        let entry = InboxEntry(id: InboxEntry.ID(received: 1, number: 1), message: try Fixture.message(Fixture.link))
        let earlier = PreviousRun(entries: [entry], shown: [entry.id])
        loop.begin([.router(try Fixture.router()), .restored(earlier), .lock(isLocked: true)])
        var steps: [String] = []
        loop.perform = { [weak loop] action in
            switch action {
            case .mark(_, let mark):
                steps.append(mark == .wanted ? "wanted" : "unmarked")
                if mark == .wanted { loop?.handle(.lock(isLocked: false)) }
            case .announce: steps.append("announce")
            case .requestUnlock: steps.append("unlock")
            case .deliver: steps.append("deliver")
            default: steps.append("other")
            }
        }
        loop.handle(.activated(entry.id))
        #expect(steps == ["wanted", "announce", "unlock", "unmarked", "deliver"])
    }

    @Test func `state machine driver: the machine gets the time of each event`() throws {
        var now = Duration.zero
        let loop = StateMachineDriver { now }
        loop.begin([.router(try Fixture.router()), .conditions(ReadingConditions())])
        let entry = InboxEntry(id: InboxEntry.ID(received: 1, number: 1), message: try Fixture.message(Fixture.link))
        loop.handle(.restored(PreviousRun(entries: [entry], shown: [entry.id])))
        var stored: [InboxEntry] = []
        loop.perform = { if case .store(let entry) = $0 { stored.append(entry) } }
        // What an earlier run has left counts as new after a while.
        now = .seconds(60)
        let reading = TagReading(identifier: [1], message: entry.message)
        loop.handle(.read(reading, InboxEntry.ID(received: 2, number: 1)))
        #expect(stored.map(\.message) == [entry.message])
    }
}
