// SPDX-License-Identifier: Apache-2.0

/// Starts and stops looking for tags. A stop takes time, and a start that comes meanwhile has an effect after it.
@MainActor package final class PollingToggle {
    private let start: @MainActor () -> Void
    private let stop: @MainActor () async -> Void
    private var isOn = false

    /// Creates a switch that is off.
    ///
    /// - Parameters:
    ///   - start: starts to look. It does nothing while the reader is looked at.
    ///   - stop: stops looking, and waits until the reader is free.
    package init(start: @escaping @MainActor () -> Void, stop: @escaping @MainActor () async -> Void) {
        self.start = start
        self.stop = stop
    }

    /// Starts to look.
    package func turnOn() {
        isOn = true
        start()
    }

    /// Stops looking, soon.
    package func turnOff() {
        isOn = false
        Task { await release() }
    }

    /// Stops looking, and waits until the reader is free. If the switch is on by then, it starts to look again.
    ///
    /// - Returns: whether the reader is free.
    @discardableResult
    package func release() async -> Bool {
        await stop()
        if isOn { start() }
        return !isOn
    }
}
