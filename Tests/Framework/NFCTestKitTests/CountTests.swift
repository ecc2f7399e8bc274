// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import NFCTestKit

/// What is counted of a test's work, by which its time passes or stands.
@Suite(.timeLimit(.minutes(5))) struct `The counts of a test's work` {
    private static let wait = FieldPlace.Wait(id: 1, call: "wait()", queue: "app", end: nil)

    @Test func `Work that is queued or runs is not at rest, unless all that runs waits`() {
        var work = FieldPlace.Work()
        #expect(work.isAtRest && work.onlyWaits && work.isOpen && !work.isOnThreads && !work.hasUncounted)
        work.queued = 1
        #expect(!work.isAtRest && work.onlyWaits)
        work.queued = 0
        work.running = 1
        #expect(!work.isAtRest && !work.onlyWaits)
        work.waits = [Self.wait]
        #expect(work.isAtRest && work.onlyWaits)
    }

    @Test func `A thread is there from when it is begun, and what can't be counted is noted`() {
        var work = FieldPlace.Work()
        work.comingThreads = 1
        #expect(work.isOnThreads)
        work.comingThreads = 0
        work.threads = [7]
        #expect(work.isOnThreads && !work.hasUncounted)
        work.hasGuests = true
        #expect(work.hasUncounted)
        work.hasGuests = false
        work.hasSources = true
        #expect(work.hasUncounted)
    }

    @Test func `Each event changes its count, and the activity by one`() {
        let place = FieldPlace(isDriven: true)
        func changes(_ event: () -> Void) -> UInt64 {
            let before = place.work.activity
            event()
            return place.work.activity &- before
        }
        #expect(changes { place.enqueued() } == 1 && place.work.queued == 1 && place.work.running == 0)
        #expect(changes { place.begins() } == 1 && place.work.queued == 0 && place.work.running == 1)
        #expect(changes { place.begins(wasQueued: false) } == 1 && place.work.queued == 0 && place.work.running == 2)
        #expect(changes { place.ends() } == 1 && place.work.running == 1)
        #expect(changes { _ = place.beginsToWait("one", queue: "a", end: nil) } == 1)
        #expect(changes { _ = place.beginsToWait("two", queue: "b", end: .seconds(3)) } == 1)
        let waits = place.work.waits
        #expect(waits.map(\.call) == ["one", "two"] && waits.map(\.queue) == ["a", "b"])
        #expect(waits.map(\.end) == [nil, .seconds(3)] && Set(waits.map(\.id)).count == 2)
        #expect(changes { place.stillWaits(waits[1].id) } == 0 && place.work.waits.map(\.looks) == [0, 1])
        #expect(changes { place.endsToWait(waits[0].id) } == 1 && place.work.waits.map(\.call) == ["two"])
        #expect(changes { place.endsToWait(waits[1].id) } == 1 && place.work.waits.isEmpty)
        #expect(changes { place.ends() } == 1 && place.work.running == 0 && place.work.isAtRest)
    }

    @Test func `A thread comes, begins and ends, or does not come`() {
        let place = FieldPlace(isDriven: true)
        place.threadComes()
        #expect(place.work.comingThreads == 1)
        place.threadComes(false)
        #expect(place.work.comingThreads == 0)
        place.threadComes()
        let before = place.work.activity
        place.threadBegins(7)
        #expect(place.work.comingThreads == 0 && place.work.threads == [7] && place.work.activity == before &+ 1)
        place.threadEnds(7)
        #expect(place.work.threads.isEmpty && place.work.activity == before &+ 2)
        #expect(!place.work.hasThreads && !place.work.hasGuests && !place.work.hasSources)
        place.noteThread()
        #expect(place.work.hasThreads && !place.work.hasUncounted)
        place.noteGuest()
        #expect(place.work.hasGuests && !place.work.hasSources)
        place.noteSource()
        #expect(place.work.hasSources)
    }

    @Test func `Waits are given up where one of them was the end of the field, and not before that`() {
        let (blocked, other) = (FieldPlace(isDriven: true), FieldPlace(isDriven: true))
        blocked.noteBlocked()
        #expect(!blocked.givesUpWaits && blocked.isOpen)
        for place in [blocked, other] { place.close() }
        #expect(blocked.givesUpWaits && !other.givesUpWaits && !blocked.isOpen && !blocked.work.isOpen)
    }

    @Test func `A line is printed each time, or once for all that share their lines`() {
        let (alone, shared) = (FieldPlace(isDriven: true), (FieldPlace(isDriven: true), FieldPlace(isDriven: true)))
        let lines = PrintedLines()
        for place in [shared.0, shared.1] { place.sharePrintedLines(lines) }
        #expect(alone.prints("one") && alone.prints("one"))
        #expect(shared.0.prints("one") && !shared.0.prints("one") && !shared.1.prints("one"))
        #expect(shared.1.prints("two") && !shared.0.prints("two"))
    }

    @Test func `A job is not postponed where its turn might never come`() {
        guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: 16) else { return }
        let job = unsafe SwiftJobs.Job(pointer, of: pointer)
        for prepare in [
            { $0.close() }, { _ = $0.beginsToWait("wait()", queue: "app", end: nil) }, { $0.noteGuest() },
            { $0.noteSource() },
        ] as [(FieldPlace) -> Void] {
            let place = FieldPlace(isDriven: true)
            prepare(place)
            #expect(!place.postpone(job))
        }
    }

    /// In another process, because other tests have threads that work, and child processes.
    @Test(.ownThreads) func `The grace is ten times as long where something else may come`() async {
        await #expect(processExitsWith: .success) {
            let (grace, wait) = (Grace(duration: .seconds(2)), FieldPlace.Wait(id: 1, call: "", queue: "", end: nil))
            var work = FieldPlace.Work()
            #expect(grace.long == .seconds(20) && grace.duration(after: work) == .seconds(2))
            #expect(grace.beforeEnd(after: work) == .seconds(20))
            // What a wait without a limit waits for is counted.
            work.waits = [wait]
            #expect(grace.beforeEnd(after: work) == .seconds(2))
            work.hasSources = true
            #expect(grace.duration(after: work) == .seconds(20) && grace.beforeEnd(after: work) == .seconds(20))
            work.hasSources = false
            work.hasGuests = true
            #expect(grace.duration(after: work) == .seconds(2) && grace.beforeEnd(after: work) == .seconds(20))
            work.hasGuests = false
            work.hasThreads = true
            #expect(grace.duration(after: work) == .seconds(2) && grace.beforeEnd(after: work) == .seconds(20))
            work = FieldPlace.Work()
            work.waits = [FieldPlace.Wait(id: 1, call: "", queue: "", end: .seconds(1))]
            #expect(grace.beforeEnd(after: work) == .seconds(20))
            #expect(!Grace.hasChildren)
            let program = Process()
            program.executableURL = URL(filePath: "/bin/sleep")
            program.arguments = ["60"]
            try program.run()
            work.waits = [wait]
            #expect(Grace.hasChildren)
            #expect(grace.duration(after: work) == .seconds(20) && grace.beforeEnd(after: work) == .seconds(20))
            // Not SIGTERM: a program has the signals blocked that the thread which starts it blocks.
            kill(program.processIdentifier, SIGKILL)
            program.waitUntilExit()
        }
    }

    @Test(.ownThreads) func `There is no grace where all is counted, if that is asked for`() async {
        await #expect(processExitsWith: .success) {
            let grace = Grace(duration: .seconds(2), isNoneWhenCounted: true)
            let end = ContinuousClock.now + .seconds(60)
            // As soon as all other threads of the process sleep.
            while grace.duration(after: FieldPlace.Work()) != .zero, ContinuousClock.now < end { usleep(5000) }
            #expect(ContinuousClock.now < end)
            for change in [{ $0.hasThreads = true }, { $0.hasGuests = true }] as [(inout FieldPlace.Work) -> Void] {
                var work = FieldPlace.Work()
                change(&work)
                #expect(grace.duration(after: work) == .seconds(2))
            }
        }
    }
}
