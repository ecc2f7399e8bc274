// SPDX-License-Identifier: Apache-2.0
import SimulatorModel

/// The open windows. All of them receive the same changes, at most every 16 ms.
actor Windows {
    /// The maximum number of windows.
    static let maximumCount = 64
    /// The minimum time between two updates.
    static let interval = Duration.milliseconds(16)
    /// The rows per message, and the pending rows beyond which older ones are skipped. Pages can request those.
    static let rowsInMessage = 500
    static let maximumBacklog = 4000

    /// Sends a text to a window. Returns false if the window's queue is full.
    typealias Send = @Sendable (String) -> Bool

    private let simulator: Simulator
    private let storeFiles: @Sendable ([Changes.FileChange]) -> Void
    private var windows: [Int: Send] = [:]
    private var lastWindow = 0
    private var version = 0
    private var trace = TracePosition()
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// - Parameter storeFiles: saves changed files of the drawer.
    init(_ simulator: Simulator, storeFiles: @escaping @Sendable ([Changes.FileChange]) -> Void) {
        self.simulator = simulator
        self.storeFiles = storeFiles
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        simulator.onChange { [signal] in signal.yield() }
    }

    /// Sends changes until the task is cancelled. Sleeps while there are none.
    func run() async {
        for await _ in signals {
            flush()
            try? await Task.sleep(for: Self.interval)
        }
        flush()
    }

    nonisolated func stop() { signal.finish() }

    /// Adds a window, and sends it the whole state.
    ///
    /// - Returns: the window's number; nil if too many windows are open.
    func open(_ send: @escaping Send) -> Int? {
        guard windows.count < Self.maximumCount else { return nil }
        flush()
        let (state, place) = simulator.snapshot()
        let message: JSON = [
            "type": "state", "version": .int(version), "state": state,
            "trace": ["total": .int(place.next)],
        ]
        guard send(message.text) else { return nil }
        lastWindow += 1
        windows[lastWindow] = send
        return lastWindow
    }

    func close(_ window: Int) { windows[window] = nil }

    /// Sends the changes since the last call to the windows and to `storeFiles`.
    func flush() {
        let changes = simulator.takeChanges()
        if !changes.files.isEmpty { storeFiles(changes.files) }
        if !changes.parts.isEmpty {
            version += 1
            send(["type": "patch", "version": .int(version), "set": .object(changes.parts)])
        }
        sendTrace()
    }

    private func sendTrace() {
        guard !windows.isEmpty else {
            trace = simulator.snapshotPosition()
            return
        }
        let end = simulator.snapshotPosition()
        if end.era == trace.era, end.next - trace.next > Self.maximumBacklog {
            trace.next = end.next - Self.rowsInMessage
        }
        if let message = simulator.traceMessage(from: &trace, limit: Self.rowsInMessage) { send(message) }
        if trace != simulator.snapshotPosition() { signal.yield() }
    }

    private func send(_ message: JSON) {
        let text = message.text
        for (number, send) in windows where !send(text) { windows[number] = nil }
    }
}
