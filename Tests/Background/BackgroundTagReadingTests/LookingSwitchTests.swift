// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@Suite struct `The switch for looking` {
    /// A watcher that ignores a start while it runs, and takes a moment to stop.
    @MainActor private final class Watcher {
        private(set) var isRunning = false
        private(set) var stops = 0

        func start() { isRunning = true }

        func stop() async {
            isRunning = false
            await Task.yield()
            stops += 1
        }
    }

    @MainActor @Test func `Looks on when it is turned off and on at once`() async {
        let watcher = Watcher()
        let looking = LookingSwitch(start: { watcher.start() }, stop: { await watcher.stop() })
        looking.turnOn()
        #expect(watcher.isRunning)
        looking.turnOff()
        looking.turnOn()
        // The watcher is only stopped now.
        for _ in 0..<10_000 where watcher.stops == 0 || !watcher.isRunning { await Task.yield() }
        #expect(watcher.stops == 1 && watcher.isRunning)
    }

    @MainActor @Test func `Stays off when it is turned off`() async {
        let watcher = Watcher()
        let looking = LookingSwitch(start: { watcher.start() }, stop: { await watcher.stop() })
        looking.turnOn()
        looking.turnOff()
        for _ in 0..<10_000 where watcher.stops == 0 { await Task.yield() }
        #expect(watcher.stops == 1 && !watcher.isRunning)
    }

    @MainActor @Test func `Gives the reader to nobody when it was turned on again meanwhile`() async {
        let watcher = Watcher()
        let looking = LookingSwitch(start: { watcher.start() }, stop: { await watcher.stop() })
        #expect(await looking.release())
        #expect(!watcher.isRunning)
        looking.turnOn()
        #expect(await !looking.release())
        #expect(watcher.isRunning)
    }
}
