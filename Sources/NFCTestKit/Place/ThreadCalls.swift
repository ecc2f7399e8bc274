// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// Threads that code of a test begins. What they do is not counted, so that where there are some a test is waited for longer.
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

    /// Remembers that a test begins a thread, unless it is one that libdispatch needs for its queues.
    static func note(_ body: @escaping Body) {
        guard let place = CarriedPlace.current?.place else { return }
        if unsafe SwiftJobs.isIn("libdispatch", unsafeBitCast(body, to: DispatchLibrary.Pointer.self)) { return }
        place.noteThread()
    }
}

/// Called by the program itself. A library's calls of the function, which has a version, do not come here.
@_cdecl("pthread_create")
package func noteThread(
    _ thread: UnsafeMutablePointer<pthread_t>,
    _ attributes: UnsafePointer<pthread_attr_t>?,
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe OwnThreads.note(body)
    return unsafe OwnThreads.create(thread, attributes, body, context)
}

/// Called by `Thread` of Foundation.
@_cdecl("_CFThreadCreate")
package func noteThreadOfFoundation(
    _ attributes: pthread_attr_t,
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> pthread_t {
    unsafe OwnThreads.note(body)
    return unsafe OwnThreads.createOfFoundation(attributes, body, context)
}
