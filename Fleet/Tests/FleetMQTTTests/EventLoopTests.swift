// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import Testing

@Suite("An event loop", .timeLimit(.minutes(1)))
struct EventLoopTests {
    /// Waits until the loop has come to here.
    private func reach(_ loop: EventLoop) async {
        await withCheckedContinuation { continuation in loop.async { continuation.resume() } }
    }

    @Test("Event loop: work is done in the order in which each thread added it")
    func order() async {
        let loop = EventLoop("test")
        let notes = Notes()
        for number in 0..<1000 {
            loop.async { notes.add(number) }
        }
        await reach(loop)
        #expect(notes.all == Array(0..<1000))
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<8 {
                group.addTask { for number in 0..<500 { loop.async { notes.add(1000 + 500 * part + number) } } }
            }
        }
        await reach(loop)
        let added = notes.all.dropFirst(1000)
        for part in 0..<8 {
            let range = (1000 + 500 * part)..<(1500 + 500 * part)
            #expect(added.filter(range.contains) == Array(range))
        }
        loop.close()
    }

    @Test("Event loop: perform on its own thread runs the work at once")
    func perform() async {
        let loop = EventLoop("test")
        let notes = Notes()
        loop.async {
            loop.async { notes.add(3) }
            loop.perform { notes.add(1) }
            notes.add(2)
        }
        await reach(loop)
        await reach(loop)
        #expect(notes.all == [1, 2, 3])
        #expect(!loop.isCurrent)
        loop.close()
    }

    @Test("Event loop timers: fire in the order of their times; cancelled ones don't")
    func timers() async {
        let loop = EventLoop("test")
        let notes = Notes()
        await withCheckedContinuation { continuation in
            loop.async {
                // So far apart that a thread that is held up between two of these lines does not change their order.
                for delay in [1000, 200, 800, 400, 600, 1200, 300].shuffled() {
                    let timer = loop.after(.milliseconds(delay)) { notes.add(delay) }
                    if delay == 300 || delay == 1200 { loop.cancel(timer) }
                }
                loop.after(.milliseconds(1500)) { continuation.resume() }
            }
        }
        #expect(notes.all == [200, 400, 600, 800, 1000])
        loop.close()
    }

    @Test("Closed event loop: frees the work of timers that were still waiting")
    func closed() async throws {
        final class Token: Sendable {}
        let loop = EventLoop("test")
        weak var token: Token?
        do {
            let kept = Token()
            token = kept
            loop.async { _ = loop.after(.seconds(3600)) { withExtendedLifetime(kept) {} } }
        }
        loop.close()
        for _ in 0..<2000 {
            if token == nil { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(token == nil)
    }

    @Test("Event loop: tasks of an actor on the loop run on the loop's thread")
    func tasks() async {
        let loop = EventLoop("test")
        let isOnLoop = await LoopActor(loop).begin { _ in loop.isCurrent }.value
        #expect(isOnLoop)
        loop.close()
    }

    @Test("Event loop: a task that calls a nonisolated async function goes on before other queued work")
    func calls() async {
        let loop = EventLoop("test")
        let notes = Notes()
        @Sendable nonisolated(nonsending) func note() async { notes.add(1) }
        await LoopActor(loop).begin { _ in
            loop.async { notes.add(2) }
            await note()
        }.value
        await withCheckedContinuation { continuation in loop.async { continuation.resume() } }
        #expect(notes.all == [1, 2])
        loop.close()
    }

    @Test("Event loop: a task that calls another actor of the loop stays on the loop, before other queued work")
    func actors() async {
        let loop = EventLoop("test")
        let notes = Notes()
        let actor = NotingActor(loop, notes)
        let comesBack = await LoopActor(loop).begin { _ in
            loop.async { notes.add(2) }
            await actor.note(1)
            return loop.isCurrent
        }.value
        await withCheckedContinuation { continuation in loop.async { continuation.resume() } }
        #expect(comesBack && notes.all == [1, 2])
        loop.close()
    }
}

/// Runs on a loop.
private actor NotingActor {
    private nonisolated let loop: EventLoop
    private let notes: Notes

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop, _ notes: Notes) {
        self.loop = loop
        self.notes = notes
    }

    func note(_ number: Int) {
        // Ends the process when the runtime takes another thread for the actor's.
        loop.checkIsolated()
        notes.add(number)
    }
}
