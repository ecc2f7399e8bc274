// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs work on several threads with large stacks, because malicious files can have very deep syntax trees.
enum Parallel {
    /// Transforms values in parallel. The results are in the order of the values.
    static func map<Value: Sendable, Result: Sendable>(
        _ values: [Value],
        _ transform: @escaping @Sendable (Value) -> Result
    ) -> [Result] {
        let work = Work<Value, Result>(values)
        let count = max(1, min(ProcessInfo.processInfo.activeProcessorCount, values.count))
        let done = DispatchGroup()
        for _ in 0..<count {
            done.enter()
            let thread = Thread {
                while let (index, value) = work.next() { work.finish(index, transform(value)) }
                done.leave()
            }
            thread.stackSize = 512 << 20
            thread.start()
        }
        done.wait()
        return work.results
    }

    /// Runs a closure on a large stack.
    static func onLargeStack<Result: Sendable>(_ work: @escaping @Sendable () -> Result) -> Result? {
        map([0]) { _ in work() }.first
    }

    private final class Work<Value: Sendable, Result: Sendable>: @unchecked Sendable {
        private let lock = NSLock()
        private let values: [Value]
        // Guarded by `lock`.
        private var position = 0
        private var finished: [Result?]

        init(_ values: [Value]) {
            self.values = values
            finished = Array(repeating: nil, count: values.count)
        }

        func next() -> (Int, Value)? {
            lock.lock()
            defer { lock.unlock() }
            guard position < values.count else { return nil }
            position += 1
            return (position - 1, values[position - 1])
        }

        func finish(_ index: Int, _ result: Result) {
            lock.lock()
            defer { lock.unlock() }
            finished[index] = result
        }

        var results: [Result] {
            lock.lock()
            defer { lock.unlock() }
            return finished.compactMap { $0 }
        }
    }
}
