// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TagLink

/// Waits on its own thread until cards, readers or the service appear or disappear.
///
/// The service reports changes by itself, so waiting takes no processor time. The thread runs only while there are
/// observers.
final class ReaderMonitor: Sendable {
    private struct State {
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextKey = 0
        /// The number of the thread's current run. A thread of an older run ends.
        var run = 0
        /// Wakes the current run's thread while it has no PC/SC context whose call could be cancelled.
        var cut = CancellationSignal()
        var context: Int?
        /// When the service disappeared; nil while it runs.
        var absentSince: ContinuousClock.Instant?
    }

    /// Whether the thread knows the current state. From then on, it reports every change.
    private struct Watch {
        var isWatching = true
        var isInterrupted = false
    }

    private let layer: any SmartCardLayer
    private let state = Locked(State())
    private let watch = Locked(Watch())
    private let watchChange = DispatchSemaphore(value: 0)

    /// The time limit of ``waitUntilWatching()``, in milliseconds.
    private static let patience = 2000

    /// How long the service may be absent during a restart.
    private let absence: Duration

    /// Creates a monitor. It notifies observers once more when the service has been absent for this many milliseconds.
    init(layer: any SmartCardLayer, absence: Int) {
        self.layer = layer
        self.absence = .milliseconds(absence)
    }

    /// Whether the service has been absent for longer than a restart takes. Observers are notified when this becomes
    /// true.
    var isServiceGone: Bool { remainingAbsence == .zero }

    /// How much longer the service may be absent; nil while it runs.
    private var remainingAbsence: Duration? {
        state.withLock { $0.absentSince }.map { max(.zero, absence - (.now - $0)) }
    }

    /// Calls `handler` on the monitor's thread whenever something changes, until the result is released.
    func observe(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation {
        let key = state.withLock { state in
            let key = state.nextKey
            state.nextKey += 1
            if state.observers.isEmpty {
                // The end of the previous run has already advanced the run's number.
                let (run, cut) = (state.run, CancellationSignal())
                state.cut = cut
                state.absentSince = nil
                setWatching(false)
                DispatchQueue(label: "org.opencorenfc.pcsc.monitor").async { [self] in loop(run, cut) }
            }
            state.observers[key] = handler
            return key
        }
        return PresenceObservation { [self] in remove(key) }
    }

    private func remove(_ key: Int) {
        let (released, context) = state.withLock { state -> ((@Sendable () -> Void)?, Int?) in
            let released = state.observers.removeValue(forKey: key)
            guard state.observers.isEmpty else { return (released, nil) }
            state.run += 1
            state.cut.cut()
            setWatching(true)
            return (released, state.context)
        }
        // If the service does not answer, the thread waits until its context is abandoned.
        if let context { layer.abandon(context) }
        // Released outside the lock, because the handler may hold the last reference to other objects.
        _ = released
    }

    /// Waits until the monitor can report every change that a check of the readers would miss, if there are observers.
    /// This takes no longer than two calls to the service, and ends when it is interrupted.
    func waitUntilWatching() {
        let end = DispatchTime.now() + .milliseconds(Self.patience)
        while !watch.withLock({ $0.isWatching || $0.isInterrupted }), watchChange.wait(timeout: end) == .success {}
    }

    /// With true, ends ``waitUntilWatching()`` and makes later calls return at once. With false, calls wait again.
    func setInterrupted(_ value: Bool) {
        watch.withLock { $0.isInterrupted = value }
        watchChange.signal()
    }

    private func setWatching(_ value: Bool) {
        watch.withLock { $0.isWatching = value }
        watchChange.signal()
    }

    private func isWanted(_ run: Int) -> Bool {
        state.withLock { $0.run == run }
    }

    private func notifyObservers(_ run: Int) {
        let observers = state.withLock { $0.run == run ? Array($0.observers.values) : [] }
        for observer in observers { observer() }
    }

    // MARK: The thread

    private func loop(_ run: Int, _ cut: CancellationSignal) {
        var hadService = true
        var mayReturn = true
        while isWanted(run) {
            do throws(SmartCardError) {
                let context = try layer.establishContext(cut)
                let isWanted = state.withLock { state in
                    if state.run == run {
                        state.context = context
                        state.absentSince = nil
                    }
                    return state.run == run
                }
                if !hadService, isWanted {
                    setWatching(false)
                    notifyObservers(run)
                }
                hadService = true
                mayReturn = true
                defer {
                    state.withLock { if $0.context == context { $0.context = nil } }
                    // Abandoned first. Otherwise the release would wait for the service's answer. Other threads would
                    // wait too, because only one thread at a time can close a card or a context.
                    layer.abandon(context)
                    layer.releaseContext(context)
                }
                if isWanted { try wait(context, run) }
            } catch {
                guard isWanted(run) else { return }
                setWatching(true)
                if hadService { notifyObservers(run) }
                hadService = false
                if error.isServiceLost {
                    state.withLock { if $0.run == run, $0.absentSince == nil { $0.absentSince = .now } }
                }
                var pause = 10_000
                if mayReturn, let remaining = remainingAbsence {
                    mayReturn = remaining > .zero
                    if mayReturn {
                        pause = Int((remaining / .milliseconds(1)).rounded(.up))
                    } else {
                        notifyObservers(run)
                    }
                }
                layer.waitForService(milliseconds: pause, cut)
            }
        }
    }

    private func wait(_ context: Int, _ run: Int) throws(SmartCardError) {
        var knownStates: [SmartCardReaderState] = []
        var plugAndPlay = SmartCardReaderState(SmartCardReaderState.plugAndPlay)
        var isFirst = true
        while isWanted(run) {
            let names = try layer.listReaders(context)
            var states = names.map { name in
                knownStates.first { $0.reader == name } ?? SmartCardReaderState(name)
            }
            if !isFirst, Set(names) != Set(knownStates.map(\.reader)) { notifyObservers(run) }
            // The first query about a reader returns its current state at once.
            let isFirstQuery = states.contains { $0.flags.isEmpty }
            states.append(plugAndPlay)
            let changedStates: [SmartCardReaderState]?
            do throws(SmartCardError) {
                changedStates = try layer.waitForChange(context, milliseconds: isFirstQuery ? 0 : nil, of: states)
            } catch {
                // A reader was removed between the list and the wait.
                guard error.code == .unknownReader else { throw error }
                isFirst = false
                knownStates = []
                continue
            }
            var new = changedStates ?? states
            // Newer services store the number of readers in the upper half.
            plugAndPlay = new.removeLast()
            if !isFirst, Self.differ(knownStates, new) { notifyObservers(run) }
            knownStates = new
            if isFirst { setWatching(true) }
            isFirst = false
        }
    }

    /// Returns whether cards have arrived or left. Opening a card doesn't count.
    private static func differ(_ old: [SmartCardReaderState], _ new: [SmartCardReaderState]) -> Bool {
        func presence(_ states: [SmartCardReaderState]) -> [String: UInt32] {
            let flags: SmartCardReaderState.Flags = [.present, .empty, .unavailable, .mute]
            // The counter in the upper half reveals that a card was swapped for another.
            return Dictionary(
                states.map { ($0.reader, $0.flags.rawValue & 0xFFFF_0000 | $0.flags.intersection(flags).rawValue) },
                uniquingKeysWith: { first, _ in first }
            )
        }
        return presence(old) != presence(new)
    }
}
