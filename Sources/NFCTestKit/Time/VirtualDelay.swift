// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime
import TagLink

/// Lets what code under test delays, with `Task.sleep` or `DispatchQueue.asyncAfter`, wait by the field's time.
///
/// Both end in the two functions of libdispatch that are below. A program that has functions of these names itself is
/// asked before the library, so that a program with the test kit sees each delay. What is delayed by code around which there
/// is no field goes on to libdispatch.
enum VirtualDelay {
    typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
    private typealias After = @convention(c) (UInt64, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
    private typealias AfterFunction =
        @convention(c) (UInt64, UnsafeMutableRawPointer, UnsafeMutableRawPointer?, Function) -> Void
    private typealias Async = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
    private typealias AsyncFunction =
        @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?, Function) -> Void
    private typealias Retain = @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
    private typealias Release = @convention(c) (UnsafeMutableRawPointer) -> Void

    private static let after: After = unsafe next("dispatch_after")
    private static let afterFunction: AfterFunction = unsafe next("dispatch_after_f")
    private static let async: Async = unsafe next("dispatch_async")
    private static let asyncFunction: AsyncFunction = unsafe next("dispatch_async_f")
    private static let copyBlock: Retain = unsafe next("_Block_copy")
    private static let releaseBlock: Release = unsafe next("_Block_release")
    private static let retain: Release = unsafe next("dispatch_retain")
    private static let release: Release = unsafe next("dispatch_release")

    /// The function of this name that would be called if the program had none: that of ThreadSanitizer where it is in use,
    /// else the library's. -1 is `RTLD_NEXT`.
    private static func next<Signature>(_ name: String) -> Signature {
        guard
            let symbol = unsafe dlsym(nil, "__interceptor_\(name)")
                ?? dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
        else {
            preconditionFailure("libdispatch has no \(name)")
        }
        return unsafe unsafeBitCast(symbol, to: Signature.self)
    }

    /// A queue or a block that waits. Sendable because both may be used on any thread.
    @safe private struct Waiting: @unchecked Sendable {
        let queue: UnsafeMutableRawPointer
        let work: UnsafeMutableRawPointer?
    }

    static func delay(_ time: UInt64, _ queue: UnsafeMutableRawPointer, block: UnsafeMutableRawPointer) {
        guard let clock = TestField.current?.drivenClock, let wait = wait(until: time),
            let copy = unsafe copyBlock(block)
        else { return unsafe after(time, queue, block) }
        unsafe retain(queue)
        let waiting = unsafe Waiting(queue: queue, work: copy)
        _ = clock.schedule(after: wait) {
            guard let work = unsafe waiting.work else { return }
            unsafe async(waiting.queue, work)
            unsafe releaseBlock(work)
            unsafe release(waiting.queue)
        }
    }

    static func delay(
        _ time: UInt64,
        _ queue: UnsafeMutableRawPointer,
        _ context: UnsafeMutableRawPointer?,
        _ function: @escaping Function
    ) {
        guard let clock = TestField.current?.drivenClock, let wait = wait(until: time) else {
            return unsafe afterFunction(time, queue, context, function)
        }
        unsafe retain(queue)
        let waiting = unsafe Waiting(queue: queue, work: context)
        _ = clock.schedule(after: wait) {
            unsafe asyncFunction(waiting.queue, waiting.work, function)
            unsafe release(waiting.queue)
        }
    }

    /// How long it is until a `dispatch_time_t`; nil for ever.
    ///
    /// It was made from the clock a moment ago: rounded up to 10 ms, or 1 ms for a short one, the moment does not count.
    private static func wait(until time: UInt64) -> Duration? {
        guard time != .max else { return nil }
        let isWall = time >> 62 == 3
        let value = isWall ? Int64(bitPattern: 0 &- time) : Int64(time & ~(1 << 63))
        var now = timespec()
        unsafe clock_gettime(isWall ? CLOCK_REALTIME : time >> 63 == 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &now)
        let left = max(value &- Int64(now.tv_sec) &* 1_000_000_000 &- Int64(now.tv_nsec), 0)
        let step: Int64 = left > 10_000_000 ? 10_000_000 : 1_000_000
        return .nanoseconds((left + step - 1) / step * step)
    }
}

@_cdecl("dispatch_after")
package func delayBlock(_ time: UInt64, _ queue: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer) {
    unsafe VirtualDelay.delay(time, queue, block: block)
}

@_cdecl("dispatch_after_f")
package func delayFunction(
    _ time: UInt64,
    _ queue: UnsafeMutableRawPointer,
    _ context: UnsafeMutableRawPointer?,
    _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
) {
    unsafe VirtualDelay.delay(time, queue, context, function)
}
