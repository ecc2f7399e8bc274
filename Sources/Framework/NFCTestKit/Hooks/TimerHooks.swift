// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import TagLink

/// A timer of Dispatch that code under test has created. It uses the field's time.
///
/// The library's timer is not set. When the field's time reaches the timer's, the handler is put on the timer's queue, as
/// work of the test. After the field has ended, the library's timer is used.
///
/// Sendable because its lock guards everything that changes.
@safe final class VirtualTimer: @unchecked Sendable {
    private struct State {
        var handler: BlockCopy?
        /// The scheduled event, and the number of times that the timer was set.
        var event: ScheduledEvent?
        var settings = 0
        /// A new source does not fire before it is activated.
        var isInactive = true
        var suspensions = 0
        var isCancelled = false
        /// Whether the time has come while the timer could not fire.
        var isDue = false
        /// Whether the handler is on the queue, or runs.
        var isEnqueued = false

        var canFire: Bool { !isInactive && suspensions == 0 && !isCancelled }
    }

    private let state = Locked(State())
    private let queue: DispatchLibrary.Pointer
    let tracker: TestTracker
    private weak let environment: NFCEnvironment?

    init(_ owner: (environment: NFCEnvironment, tracker: TestTracker), _ queue: DispatchLibrary.Pointer) {
        (environment, tracker) = (owner.environment, owner.tracker)
        unsafe self.queue = queue
        unsafe DispatchLibrary.retain(queue)
    }

    deinit { unsafe DispatchLibrary.release(queue) }

    func setHandler(_ block: DispatchLibrary.Pointer?) {
        let copy = unsafe block.flatMap { unsafe BlockCopy($0) }
        // The old handler is released outside the lock.
        let old = state.withLock { state -> BlockCopy? in
            defer { state.handler = copy }
            return state.handler
        }
        withExtendedLifetime(old) {}
    }

    /// Sets the timer to fire after a delay, and then again and again. Nil means never.
    func set(_ delay: Duration?, interval: Duration?) {
        let (old, setting) = state.withLock { state in
            state.settings += 1
            defer { (state.event, state.isDue) = (nil, false) }
            return (state.event, state.settings)
        }
        old?.cancel()
        if let delay { schedule(delay, interval, setting) }
    }

    private func schedule(_ delay: Duration, _ interval: Duration?, _ setting: Int) {
        guard tracker.isOpen, let clock = tracker.field?.drivenClock else { return }
        let event = clock.schedule(delayOfApp: delay) { [weak self] in self?.fire(interval, setting) }
        let isOld = state.withLock { state in
            guard state.settings == setting, !state.isCancelled else { return true }
            state.event = event
            return false
        }
        if isOld { event.cancel() }
    }

    private func fire(_ interval: Duration?, _ setting: Int) {
        let isCurrent = state.withLock { state in
            guard state.settings == setting, !state.isCancelled else { return false }
            state.isDue = true
            return true
        }
        guard isCurrent else { return }
        enqueueIfDue()
        if let interval { schedule(interval, interval, setting) }
    }

    /// Puts the handler on the queue if the time has come. If the handler has not returned from the last time, it runs
    /// again only once.
    private func enqueueIfDue() {
        let isReady = state.withLock { state in
            guard state.isDue, state.canFire, !state.isEnqueued, state.handler != nil else { return false }
            (state.isDue, state.isEnqueued) = (false, true)
            return true
        }
        guard isReady, let environment else { return }
        let run: @convention(block) () -> Void = { [self] in
            let handler = state.withLock { $0.canFire ? $0.handler : nil }
            handler?.call()
            state.withLock { $0.isEnqueued = false }
            enqueueIfDue()
        }
        withExtendedLifetime(run) {
            guard let block = unsafe DispatchLibrary.copyBlock(unsafeBitCast(run, to: DispatchLibrary.Pointer.self))
            else { return }
            let work = unsafe TestWork.wrap(for: (environment, tracker), block, nil, belongsToField: true)
            unsafe DispatchLibrary.async(queue, work, TestWork.run)
        }
    }

    func activate() { change { $0.isInactive = false } }
    func suspend() { change { $0.suspensions += 1 } }

    /// Resumes the timer. The first call for a new source activates it.
    func resume() {
        change { state in
            if state.isInactive { state.isInactive = false } else { state.suspensions = max(state.suspensions - 1, 0) }
        }
    }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        enqueueIfDue()
    }

    func cancel() {
        let (event, handler) = state.withLock { state in
            state.isCancelled = true
            defer { (state.event, state.handler) = (nil, nil) }
            return (state.event, state.handler)
        }
        event?.cancel()
        withExtendedLifetime(handler) {}
    }

    /// Releases the handler if the timer is set, because the field has ended, as the field does with delayed blocks.
    func fieldHasEnded() {
        let handler = state.withLock { state -> BlockCopy? in
            guard state.event != nil else { return nil }
            defer { (state.event, state.handler) = (nil, nil) }
            return state.handler
        }
        withExtendedLifetime(handler) {}
    }

    /// Runs the handler. Dispatch's own timer calls this; it is used only after the field has ended.
    func runAfterField() {
        guard let environment else { return }
        let handler = state.withLock { $0.handler }
        tracker.begins(wasQueued: false)
        handler?.run(as: TestScope(environment, in: CurrentTest.scope, lasts: true))
        tracker.ends()
    }
}

