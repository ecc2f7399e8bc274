// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink

// Replacements for the libdispatch functions that put work on queues, see `DispatchLibrary`. Work that belongs to no
// test is passed to the library.

/// Puts a block, which may be a work item or a barrier, on its queue as work of a test.
///
/// - Returns: false for a block that belongs to no test.
private func enqueueAsTestWork(
    _ block: UnsafeMutableRawPointer,
    on queue: UnsafeMutableRawPointer,
    in group: UnsafeMutableRawPointer? = nil
) -> Bool {
    guard let isBarrier = unsafe WorkItems.isBarrier(block),
        let work = unsafe TestWork.wrap(block: block, group: group)
    else { return false }
    let enqueue = unsafe isBarrier ? DispatchLibrary.barrierAsync : DispatchLibrary.async
    unsafe enqueue(queue, work, TestWork.run)
    return true
}

@_cdecl("dispatch_async_f")
package func trackAsync(
    _ queue: UnsafeMutableRawPointer,
    _ context: UnsafeMutableRawPointer?,
    _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
) {
    guard let work = unsafe TestWork.wrap(context, function) else {
        return unsafe DispatchLibrary.async(queue, context, function)
    }
    unsafe TestWork.enqueue(work, function, on: queue)
}

@_cdecl("dispatch_barrier_async_f")
package func trackBarrierAsync(
    _ queue: UnsafeMutableRawPointer,
    _ context: UnsafeMutableRawPointer?,
    _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
) {
    guard let work = unsafe TestWork.wrap(context, function) else {
        return unsafe DispatchLibrary.barrierAsync(queue, context, function)
    }
    unsafe DispatchLibrary.barrierAsync(queue, work, TestWork.run)
}

@_cdecl("dispatch_async")
package func trackAsyncBlock(_ queue: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer) {
    if unsafe !enqueueAsTestWork(block, on: queue) { unsafe DispatchLibrary.asyncBlock(queue, block) }
}

@_cdecl("dispatch_barrier_async")
package func trackBarrierAsyncBlock(_ queue: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer) {
    guard let work = unsafe TestWork.wrap(block: block) else {
        return unsafe DispatchLibrary.barrierAsyncBlock(queue, block)
    }
    unsafe DispatchLibrary.barrierAsync(queue, work, TestWork.run)
}

@_cdecl("dispatch_group_async")
package func trackGroupAsyncBlock(
    _ group: UnsafeMutableRawPointer,
    _ queue: UnsafeMutableRawPointer,
    _ block: UnsafeMutableRawPointer
) {
    if unsafe !enqueueAsTestWork(block, on: queue, in: group) { unsafe DispatchLibrary.groupAsync(group, queue, block) }
}

/// Replaces `dispatch_group_notify`. The notification counts as queued work even before the group is empty.
@_cdecl("dispatch_group_notify")
package func trackGroupNotifyBlock(
    _ group: UnsafeMutableRawPointer,
    _ queue: UnsafeMutableRawPointer,
    _ block: UnsafeMutableRawPointer
) {
    guard let work = unsafe TestWork.wrap(block: block) else {
        return unsafe DispatchLibrary.groupNotify(group, queue, block)
    }
    unsafe DispatchLibrary.notify(group, queue, work, TestWork.run)
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

/// Work items, which are blocks that libdispatch creates. A work item belongs to the test that created it.
@safe enum WorkItems {
    typealias Pointer = DispatchLibrary.Pointer

    private static let barrier: UInt = 1
    /// The flags of the tests' live work items, by the items' addresses.
    private static let flags = Locked<[UInt: UInt]>([:])

    /// The function that all work items share, and no other block has.
    private static let function: UInt = {
        let empty: @convention(block) () -> Void = {}
        let block = unsafe unsafeBitCast(empty, to: Pointer.self)
        guard let item = unsafe DispatchLibrary.makeBlock(0, block) else { return 0 }
        defer { unsafe DispatchLibrary.releaseBlock(item) }
        return unsafe item.load(fromByteOffset: 16, as: UInt.self)
    }()

    /// Returns whether a block is a barrier; nil for an unknown work item, or if no field was ever open.
    static func isBarrier(_ block: Pointer) -> Bool? {
        guard OpenFields.wereEverOpened else { return nil }
        guard unsafe block.load(fromByteOffset: 16, as: UInt.self) == function else { return false }
        return flags.withLock { $0[UInt(bitPattern: block)] }.map { $0 & barrier != 0 }
    }

    static func make(_ block: Pointer, flags: UInt, _ make: (Pointer) -> Pointer?) -> Pointer? {
        guard let (environment, _) = CurrentTest.owner, let copy = unsafe BlockCopy(block) else {
            return unsafe make(block)
        }
        let wrapper: @convention(block) () -> Void = { copy.run(as: TestScope(environment, in: CurrentTest.scope)) }
        let item = unsafe withExtendedLifetime(wrapper) { unsafe make(unsafeBitCast(wrapper, to: Pointer.self)) }
        if let item = unsafe item {
            let address = UInt(bitPattern: item)
            Self.flags.withLock { $0[address] = flags }
            copy.onRelease = { WorkItems.flags.withLock { $0[address] = nil } }
        }
        return unsafe item
    }
}

/// A copy of a block, to be run as code of a test. Another block that libdispatch retains owns it, or a timer.
///
/// Sendable because it is not changed after it was passed on.
@safe final class BlockCopy: @unchecked Sendable {
    private let block: DispatchLibrary.Pointer
    var onRelease: () -> Void = {}

    init?(_ block: DispatchLibrary.Pointer) {
        guard let copy = unsafe DispatchLibrary.copyBlock(block) else { return nil }
        unsafe self.block = copy
    }

    func run(as scope: TestScope) {
        CurrentTest.within(scope) { NFCEnvironment.$scoped.withValue(scope.environment) { call() } }
    }

    func call() { unsafe DispatchLibrary.call(block) }

    deinit {
        onRelease()
        unsafe DispatchLibrary.releaseBlock(block)
    }
}

@_cdecl("dispatch_block_create")
package func trackBlock(_ flags: UInt, _ block: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    unsafe WorkItems.make(block, flags: flags) { unsafe DispatchLibrary.makeBlock(flags, $0) }
}

@_cdecl("dispatch_block_create_with_qos_class")
package func trackBlockOfClass(
    _ flags: UInt,
    _ qos: UInt32,
    _ priority: Int32,
    _ block: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer? {
    unsafe WorkItems.make(block, flags: flags) { unsafe DispatchLibrary.makeBlockOfClass(flags, qos, priority, $0) }
}
