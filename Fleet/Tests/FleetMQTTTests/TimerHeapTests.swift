// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import FleetMQTT  // timers without a thread are internal

@Suite("Functions and when they are due")
struct TimerHeapTests {
    /// What is done, in order, when functions with these times are added and time passes, step by step.
    private func order(of times: [Int], without removed: Set<Int> = []) -> [Int] {
        var heap = TimerHeap()
        var done: [Int] = []
        for (index, time) in times.enumerated() {
            let id = heap.insert(at: .milliseconds(time)) { done.append(time) }
            if removed.contains(index) { heap.remove(id) }
        }
        for now in 0...(times.max() ?? 0) {
            while let body = heap.take(now: .milliseconds(now)) { body() }
            #expect(done.allSatisfy { $0 <= now })
            #expect(heap.next.map { $0 > .milliseconds(now) } != false)
        }
        #expect(heap.next == nil)
        return done
    }

    @Test("Timers: fire in the order of their times")
    func inOrder() {
        for count in 0...40 {
            for _ in 0..<20 {
                let times = (0..<count).map { _ in Int.random(in: 0...30) }
                #expect(order(of: times) == times.sorted(), "\(times)")
            }
        }
    }

    @Test("Removed timers: do not fire, and the others keep their order")
    func removed() {
        for _ in 0..<200 {
            let times = (0..<12).map { _ in Int.random(in: 0...30) }
            let removed = Set((0..<12).filter { _ in Bool.random() })
            let left = times.indices.filter { !removed.contains($0) }.map { times[$0] }
            #expect(order(of: times, without: removed) == left.sorted(), "\(times) without \(removed)")
        }
    }
}