/// The timers that use the time of their field, by the address of their source.
@safe enum VirtualTimers {
    private static let timers = Locked<[UInt: VirtualTimer]>([:])
    private static let timerType = unsafe UInt(
        bitPattern: dlsym(UnsafeMutableRawPointer(bitPattern: -1), "_dispatch_source_type_timer")
    )

    private static func timer(_ source: DispatchLibrary.Pointer) -> VirtualTimer? {
        guard OpenFields.wereEverOpened else { return nil }
        let address = UInt(bitPattern: source)
        return timers.withLock { $0[address] }
    }

    /// Adds a new source if it is a timer that code under test has created.
    static func add(
        _ source: DispatchLibrary.Pointer,
        type: DispatchLibrary.Pointer,
        _ queue: DispatchLibrary.Pointer?,
        calledBy function: String
    ) {
        guard OpenFields.wereEverOpened else { return }
        // A source that was freed may have had the same address.
        let address = UInt(bitPattern: source)
        let old = timers.withLock { $0.removeValue(forKey: address) }
        withExtendedLifetime(old) {}
        guard UInt(bitPattern: type) == timerType, let owner = CurrentTest.current, owner.tracker.isDriven,
            !Callers.belongToLibrary(calling: function),
            let queue = unsafe queue ?? DispatchLibrary.globalQueue(0, 0)
        else { return }
        let timer = unsafe VirtualTimer(owner, queue)
        timers.withLock { $0[address] = timer }
        unsafe DispatchLibrary.setContext(source, Unmanaged.passRetained(timer).toOpaque())
        unsafe DispatchLibrary.setFinalizer(source) { context in
            guard let context = unsafe context else { return }
            let timer = unsafe Unmanaged<VirtualTimer>.fromOpaque(context).takeRetainedValue()
            timer.cancel()
            VirtualTimers.remove(timer)
        }
    }

    private static func remove(_ timer: VirtualTimer) {
        timers.withLock { timers in
            if let address = timers.first(where: { $0.value === timer })?.key { timers[address] = nil }
        }
    }

    /// Releases the handlers of a test's set timers, because its field has ended.
    static func fieldHasEnded(of tracker: TestTracker) {
        let own = timers.withLock { timers in timers.values.filter { $0.tracker === tracker } }
        for timer in own { timer.fieldHasEnded() }
    }

    /// Sets the handler of a timer.
    ///
    /// - Returns: false for a source that is not a timer of a test.
    static func setHandler(_ source: DispatchLibrary.Pointer, _ block: DispatchLibrary.Pointer?) -> Bool {
        guard let timer = unsafe timer(source) else { return false }
        unsafe timer.setHandler(block)
        let wrapper: @convention(block) () -> Void = { [weak timer] in timer?.runAfterField() }
        withExtendedLifetime(wrapper) {
            unsafe DispatchLibrary.setEventHandler(source, unsafeBitCast(wrapper, to: DispatchLibrary.Pointer.self))
        }
        return true
    }

    /// Sets a timer.
    ///
    /// - Returns: false if the library's timer has to be set.
    static func set(_ source: DispatchLibrary.Pointer, _ start: UInt64, _ interval: UInt64) -> Bool {
        guard let timer = unsafe timer(source), timer.tracker.isOpen else { return false }
        let isRepeated = interval > 0 && interval < UInt64(Int64.max)
        timer.set(
            VirtualDelay.duration(until: start),
            interval: isRepeated ? .nanoseconds(Int64(max(interval, 1000))) : nil
        )
        return true
    }

    static func change(_ source: DispatchLibrary.Pointer, _ change: (VirtualTimer) -> Void) {
        if let timer = unsafe timer(source) { change(timer) }
    }
}

@_cdecl("dispatch_source_create")
package func trackSource(
    _ type: UnsafeMutableRawPointer,
    _ handle: UInt,
    _ mask: UInt,
    _ queue: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    let source = unsafe DispatchLibrary.createSource(type, handle, mask, queue)
    if let source = unsafe source {
        unsafe VirtualTimers.add(source, type: type, queue, calledBy: "dispatch_source_create")
    }
    return unsafe source
}

@_cdecl("dispatch_source_cancel")
package func cancelSource(_ source: UnsafeMutableRawPointer) {
    unsafe VirtualTimers.change(source) { $0.cancel() }
    unsafe DispatchLibrary.cancelSource(source)
}

@_cdecl("dispatch_activate")
package func activate(_ object: UnsafeMutableRawPointer) {
    unsafe DispatchLibrary.activate(object)
    unsafe VirtualTimers.change(object) { $0.activate() }
}

@_cdecl("dispatch_resume")
package func resume(_ object: UnsafeMutableRawPointer) {
    unsafe DispatchLibrary.resume(object)
    unsafe VirtualTimers.change(object) { $0.resume() }
}

@_cdecl("dispatch_suspend")
package func suspend(_ object: UnsafeMutableRawPointer) {
    unsafe VirtualTimers.change(object) { $0.suspend() }
    unsafe DispatchLibrary.suspend(object)
}
