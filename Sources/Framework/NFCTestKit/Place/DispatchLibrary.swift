// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The functions of libdispatch that the test kit replaces.
///
/// If a program defines functions with these names, libdispatch's Swift interface, Foundation and Swift's tasks call
/// those instead of the library's. So a program with the test kit sees each block, each job of a task, and each delay.
@safe enum DispatchLibrary {
    typealias Pointer = UnsafeMutableRawPointer
    typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
    typealias Enqueue = @convention(c) (Pointer, Pointer?, Function) -> Void
    typealias EnqueueBlock = @convention(c) (Pointer, Pointer) -> Void
    typealias EnqueueInGroup = @convention(c) (Pointer, Pointer, Pointer?, Function) -> Void
    typealias After = @convention(c) (UInt64, Pointer, Pointer?, Function) -> Void
    typealias AfterBlock = @convention(c) (UInt64, Pointer, Pointer) -> Void
    typealias MakeTime = @convention(c) (UInt64, Int64) -> UInt64
    typealias MakeBlock = @convention(c) (UInt, Pointer) -> Pointer?
    typealias MakeBlockOfClass = @convention(c) (UInt, UInt32, Int32, Pointer) -> Pointer?
    typealias SetHandler = @convention(c) (Pointer, Pointer?) -> Void
    typealias SetTimer = @convention(c) (Pointer, UInt64, UInt64, UInt64) -> Void
    typealias Wait = @convention(c) (Pointer, UInt64) -> Int
    typealias Copy = @convention(c) (Pointer) -> Pointer?
    typealias Use = @convention(c) (Pointer) -> Void
    typealias Label = @convention(c) (Pointer?) -> UnsafePointer<CChar>?

    static let async: Enqueue = unsafe next("dispatch_async_f")
    static let asyncBlock: EnqueueBlock = unsafe next("dispatch_async")
    static let barrierAsync: Enqueue = unsafe next("dispatch_barrier_async_f")
    static let barrierAsyncBlock: EnqueueBlock = unsafe next("dispatch_barrier_async")
    static let notify: EnqueueInGroup = unsafe next("dispatch_group_notify_f")
    static let enter: Use = unsafe next("dispatch_group_enter")
    static let leave: Use = unsafe next("dispatch_group_leave")
    static let after: After = unsafe next("dispatch_after_f")
    static let afterBlock: AfterBlock = unsafe next("dispatch_after")
    static let time: MakeTime = next("dispatch_time")
    static let makeBlock: MakeBlock = unsafe next("dispatch_block_create")
    static let makeBlockOfClass: MakeBlockOfClass = unsafe next("dispatch_block_create_with_qos_class")
    static let setEventHandler: SetHandler = unsafe next("dispatch_source_set_event_handler")
    static let setTimer: SetTimer = unsafe next("dispatch_source_set_timer")
    static let waitForSemaphore: Wait = unsafe next("dispatch_semaphore_wait")
    static let waitForGroup: Wait = unsafe next("dispatch_group_wait")
    static let copyBlock: Copy = unsafe next("_Block_copy")
    static let releaseBlock: Use = unsafe next("_Block_release")
    static let retain: Use = unsafe next("dispatch_retain")
    static let release: Use = unsafe next("dispatch_release")
    private static let label: Label = unsafe next("dispatch_queue_get_label")

    /// The function that would be called if the program did not define this name: ThreadSanitizer's if it is in use,
    /// else the library's. -1 is `RTLD_NEXT`.
    static func next<Signature>(_ name: String) -> Signature {
        guard
            let symbol = unsafe dlsym(nil, "__interceptor_\(name)")
                ?? dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
        else {
            preconditionFailure("libdispatch has no \(name)")
        }
        return unsafe unsafeBitCast(symbol, to: Signature.self)
    }

    /// The label of the queue on which the caller runs.
    static var currentLabel: String {
        guard let text = unsafe label(nil) else { return "" }
        return unsafe String(cString: text)
    }

    /// Calls a block. Its function is the third word, after the class and two 32-bit numbers.
    static func call(_ block: Pointer) {
        let function = unsafe block.load(fromByteOffset: 16, as: Function.self)
        unsafe function(block)
    }
}
