// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import PropertyTesting
import Testing

/// Tries every sequence of inputs up to a length, and checks the invariants after each step.
struct ReaderExplorationTests {
    private enum Step: String, CaseIterable, CustomDebugStringConvertible {
        case readA, readB, leave, stop, start, lock, unlock, stored, announced, activate, delivered, failed
        case refused, gone, ready, dismissed, opened

        var debugDescription: String { rawValue }
    }

    /// A state machine, and what an observer knows about it.
    private struct World {
        var reader: BackgroundReader
        var now = Duration.zero
        var number: UInt32 = 0
        var isReading = true
        var isLocked = false
        var last: InboxEntry.ID?
        var stored: Set<InboxEntry.ID> = []
        var storing: Set<InboxEntry.ID> = []
        /// The entries that are asked to be shown, alone or in the summary, and are not known to be gone from there.
        var alone: Set<InboxEntry.ID> = []
        var summary: Set<InboxEntry.ID> = []
        /// The entries that the person has dismissed, or that could not be shown.
        var hidden: Set<InboxEntry.ID> = []
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
                input = .near([])
                near = []
            case .gone:
                input = .desktopGone
                (alone, summary) = ([], [])
            case .ready: input = .desktopReady
            case .opened: input = .summaryActivated
            case .stop, .start:
                input = .conditions(ReadingConditions(obstacles: step == .start ? [] : [.displayOff]))
                if step == .start, !isReading {
                    // The first poll shows that all tags have left.
                    near = []
                    _ = reader.handle(input, now: now)
                    isReading = true
                    check(reader.handle(.near([]), now: now), step, isArrival: false)
                    return
                }
            case .lock, .unlock: input = .lock(isLocked: step == .lock)
            default:
                guard let last else { return }
                switch step {
                case .stored:
                    input = .stored(last, isKept: true)
                    storing.remove(last)
                case .announced:
                    guard alone.contains(last) else { return }
                    input = .announced(last)
                case .activate:
                    input = .activated(last)
                    activated.insert(last)
                case .delivered: input = .delivered(last)
                case .refused:
                    guard alone.remove(last) != nil else { return }
                    input = .notShown(.entry(last))
                case .dismissed:
                    guard alone.remove(last) != nil else { return }
                    input = .closed(.entry(last), isDismissed: true)
                    hidden.insert(last)
                default: input = .deliveryFailed(last, reason: "No app.")
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
                case .startLooking: expect(step == .start, "starts without a reason")
                case .stopLooking: expect(step == .stop, "stops without a reason")
                case .store(let entry):
                    stores += 1
                    expect(isReading, "stores while nothing is read")
                    expect(stored.insert(entry.id).inserted, "stores twice")
                    storing.insert(entry.id)
                    last = entry.id
                case .announce(let id, let content):
                    expect(stored.contains(id), "announces before it stores")
                    expect(!removed.contains(id), "announces what is gone")
                    let isNews = alone.insert(id).inserted || step == .activate || step == .failed
                    expect(isNews, "announces twice")
                    expect(!hidden.contains(id) || step == .activate || step == .failed, "shows what was dismissed")
                    expect(isLocked || content.actionTitle != "Unlock", "asks to unlock what is not locked")
                    summary.remove(id)
                case .summarize(let ids, _):
                    expect(!ids.isEmpty && ids.allSatisfy(stored.contains), "counts what is not there")
                    expect(alone.isDisjoint(with: ids), "counts what is shown")
                    expect(removed.isDisjoint(with: ids), "counts what is gone")
                    expect(hidden.isDisjoint(with: ids), "counts what was dismissed")
                    summary = Set(ids)
                case .mark(let id, let mark):
                    expect(mark != .wanted || isLocked && activated.contains(id), "wants what nobody asked for")
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
                case .withdraw(.entry(let id)): alone.remove(id)
                case .withdraw(.summary): summary = []
                case .note: break
                }
            }
            var isShownAgain = step == .activate
            if step == .failed || step == .delivered, let last, opening.remove(last) != nil { isShownAgain = true }
            if isShownAgain, let last { hidden.remove(last) }
            // What is in the inbox is where the person sees it, as soon as that is possible.
            if step == .ready {
                let seen = alone.union(summary).union(hidden).union(opening).union(removed)
                expect(stored.isSubset(of: seen.union(storing)), "does not show what waits")
            }
            expect(stores == (isArrival ? 1 : 0), "an arrival is stored \(stores) times")
        }

        private mutating func expect(_ holds: Bool, _ problem: String) {
            if !holds { problems.append(problem) }
        }
    }

    @Test func `every sequence of three inputs after a stored tag: every promise of the background reader is kept`()
        throws
    {
        let messages = [try Fixture.message(Fixture.link), try Fixture.message("https://b.example/")]
        var world = World(reader: BackgroundReader(router: try Fixture.router()))
        _ = world.reader.handle(.conditions(ReadingConditions()), now: .zero)
        // Every row begins with an arrival that is shown: without one there is nothing to promise.
        for step in [Step.readA, .stored] { world.take(step, messages) }
        var rows = 0
        func walk(_ world: World, _ path: [Step]) {
            guard path.count < 3 else { return }
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
        #expect(rows == 17 + 289 + 4913)
    }

    @Test func `random sequences of up to 40 inputs: every promise of the background reader is kept`() async throws {
        let messages = [try Fixture.message(Fixture.link), try Fixture.message("https://b.example/")]
        let router = try Fixture.router()
        try await checkRule(cases: 300, of: { $0.array(count: 1...40) { $0.element(of: Step.allCases) } }) { steps in
            var world = World(reader: BackgroundReader(router: router))
            _ = world.reader.handle(.conditions(ReadingConditions()), now: .zero)
            for step in steps {
                world.take(step, messages)
                if !world.problems.isEmpty { return "\(step): \(world.problems)" }
            }
            return nil
        }
    }
}
