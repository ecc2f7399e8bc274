// SPDX-License-Identifier: Apache-2.0
package import Glibc

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
