// SPDX-License-Identifier: Apache-2.0

// The functions of libdispatch that put work on queues, see `DispatchLibrary`. Work of no test goes on to the library as it is.

@_cdecl("dispatch_async_f")
package func carryAsync(
    _ queue: UnsafeMutableRawPointer,
    _ context: UnsafeMutableRawPointer?,
    _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
) {
    guard let work = unsafe CarriedWork.counted(context, function) else {
        return unsafe DispatchLibrary.async(queue, context, function)
    }
    unsafe CarriedWork.enqueue(work, function, on: queue)
}

@_cdecl("dispatch_barrier_async_f")
package func carryBarrierAsync(
    _ queue: UnsafeMutableRawPointer,
    _ context: UnsafeMutableRawPointer?,
    _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
) {
    guard let work = unsafe CarriedWork.counted(context, function) else {
        return unsafe DispatchLibrary.barrierAsync(queue, context, function)
    }
    unsafe DispatchLibrary.barrierAsync(queue, work, CarriedWork.run)
}

@_cdecl("dispatch_async")
package func carryAsyncBlock(_ queue: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer) {
    guard let isBarrier = unsafe WorkItems.isBarrier(block), let work = unsafe CarriedWork.counted(block: block) else {
        return unsafe DispatchLibrary.asyncBlock(queue, block)
    }
    let enqueue = unsafe isBarrier ? DispatchLibrary.barrierAsync : DispatchLibrary.async
    unsafe enqueue(queue, work, CarriedWork.run)
}

@_cdecl("dispatch_barrier_async")
package func carryBarrierAsyncBlock(_ queue: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer) {
    guard let work = unsafe CarriedWork.counted(block: block) else {
        return unsafe DispatchLibrary.barrierAsyncBlock(queue, block)
    }
    unsafe DispatchLibrary.barrierAsync(queue, work, CarriedWork.run)
}

@_cdecl("dispatch_group_async")
package func carryGroupAsyncBlock(
    _ group: UnsafeMutableRawPointer,
    _ queue: UnsafeMutableRawPointer,
    _ block: UnsafeMutableRawPointer
) {
    guard let isBarrier = unsafe WorkItems.isBarrier(block),
        let work = unsafe CarriedWork.counted(block: block, group: group)
    else { return unsafe WorkItems.groupAsync(group, queue, block) }
    let enqueue = unsafe isBarrier ? DispatchLibrary.barrierAsync : DispatchLibrary.async
    unsafe enqueue(queue, work, CarriedWork.run)
}

/// What waits for a group is on a queue as soon as the group is empty: it is counted from the start.
@_cdecl("dispatch_group_notify")
package func carryGroupNotifyBlock(
    _ group: UnsafeMutableRawPointer,
    _ queue: UnsafeMutableRawPointer,
    _ block: UnsafeMutableRawPointer
) {
    guard let work = unsafe CarriedWork.counted(block: block) else {
        return unsafe WorkItems.groupNotify(group, queue, block)
    }
    unsafe DispatchLibrary.notify(group, queue, work, CarriedWork.run)
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
