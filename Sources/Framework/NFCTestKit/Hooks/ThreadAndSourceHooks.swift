// SPDX-License-Identifier: Apache-2.0
package import Glibc
import NFCSessions

/// Replaces `pthread_create` for the program itself. Libraries call a versioned symbol, so their calls reach this
/// function only under ThreadSanitizer.
@_cdecl("pthread_create")
package func trackThread(
    _ thread: UnsafeMutablePointer<pthread_t>,
    _ attributes: UnsafePointer<pthread_attr_t>?,
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let wrapped = unsafe TrackedThreads.wrap(body, context, calledBy: "pthread_create") else {
        return unsafe TrackedThreads.create(thread, attributes, body, context)
    }
    let status = unsafe TrackedThreads.create(thread, attributes, TrackedThreads.run, wrapped)
    if status != 0 { unsafe TrackedThreads.release(wrapped) }
    return status
}

/// Replaces the function that Foundation's `Thread` calls.
@_cdecl("_CFThreadCreate")
package func trackThreadOfFoundation(
    _ attributes: pthread_attr_t,
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> pthread_t {
    guard let wrapped = unsafe TrackedThreads.wrap(body, context, calledBy: "_CFThreadCreate") else {
        return unsafe TrackedThreads.createOfFoundation(attributes, body, context)
    }
    return unsafe TrackedThreads.createOfFoundation(attributes, TrackedThreads.run, wrapped)
}

/// Threads that code of a test starts. The threads belong to the test. Their work is not tracked, but time advances
/// only while each of them waits for something other than time.
@safe enum TrackedThreads {
    typealias Body = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    typealias Create =
        @convention(c) (
            UnsafeMutablePointer<pthread_t>, UnsafePointer<pthread_attr_t>?, Body, UnsafeMutableRawPointer?
        ) -> Int32

    typealias CreateOfFoundation = @convention(c) (pthread_attr_t, Body, UnsafeMutableRawPointer?) -> pthread_t

    static let create: Create = unsafe DispatchLibrary.next("pthread_create")
    static let createOfFoundation: CreateOfFoundation = unsafe DispatchLibrary.next("_CFThreadCreate")

    @safe private final class TestThread: TestScope {
        private let body: Body
        private let context: UnsafeMutableRawPointer?
        private let tracker: TestTracker

        init(
            _ owner: (environment: NFCEnvironment, tracker: TestTracker),
            _ body: @escaping Body,
            _ context: UnsafeMutableRawPointer?
        ) {
            unsafe self.body = body
            unsafe self.context = context
            tracker = owner.tracker
            super.init(owner.environment, lasts: true)
            tracker.threadWillStart()
        }

        override var isOnAppThread: Bool { true }

        func run() -> UnsafeMutableRawPointer? {
            SignalStack.setForCaller()
            let number = ProcessActivity.callerNumber
            tracker.threadBegins(number)
            defer { tracker.threadEnds(number) }
            return unsafe CurrentTest.within(self) { unsafe body(context) }
        }

        func failedToStart() { tracker.threadWillStart(false) }
    }

    /// Runs a thread's function that ``wrap(_:_:calledBy:)`` has wrapped.
    static let run: Body = { pointer in
        guard let pointer = unsafe pointer else { return nil }
        return unsafe Unmanaged<TestThread>.fromOpaque(pointer).takeRetainedValue().run()
    }

    /// Wraps the function of a test's thread, for the thread to run instead. Nil for a thread that belongs to no test,
    /// a thread of libdispatch's queues, or a thread that a library shares among all tests.
    static func wrap(
        _ body: @escaping Body,
        _ context: UnsafeMutableRawPointer?,
        calledBy function: String
    ) -> UnsafeMutableRawPointer? {
        guard let owner = CurrentTest.current,
            !(unsafe Symbols.isIn("libdispatch", unsafeBitCast(body, to: DispatchLibrary.Pointer.self)))
        else { return nil }
        let isOfLibrary = Callers.belongToLibrary(calling: function)
        owner.tracker.noteThread(ofLibrary: isOfLibrary)
        if isOfLibrary { return nil }
        return unsafe Unmanaged.passRetained(TestThread(owner, body, context)).toOpaque()
    }

    static func release(_ wrapped: UnsafeMutableRawPointer) {
        unsafe Unmanaged<TestThread>.fromOpaque(wrapped).takeRetainedValue().failedToStart()
    }
}

// MARK: Sources

/// Replaces the function that sets handlers of timers, files and sockets. A test's handlers, including those that its
/// leftover work sets, run as code of the test. Events of files and sockets take real time and can't be predicted.
@_cdecl("dispatch_source_set_event_handler")
package func trackHandler(_ source: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer?) {
    if unsafe VirtualTimers.setHandler(source, block) { return }
    guard let block = unsafe block, let (environment, tracker) = CurrentTest.owner else {
        return unsafe DispatchLibrary.setEventHandler(source, block)
    }
    tracker.noteSource()
    guard !Callers.belongToLibrary(calling: "dispatch_source_set_event_handler"),
        let copy = unsafe BlockCopy(block)
    else {
        return unsafe DispatchLibrary.setEventHandler(source, block)
    }
    let wrapper: @convention(block) () -> Void = {
        tracker.begins(wasQueued: false)
        copy.run(as: TestScope(environment, in: CurrentTest.scope, lasts: true))
        tracker.ends()
    }
    withExtendedLifetime(wrapper) {
        unsafe DispatchLibrary.setEventHandler(source, unsafeBitCast(wrapper, to: DispatchLibrary.Pointer.self))
    }
}

@_cdecl("dispatch_source_set_timer")
package func setTimer(_ source: UnsafeMutableRawPointer, _ start: UInt64, _ interval: UInt64, _ leeway: UInt64) {
    if unsafe VirtualTimers.set(source, start, interval) { return }
    CurrentTest.current?.tracker.noteSource()
    unsafe DispatchLibrary.setTimer(source, start, interval, leeway)
}

/// Replaces the function that Foundation's `Timer` calls.
@_cdecl("CFRunLoopAddTimer")
package func noteRunLoopTimer(_ loop: UnsafeRawPointer?, _ timer: UnsafeRawPointer?, _ mode: UnsafeRawPointer?) {
    if let tracker = CurrentTest.current?.tracker {
        tracker.noteSource()
        if unsafe !RunLoopSources.mayRun(loop) { tracker.advise(RunLoopSources.advice) }
    }
    unsafe RunLoopSources.addTimer(loop, timer, mode)
}

/// Replaces the function that Foundation's `Process`, ports and streams call.
@_cdecl("CFRunLoopAddSource")
package func noteRunLoopSource(_ loop: UnsafeRawPointer?, _ source: UnsafeRawPointer?, _ mode: UnsafeRawPointer?) {
    CurrentTest.current?.tracker.noteSource()
    unsafe RunLoopSources.addSource(loop, source, mode)
}

/// Foundation's original run loop functions, which the two functions above replace.
@safe private enum RunLoopSources {
    typealias Add = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?) -> Void

    static let advice = """
        A Timer was added to a run loop that does not run, so it never fires: Swift Testing runs no run loop. Use XCTest, \
        a DispatchSource timer or Task.sleep, or run the loop of a thread.
        """

    private static let main: @convention(c) () -> UnsafeRawPointer? = unsafe DispatchLibrary.next("CFRunLoopGetMain")
    private static let copyMode: @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer? =
        unsafe DispatchLibrary.next("CFRunLoopCopyCurrentMode")
    private static let release: @convention(c) (UnsafeRawPointer?) -> Void = unsafe DispatchLibrary.next("CFRelease")

    /// Whether a loop runs, or belongs to a thread of the app, which may run it later.
    static func mayRun(_ loop: UnsafeRawPointer?) -> Bool {
        if let mode = unsafe copyMode(loop) {
            unsafe release(mode)
            return true
        }
        return unsafe loop != main() && CurrentTest.scope?.isOnAppThread == true
    }

    static let addTimer: Add = unsafe DispatchLibrary.next("CFRunLoopAddTimer")
    static let addSource: Add = unsafe DispatchLibrary.next("CFRunLoopAddSource")
}
