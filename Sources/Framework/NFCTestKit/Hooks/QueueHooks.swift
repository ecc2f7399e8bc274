// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink

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
    unsafe carry(block: block, on: queue, in: group) { unsafe DispatchLibrary.groupAsync(group, queue, block) }
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
        orElse: { unsafe DispatchLibrary.groupNotify(group, queue, block) }
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

/// Work items of a test, which are blocks that libdispatch creates. They belong to the test that created them.
@safe enum WorkItems {
    typealias Pointer = DispatchLibrary.Pointer

    private static let barrier: UInt = 1
    /// The flags of the work items that tests have created and not released.
    private static let flags = Locked<[UInt: UInt]>([:])

    /// The function of all work items. No other block has it.
    private static let function: UInt = {
        let empty: @convention(block) () -> Void = {}
        let block = unsafe unsafeBitCast(empty, to: Pointer.self)
        guard let item = unsafe DispatchLibrary.makeBlock(0, block) else { return 0 }
        defer { unsafe DispatchLibrary.releaseBlock(item) }
        return unsafe item.load(fromByteOffset: 16, as: UInt.self)
    }()

    /// Whether a block is a barrier; nil for an unknown work item, and before the first field.
    static func isBarrier(_ block: Pointer) -> Bool? {
        guard OpenFields.wereEverOpened else { return nil }
        guard unsafe block.load(fromByteOffset: 16, as: UInt.self) == function else { return false }
        return flags.withLock { $0[UInt(bitPattern: block)] }.map { $0 & barrier != 0 }
    }

    /// Releases a block, and removes the flags of its work item, when the work item is freed.
    @safe private final class Held {
        let block: Pointer
        var item: UInt?

        init(_ block: Pointer) { unsafe self.block = block }

        deinit {
            if let item { WorkItems.flags.withLock { $0[item] = nil } }
            unsafe DispatchLibrary.releaseBlock(block)
        }
    }

    /// Creates a work item from a block.
    ///
    /// - Parameters:
    ///   - block: the block.
    ///   - flags: its flags, as for libdispatch.
    ///   - make: creates the work item with the library.
    static func make(_ block: Pointer, flags: UInt, _ make: (Pointer) -> Pointer?) -> Pointer? {
        guard let (environment, _) = CurrentTest.owner, let copy = unsafe DispatchLibrary.copyBlock(block) else {
            return unsafe make(block)
        }
        let held = unsafe Held(copy)
        let carrying: @convention(block) () -> Void = {
            CurrentTest.within(environment) {
                NFCEnvironment.$scoped.withValue(environment) { unsafe DispatchLibrary.call(held.block) }
            }
        }
        let item = unsafe withExtendedLifetime(carrying) { unsafe make(unsafeBitCast(carrying, to: Pointer.self)) }
        if let item = unsafe item {
            let address = UInt(bitPattern: item)
            held.item = address
            Self.flags.withLock { $0[address] = flags }
        }
        return unsafe item
    }
}

@_cdecl("dispatch_block_create")
package func carryBlock(_ flags: UInt, _ block: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    unsafe WorkItems.make(block, flags: flags) { unsafe DispatchLibrary.makeBlock(flags, $0) }
}

@_cdecl("dispatch_block_create_with_qos_class")
package func carryBlockOfClass(
    _ flags: UInt,
    _ qos: UInt32,
    _ priority: Int32,
    _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
    unsafe WorkItems.make(block, flags: flags) { unsafe DispatchLibrary.makeBlockOfClass(flags, qos, priority, $0) }
}
