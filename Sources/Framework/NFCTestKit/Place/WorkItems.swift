// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagLink

/// Work items of a test, which are blocks of libdispatch's own making: they belong to the test that made them.
@safe enum WorkItems {
    typealias Pointer = DispatchLibrary.Pointer
    private typealias InGroup = @convention(c) (Pointer, Pointer, Pointer) -> Void

    private static let barrier: UInt = 1
    /// The flags of the work items that tests have made and not let go of.
    private static let flags = Locked<[UInt: UInt]>([:])

    /// What all work items have in common, and no other block: the function that they begin with.
    private static let function: UInt = {
        let empty: @convention(block) () -> Void = {}
        let block = unsafe unsafeBitCast(empty, to: Pointer.self)
        guard let item = unsafe DispatchLibrary.makeBlock(0, block) else { return 0 }
        defer { unsafe DispatchLibrary.releaseBlock(item) }
        return unsafe item.load(fromByteOffset: 16, as: UInt.self)
    }()

    /// Whether a block keeps all others off its queue while it runs; nil for a work item that nobody knows.
    static func isBarrier(_ block: Pointer) -> Bool? {
        guard OpenFields.areThere else { return nil }
        guard unsafe block.load(fromByteOffset: 16, as: UInt.self) == function else { return false }
        return flags.withLock { $0[UInt(bitPattern: block)] }.map { $0 & barrier != 0 }
    }

    /// Lets go of a block and forgets the flags when the work item is gone that has it.
    @safe private final class Held {
        let block: Pointer
        var item: UInt?

        init(_ block: Pointer) { unsafe self.block = block }

        deinit {
            if let item { WorkItems.flags.withLock { $0[item] = nil } }
            unsafe DispatchLibrary.releaseBlock(block)
        }
    }

    /// Makes a work item of a block.
    ///
    /// - Parameters:
    ///   - block: what it does.
    ///   - flags: its flags, as libdispatch has them.
    ///   - make: has the library make it.
    static func make(_ block: Pointer, flags: UInt, _ make: (Pointer) -> Pointer?) -> Pointer? {
        guard let (environment, _) = CarriedPlace.current, let copy = unsafe DispatchLibrary.copyBlock(block) else {
            return unsafe make(block)
        }
        let held = unsafe Held(copy)
        let carrying: @convention(block) () -> Void = {
            CarriedPlace.within(environment) {
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
