// SPDX-License-Identifier: Apache-2.0

// The functions of libdispatch that put work on queues, see `DispatchLibrary`. Work of no test is passed to the
// library.

/// Puts a test's work on its queue. Other work is passed to the library unchanged.
private func carry(
    _ work: UnsafeMutableRawPointer?,
    by enqueue: (UnsafeMutableRawPointer) -> Void,
    orElse library: () -> Void
) {
    guard let work = unsafe work else { return library() }
    unsafe enqueue(work)
}

/// The same for a block, which may be a work item or a barrier.
private func carry(
    block: UnsafeMutableRawPointer,
    on queue: UnsafeMutableRawPointer,
    in group: UnsafeMutableRawPointer? = nil,
    orElse library: () -> Void
) {
    let isBarrier = unsafe WorkItems.isBarrier(block)
    let enqueue = unsafe isBarrier == true ? DispatchLibrary.barrierAsync : DispatchLibrary.async
    unsafe carry(
        isBarrier == nil ? nil : TestWork.counted(block: block, group: group),
        by: { unsafe enqueue(queue, $0, TestWork.run) },
        orElse: library
    )
}

@_cdecl("dispatch_async_f")
package func carryAsync(
    _ queue: UnsafeMutableRawPointer,
    _ context: UnsafeMutableRawPointer?,
    _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
) {
    unsafe carry(
        TestWork.counted(context, function),
        by: { unsafe TestWork.enqueue($0, function, on: queue) },
        orElse: { unsafe DispatchLibrary.async(queue, context, function) }
    )
}

@_cdecl("dispatch_barrier_async_f")
package func carryBarrierAsync(
    _ queue: UnsafeMutableRawPointer,
    _ context: UnsafeMutableRawPointer?,
    _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
) {
    unsafe carry(
        TestWork.counted(context, function),
        by: { unsafe DispatchLibrary.barrierAsync(queue, $0, TestWork.run) },
        orElse: { unsafe DispatchLibrary.barrierAsync(queue, context, function) }
    )
}

@_cdecl("dispatch_async")
package func carryAsyncBlock(_ queue: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer) {
    unsafe carry(block: block, on: queue) { unsafe DispatchLibrary.asyncBlock(queue, block) }
}

@_cdecl("dispatch_barrier_async")
package func carryBarrierAsyncBlock(_ queue: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer) {
    unsafe carry(
        TestWork.counted(block: block),
        by: { unsafe DispatchLibrary.barrierAsync(queue, $0, TestWork.run) },
        orElse: { unsafe DispatchLibrary.barrierAsyncBlock(queue, block) }
    )
}

@_cdecl("dispatch_group_async")
package func carryGroupAsyncBlock(
    _ group: UnsafeMutableRawPointer,
    _ queue: UnsafeMutableRawPointer,
    _ block: UnsafeMutableRawPointer
) {
    unsafe carry(block: block, on: queue, in: group) { unsafe WorkItems.groupAsync(group, queue, block) }
}

/// A group's notification goes on its queue as soon as the group is empty. It is counted from the start.
@_cdecl("dispatch_group_notify")
package func carryGroupNotifyBlock(
    _ group: UnsafeMutableRawPointer,
    _ queue: UnsafeMutableRawPointer,
    _ block: UnsafeMutableRawPointer
) {
    unsafe carry(
        TestWork.counted(block: block),
        by: { unsafe DispatchLibrary.notify(group, queue, $0, TestWork.run) },
        orElse: { unsafe WorkItems.groupNotify(group, queue, block) }
    )
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

@_cdecl("dispatch_time")
package func makeTime(_ base: UInt64, _ delta: Int64) -> UInt64 { VirtualDelay.time(base, plus: delta) }
