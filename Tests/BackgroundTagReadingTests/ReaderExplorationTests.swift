// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Walks every row of inputs up to a length, and holds each step against what must always be so.
@Suite struct `Reading in the background, every way` {
    private enum Step: CaseIterable {
        case readA, readB, leave, stop, start, lock, unlock, stored, announced, activate, delivered, failed
    }

    /// A machine, and what an onlooker knows of it.
    private struct World {
        var reader: BackgroundReader
        var now = Duration.zero
        var number: UInt32 = 0
        var isReading = true
        var isLocked = false
        var last: InboxEntry.ID?
        var stored: Set<InboxEntry.ID> = []
        var announced: Set<InboxEntry.ID> = []
        var activated: Set<InboxEntry.ID> = []
        var opening: Set<InboxEntry.ID> = []
        var removed: Set<InboxEntry.ID> = []
        var near: Set<UInt8> = []
        var problems: [String] = []

        mutating func take(_ step: Step, _ messages: [[UInt8]]) {
            now += .seconds(3)
            let input: BackgroundReader.Input
            var arrival: UInt8?
            switch step {
            case .readA, .readB:
                let tag: UInt8 = step == .readA ? 1 : 2
                number += 1
                let id = InboxEntry.ID(received: 1, number: number)
                input = .read(TagReading(identifier: [tag], message: messages[Int(tag) - 1]), id)
                arrival = isReading && near.insert(tag).inserted ? tag : nil
            case .leave:
                input = .nothingNear
                near = []
            case .stop, .start:
                input = .conditions(ReadingConditions(isDisplayOn: step == .start))
                // Three seconds after it began again, whatever was near has left.
                if step == .start, !isReading { near = [] }
            case .lock, .unlock: input = .lock(isLocked: step == .lock)
            default:
                guard let last else { return }
                switch step {
                case .stored: input = .stored(last, isKept: true)
                case .announced: input = .announced(last)
                case .activate:
                    input = .activated(last)
                    activated.insert(last)
                case .delivered: input = .delivered(last)
                default: input = .deliveryFailed(last)
                }
            }
            let actions = reader.handle(input, now: now)
            if step == .stop || step == .start { isReading = step == .start }
            if step == .lock || step == .unlock { isLocked = step == .lock }
            check(actions, step, isArrival: arrival != nil)
        }

        private mutating func check(_ actions: [BackgroundReader.Action], _ step: Step, isArrival: Bool) {
            var stores = 0
            for action in actions {
                switch action {
                case .startReading: expect(step == .start, "starts without a reason")
                case .stopReading: expect(step == .stop, "stops without a reason")
                case .store(let entry):
                    stores += 1
                    expect(isReading, "stores while nothing is read")
                    expect(stored.insert(entry.id).inserted, "stores twice")
                    last = entry.id
                case .announce(let id, _):
                    expect(stored.contains(id), "announces before it stores")
                    expect(announced.insert(id).inserted, "announces twice")
                case .markAnnounced(let id): expect(stored.contains(id), "marks what is not stored")
                case .deliver(let id, _):
                    expect(!isLocked, "delivers while locked")
                    expect(activated.contains(id), "delivers what nobody asked for")
                    expect(!removed.contains(id), "delivers what is gone")
                    expect(opening.insert(id).inserted, "delivers twice")
                case .remove(let id):
                    expect(step == .delivered && opening.contains(id), "removes what was not delivered")
                    removed.insert(id)
                case .requestUnlock: expect(isLocked && step == .activate, "asks to unlock for nothing")
                case .withdraw, .note: break
                }
            }
            if step == .failed || step == .delivered, let last {
                opening.remove(last)
            }
            expect(stores == (isArrival ? 1 : 0), "an arrival is stored \(stores) times")
        }

        private mutating func expect(_ holds: Bool, _ problem: String) {
            if !holds { problems.append(problem) }
        }
    }

    @Test func `No row of five inputs breaks a promise`() throws {
        let messages = [try Fixture.message(Fixture.link), try Fixture.message("https://b.example/")]
        var world = World(reader: BackgroundReader(router: try Fixture.router()))
        _ = world.reader.handle(.conditions(ReadingConditions()), now: .zero)
        // Every row begins with an arrival: without one there is nothing to promise.
        world.take(.readA, messages)
        var rows = 0
        func walk(_ world: World, _ path: [Step]) {
            guard path.count < 4 else { return }
            for step in Step.allCases {
                var next = world
                next.take(step, messages)
                rows += 1
                if !next.problems.isEmpty {
                    Issue.record("\(path + [step]): \(next.problems)")
                    return
                }
                walk(next, path + [step])
            }
        }
        walk(world, [])
        #expect(rows == 12 + 144 + 1728 + 20736)
    }
}
