// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation

/// The signals that stop a program, including those that arrive during startup. Create one instance per program.
package final class StopSignals {
    private let state: SignalState
    private let source: any DispatchSourceRead

    /// - Parameter numbers: the signals. SIGHUP stays ignored if it was ignored at startup, as under `nohup`.
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
        // Uses a signal handler, because a dispatch source would miss a signal that arrives before the source is ready.
        for number in numbers where number != SIGHUP || !Self.isIgnored(number) { signal(number, stopHandler) }
    }

    /// Whether a signal has arrived.
    package var isRaised: Bool { state.isRaised }

    /// Calls a function once when a signal arrives, or immediately if one already has.
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

/// Whether a signal has arrived, and the functions waiting for it.
private final class SignalState: @unchecked Sendable {
    // Sendable because its state is protected by a lock.
    private let lock = NSLock()
    private var hasArrived = false
    private var waiting: [@Sendable () -> Void] = []

    var isRaised: Bool { lock.withLock { hasArrived } }

    func raise() {
        let bodies = lock.withLock {
            hasArrived = true
            defer { waiting = [] }
            return waiting
        }
        for body in bodies { body() }
    }

    func notify(_ body: @escaping @Sendable () -> Void) {
        let isNow = lock.withLock {
            if !hasArrived { waiting.append(body) }
            return hasArrived
        }
        if isNow { body() }
    }
}

/// The pipe through which the signal handler reports signals.
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
