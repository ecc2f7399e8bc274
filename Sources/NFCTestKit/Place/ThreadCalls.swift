// SPDX-License-Identifier: Apache-2.0
package import Glibc
import NFCRuntime

/// Threads that code of a test begins. They belong to the test; what they do is not counted, so that where there are some a test
/// is waited for longer.
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

    /// A thread of a test: what it does, and what runs around that.
    @safe private final class Begun: CarriedScope {
        private let body: Body
        private let context: UnsafeMutableRawPointer?

        init(_ environment: NFCEnvironment, _ body: @escaping Body, _ context: UnsafeMutableRawPointer?) {
            unsafe self.body = body
            unsafe self.context = context
            super.init(environment, lasts: true)
        }

        override var isOfThread: Bool { true }

        func run() -> UnsafeMutableRawPointer? { unsafe CarriedPlace.within(self) { unsafe body(context) } }
    }

    /// Runs what ``carried(_:_:)`` has made.
    static let run: Body = { pointer in
        guard let pointer = unsafe pointer else { return nil }
        return unsafe Unmanaged<Begun>.fromOpaque(pointer).takeRetainedValue().run()
    }

    /// What a thread is given in place of what a test gives it; nil for a thread of no test, for one that libdispatch needs for
    /// its queues, and for one that a library has for all tests.
    ///
    /// - Parameter function: the function that was called, where libraries call it too.
    static func carried(
        _ body: @escaping Body,
        _ context: UnsafeMutableRawPointer?,
        calledBy function: String? = nil
    ) -> UnsafeMutableRawPointer? {
        guard let (environment, place) = CarriedPlace.current,
            !(unsafe SwiftJobs.isIn("libdispatch", unsafeBitCast(body, to: DispatchLibrary.Pointer.self)))
        else { return nil }
        place.noteThread()
        if let function, Callers.areOfLibrary(calling: function) { return nil }
        return unsafe Unmanaged.passRetained(Begun(environment, body, context)).toOpaque()
    }

    /// Lets go of what no thread will run.
    static func release(_ carried: UnsafeMutableRawPointer) { unsafe Unmanaged<Begun>.fromOpaque(carried).release() }
}

/// Called by the program itself. A library's calls of the function, which has a version, do not come here.
@_cdecl("pthread_create")
package func carryThread(
    _ thread: UnsafeMutablePointer<pthread_t>,
    _ attributes: UnsafePointer<pthread_attr_t>?,
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let carried = unsafe OwnThreads.carried(body, context) else {
        return unsafe OwnThreads.create(thread, attributes, body, context)
    }
    let status = unsafe OwnThreads.create(thread, attributes, OwnThreads.run, carried)
    if status != 0 { unsafe OwnThreads.release(carried) }
    return status
}

/// Called by `Thread` of Foundation.
@_cdecl("_CFThreadCreate")
package func carryThreadOfFoundation(
    _ attributes: pthread_attr_t,
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> pthread_t {
    guard let carried = unsafe OwnThreads.carried(body, context, calledBy: "_CFThreadCreate") else {
        return unsafe OwnThreads.createOfFoundation(attributes, body, context)
    }
    return unsafe OwnThreads.createOfFoundation(attributes, OwnThreads.run, carried)
}
