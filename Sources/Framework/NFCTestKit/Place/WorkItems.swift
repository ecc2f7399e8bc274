// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink

/// Work items of a test, which are blocks that libdispatch creates. They belong to the test that created them.
@safe enum WorkItems {
    typealias Pointer = DispatchLibrary.Pointer
    private typealias InGroup = @convention(c) (Pointer, Pointer, Pointer) -> Void

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

    static func groupAsync(_ group: Pointer, _ queue: Pointer, _ block: Pointer) {
        unsafe libraryGroupAsync(group, queue, block)
    }

    static func groupNotify(_ group: Pointer, _ queue: Pointer, _ block: Pointer) {
        unsafe libraryGroupNotify(group, queue, block)
    }

    private static let libraryGroupAsync: InGroup = unsafe DispatchLibrary.next("dispatch_group_async")
    private static let libraryGroupNotify: InGroup = unsafe DispatchLibrary.next("dispatch_group_notify")
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
