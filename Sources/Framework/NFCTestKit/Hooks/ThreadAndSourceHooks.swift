// SPDX-License-Identifier: Apache-2.0
package import Glibc
import NFCSessions

/// The program itself calls it. Libraries call a versioned symbol, so their calls arrive here only under
/// ThreadSanitizer.
@_cdecl("pthread_create")
package func carryThread(
    _ thread: UnsafeMutablePointer<pthread_t>,
    _ attributes: UnsafePointer<pthread_attr_t>?,
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let carried = unsafe TrackedThreads.carried(body, context, calledBy: "pthread_create") else {
        return unsafe TrackedThreads.create(thread, attributes, body, context)
    }
    let status = unsafe TrackedThreads.create(thread, attributes, TrackedThreads.run, carried)
    if status != 0 { unsafe TrackedThreads.release(carried) }
    return status
}

/// Foundation's `Thread` calls it.
@_cdecl("_CFThreadCreate")
package func carryThreadOfFoundation(
    _ attributes: pthread_attr_t,
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> pthread_t {
    guard let carried = unsafe TrackedThreads.carried(body, context, calledBy: "_CFThreadCreate") else {
        return unsafe TrackedThreads.createOfFoundation(attributes, body, context)
    }
    return unsafe TrackedThreads.createOfFoundation(attributes, TrackedThreads.run, carried)
}

/// Threads that code of a test starts. They belong to the test. Their work is not counted, but time passes only when
/// each of them waits for something else than time.
@safe enum TrackedThreads {
    typealias Body = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    typealias Create =
        @convention(c) (
            UnsafeMutablePointer<pthread_t>, UnsafePointer<pthread_attr_t>?, Body, UnsafeMutableRawPointer?
        ) -> Int32

    typealias CreateOfFoundation = @convention(c) (pthread_attr_t, Body, UnsafeMutableRawPointer?) -> pthread_t

    static let create: Create = unsafe DispatchLibrary.next("pthread_create")
    static let createOfFoundation: CreateOfFoundation = unsafe DispatchLibrary.next("_CFThreadCreate")

    /// A thread of a test: its function, and the code around it.
    @safe private final class Begun: TestScope {
        private let body: Body
        private let context: UnsafeMutableRawPointer?
        private let place: TestTracker

        init(
            _ owner: (environment: NFCEnvironment, place: TestTracker),
            _ body: @escaping Body,
            _ context: UnsafeMutableRawPointer?
        ) {
            unsafe self.body = body
            unsafe self.context = context
            place = owner.place
            super.init(owner.environment, lasts: true)
            place.threadWillStart()
        }

        override var isOfThread: Bool { true }

        func run() -> UnsafeMutableRawPointer? {
            SignalStack.setForCaller()
            let number = ProcessActivity.callerNumber
            place.threadBegins(number)
            defer { place.threadEnds(number) }
            return unsafe CurrentTest.within(self) { unsafe body(context) }
        }

        func failedToStart() { place.threadWillStart(false) }
    }

    /// Runs a thread's function that ``carried(_:_:)`` wrapped.
    static let run: Body = { pointer in
        guard let pointer = unsafe pointer else { return nil }
        return unsafe Unmanaged<Begun>.fromOpaque(pointer).takeRetainedValue().run()
    }

    /// Wraps the function of a test's thread, for the thread to run instead. Nil for a thread of no test, for a thread
    /// that libdispatch needs for its queues, and for a thread that a library shares among all tests.
    ///
    /// - Parameter function: the function that was called.
    static func carried(
        _ body: @escaping Body,
        _ context: UnsafeMutableRawPointer?,
        calledBy function: String
    ) -> UnsafeMutableRawPointer? {
        guard let owner = CurrentTest.current,
            !(unsafe Symbols.isIn("libdispatch", unsafeBitCast(body, to: DispatchLibrary.Pointer.self)))
        else { return nil }
        owner.place.noteThread()
        if Callers.areOfLibrary(calling: function) { return nil }
        return unsafe Unmanaged.passRetained(Begun(owner, body, context)).toOpaque()
    }

    static func release(_ carried: UnsafeMutableRawPointer) {
        unsafe Unmanaged<Begun>.fromOpaque(carried).takeRetainedValue().failedToStart()
    }
}

// MARK: Sources

/// Handlers of timers, files and sockets that belong to a test, also if work sets them that it has left behind. These
/// take real time, which can't be counted.
@_cdecl("dispatch_source_set_event_handler")
package func carryHandler(_ source: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer?) {
    guard let block = unsafe block, let (environment, place) = CurrentTest.owner else {
        return unsafe DispatchLibrary.setEventHandler(source, block)
    }
    place.noteSource()
    guard !Callers.areOfLibrary(calling: "dispatch_source_set_event_handler"), let copy = unsafe BlockCopy(block) else {
        return unsafe DispatchLibrary.setEventHandler(source, block)
    }
    let carrying: @convention(block) () -> Void = {
        place.begins(wasQueued: false)
        copy.run(as: TestScope(environment, in: CurrentTest.scope, lasts: true))
        place.ends()
    }
    withExtendedLifetime(carrying) {
        unsafe DispatchLibrary.setEventHandler(source, unsafeBitCast(carrying, to: DispatchLibrary.Pointer.self))
    }
}

@_cdecl("dispatch_source_set_timer")
package func noteTimer(_ source: UnsafeMutableRawPointer, _ start: UInt64, _ interval: UInt64, _ leeway: UInt64) {
    CurrentTest.current?.place.noteSource()
    unsafe DispatchLibrary.setTimer(source, start, interval, leeway)
}

/// Foundation's `Timer` calls it.
@_cdecl("CFRunLoopAddTimer")
package func noteRunLoopTimer(_ loop: UnsafeRawPointer?, _ timer: UnsafeRawPointer?, _ mode: UnsafeRawPointer?) {
    CurrentTest.current?.place.noteSource()
    unsafe RunLoopSources.addTimer(loop, timer, mode)
}

/// Foundation's `Process`, ports and streams call it.
@_cdecl("CFRunLoopAddSource")
package func noteRunLoopSource(_ loop: UnsafeRawPointer?, _ source: UnsafeRawPointer?, _ mode: UnsafeRawPointer?) {
    CurrentTest.current?.place.noteSource()
    unsafe RunLoopSources.addSource(loop, source, mode)
}

/// Foundation's own functions that the two above replace.
@safe private enum RunLoopSources {
    typealias Add = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?) -> Void

    static let addTimer: Add = unsafe DispatchLibrary.next("CFRunLoopAddTimer")
    static let addSource: Add = unsafe DispatchLibrary.next("CFRunLoopAddSource")
}
