// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The lines of standard input. Each is read on another thread when it is needed.
@MainActor
final class LineInput {
    private enum Item {
        case line(String)
        case end
    }

    private var items: [Item] = []
    private var isReading = false
    private var waiter: CheckedContinuation<String?, Never>?
    /// Receives a line that comes while nobody waits for one; returns true when it has used the line.
    private var watcher: ((String) -> Bool)?

    /// Waits for the next line.
    ///
    /// - Returns: nil at the end.
    func next() async -> String? {
        if let item = items.first {
            if case .line(let line) = item {
                items.removeFirst()
                return line
            }
            return nil
        }
        return await withCheckedContinuation { continuation in
            waiter = continuation
            read()
        }
    }

    /// Passes lines to a watcher while a task runs.
    ///
    /// - Parameters:
    ///   - watcher: called with each line; returns true to use the line, false to leave it to ``next()``.
    ///   - body: the task.
    func watched<Value>(by watcher: @escaping (String) -> Bool, _ body: () async -> Value) async -> Value {
        self.watcher = watcher
        read()
        let value = await body()
        self.watcher = nil
        return value
    }

    private func read() {
        guard !isReading else { return }
        if case .end = items.last { return }
        isReading = true
        DispatchQueue.global().async {
            let line = readLine()
            DispatchQueue.main.async { MainActor.assumeIsolated { self.take(line) } }
        }
    }

    private func take(_ line: String?) {
        isReading = false
        if let waiter {
            self.waiter = nil
            if line == nil { items.append(.end) }
            return waiter.resume(returning: line)
        }
        guard let line else { return items.append(.end) }
        if watcher?(line) != true { items.append(.line(line)) }
        if watcher != nil { read() }
    }
}
