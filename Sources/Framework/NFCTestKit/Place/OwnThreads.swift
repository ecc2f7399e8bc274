// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions

/// Threads that code of a test starts. They belong to the test. Their work is not counted, but time passes only when
/// each of them waits for something else than time.
@safe enum OwnThreads {
    typealias Body = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    typealias Create =
        @convention(c) (
            UnsafeMutablePointer<pthread_t>, UnsafePointer<pthread_attr_t>?, Body, UnsafeMutableRawPointer?
        ) -> Int32

    typealias CreateOfFoundation =
        @convention(c) (pthread_attr_t, Body, UnsafeMutableRawPointer?) -> pthread_t

    static let create: Create = unsafe DispatchLibrary.next("pthread_create")
    static let createOfFoundation: CreateOfFoundation = unsafe DispatchLibrary.next("_CFThreadCreate")

    /// A thread of a test: its function, and the code around it.
    @safe private final class Begun: CarriedScope {
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
            place.threadComes()
        }

        override var isOfThread: Bool { true }

        func run() -> UnsafeMutableRawPointer? {
            SignalStack.setForCaller()
            let number = ProcessActivity.callerNumber
            place.threadBegins(number)
            defer { place.threadEnds(number) }
            return unsafe CurrentTest.within(self) { unsafe body(context) }
        }

        func doesNotCome() { place.threadComes(false) }
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

    /// Releases a wrapped function when its thread failed to start.
    static func release(_ carried: UnsafeMutableRawPointer) {
        unsafe Unmanaged<Begun>.fromOpaque(carried).takeRetainedValue().doesNotCome()
    }
}
