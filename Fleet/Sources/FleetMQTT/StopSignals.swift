// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation

/// The signals that end a program. They are noticed from the beginning, also while it starts. A program has one.
package final class StopSignals {
    private let state: SignalState
    private let source: any DispatchSourceRead

    /// - Parameter numbers: the signals. SIGHUP stays ignored where it was, as under `nohup`.
    package init(_ numbers: [Int32]) {
        let pipe = StopPipe.ends
        let state = SignalState()
        self.state = state
        source = DispatchSource.makeReadSource(fileDescriptor: pipe.reading, queue: .global())
        source.setEventHandler {
            var byte: UInt8 = 0
            _ = unsafe read(pipe.reading, &byte, 1)
            state.raise()
        }
        source.activate()
        // A handler rather than a source for signals, which loses one that comes before it is ready.
        for number in numbers where number != SIGHUP || !Self.isIgnored(number) { signal(number, stopHandler) }
    }

    /// Whether a signal has come.
    package var isRaised: Bool { state.isRaised }

    /// Has a function called once when a signal comes; at once when it has come already.
    package func notify(_ body: @escaping @Sendable () -> Void) { state.notify(body) }

    /// Waits for a signal.
    package func wait() async {
        await withCheckedContinuation { continuation in notify { continuation.resume() } }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}

/// Whether a signal has come, and who waits for it.
private final class SignalState: @unchecked Sendable {
    // Sendable because the variables have a lock.
    private let lock = NSLock()
    private var hasCome = false
    private var waiting: [@Sendable () -> Void] = []

    var isRaised: Bool { lock.withLock { hasCome } }

    func raise() {
        let bodies = lock.withLock {
            hasCome = true
            defer { waiting = [] }
            return waiting
        }
        for body in bodies { body() }
    }

    func notify(_ body: @escaping @Sendable () -> Void) {
        let isNow = lock.withLock {
            if !hasCome { waiting.append(body) }
            return hasCome
        }
        if isNow { body() }
    }
}

/// A pipe through which the handler of signals reports them.
private enum StopPipe {
    static let ends: (reading: Int32, writing: Int32) = {
        var ends: [Int32] = [-1, -1]
        _ = unsafe pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }()
}

private func stopHandler(_: Int32) {
    let number = errno
    var byte: UInt8 = 1
    _ = unsafe write(StopPipe.ends.writing, &byte, 1)
    errno = number
}
