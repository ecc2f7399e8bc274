// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Waits on a thread of its own for cards and readers to come and go, and for the service itself.
///
/// The service tells by itself, so that waiting costs nothing. The thread runs while somebody observes.
final class ReaderMonitor: Sendable {
    /// What an observer may want to know.
    struct Event: OptionSet, Sendable {
        var rawValue: Int
        /// A card may have come or gone in some reader.
        static let cards = Event(rawValue: 1)
        /// A reader, or the service, has come or gone.
        static let readers = Event(rawValue: 2)
    }

    private struct State {
        var observers: [Int: @Sendable (Event) -> Void] = [:]
        var nextKey = 0
        var thread: DriverThread?
        /// The run of the thread that counts; an older one ends.
        var run = 0
        var context: Int?
    }

    private let layer: any SmartCardLayer
    private let state = Locked(State())
    /// Whether the thread knows what there is, so that it tells of whatever changes from then on.
    private let isWatching = Monitor(true)

    init(layer: any SmartCardLayer) {
        self.layer = layer
    }

    /// Calls `handler` on the monitor's thread whenever something changes, until the result is released.
    func observe(_ handler: @escaping @Sendable (Event) -> Void) -> PresenceObservation {
        let key = state.withLock { state in
            let key = state.nextKey
            state.nextKey += 1
            state.observers[key] = handler
            if state.thread == nil {
                state.run += 1
                let run = state.run
                let thread = DriverThread()
                state.thread = thread
                setWatching(false)
                thread.run { [self] in loop(run) }
            }
            return key
        }
        return PresenceObservation { [self] in remove(key) }
    }

    private func remove(_ key: Int) {
        let context = state.withLock { state -> Int? in
            state.observers[key] = nil
            guard state.observers.isEmpty else { return nil }
            state.thread = nil
            state.run += 1
            setWatching(true)
            return state.context
        }
        if let context { layer.abandon(context) }
    }

    /// Waits until a change that a look at the readers does not see will be told, if anybody observes. That takes no longer
    /// than two calls to the service.
    func waitUntilWatching() {
        let end = Monitor<Bool>.now + 2_000_000_000
        isWatching.wait { isWatching -> Monitor<Bool>.Step<Void> in
            isWatching || Monitor<Bool>.now >= end ? .done(()) : .wait(until: end)
        }
    }

    private func setWatching(_ value: Bool) {
        isWatching.withLock { $0 = value }
        if value { isWatching.signal() }
    }

    private func isWanted(_ run: Int) -> Bool {
        state.withLock { $0.run == run }
    }

    private func tell(_ event: Event, _ run: Int) {
        let observers = state.withLock { $0.run == run ? Array($0.observers.values) : [] }
        for observer in observers { observer(event) }
    }

    // MARK: The thread

    private func loop(_ run: Int) {
        var hadService = true
        while isWanted(run) {
            do throws(SmartCardError) {
                let context = try layer.establishContext()
                let isWanted = state.withLock { state in
                    if state.run == run { state.context = context }
                    return state.run == run
                }
                if !hadService {
                    setWatching(false)
                    tell([.cards, .readers], run)
                }
                hadService = true
                defer {
                    state.withLock { if $0.context == context { $0.context = nil } }
                    layer.releaseContext(context)
                }
                if isWanted { try wait(context, run) }
            } catch {
                guard isWanted(run) else { return }
                setWatching(true)
                if hadService { tell([.cards, .readers], run) }
                hadService = false
                layer.waitForService(milliseconds: 10_000)
            }
        }
    }

    private func wait(_ context: Int, _ run: Int) throws(SmartCardError) {
        var known: [SmartCardReaderState] = []
        var plugAndPlay = SmartCardReaderState(SmartCardReaderState.plugAndPlay)
        var isFirst = true
        while isWanted(run) {
            let names = try layer.listReaders(context)
            var states = names.map { name in
                known.first { $0.reader == name } ?? SmartCardReaderState(name)
            }
            if !isFirst, Set(names) != Set(known.map(\.reader)) { tell([.cards, .readers], run) }
            // The first answer about a reader, which comes at once, is what there is.
            let isLook = states.contains { $0.flags.isEmpty }
            states.append(plugAndPlay)
            let changed: [SmartCardReaderState]?
            do throws(SmartCardError) {
                changed = try layer.waitForChange(context, milliseconds: isLook ? 0 : nil, of: states)
            } catch {
                // A reader went between the list and the wait.
                guard error.code == .unknownReader else { throw error }
                isFirst = false
                known = []
                continue
            }
            var new = changed ?? states
            // Newer services count the readers in its upper half.
            plugAndPlay = new.removeLast()
            if !isFirst, Self.differ(known, new) { tell(.cards, run) }
            known = new
            if isFirst { setWatching(true) }
            isFirst = false
        }
    }

    /// Whether cards have come or gone, rather than merely been opened by somebody.
    private static func differ(_ old: [SmartCardReaderState], _ new: [SmartCardReaderState]) -> Bool {
        func essence(_ states: [SmartCardReaderState]) -> [String: UInt32] {
            let flags: SmartCardReaderState.Flags = [.present, .empty, .unavailable, .mute]
            // The counter in the upper half tells of a card that was swapped for another.
            return Dictionary(
                states.map { ($0.reader, $0.flags.rawValue & 0xFFFF_0000 | $0.flags.intersection(flags).rawValue) },
                uniquingKeysWith: { first, _ in first }
            )
        }
        return essence(old) != essence(new)
    }
}
