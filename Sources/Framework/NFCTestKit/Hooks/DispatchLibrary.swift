// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The functions of libdispatch that the test kit replaces.
///
/// If a program defines functions with these names, libdispatch's Swift interface, Foundation and Swift's tasks call
/// those instead of the library's. So a program with the test kit sees each block, each job of a task, and each delay.
/// <doc:ReplacedFunctions> lists them.
@safe enum DispatchLibrary {
    typealias Pointer = UnsafeMutableRawPointer
    typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
    typealias Enqueue = @convention(c) (Pointer, Pointer?, Function) -> Void
    typealias EnqueueBlock = @convention(c) (Pointer, Pointer) -> Void
    typealias EnqueueInGroup = @convention(c) (Pointer, Pointer, Pointer?, Function) -> Void
    typealias EnqueueBlockInGroup = @convention(c) (Pointer, Pointer, Pointer) -> Void
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
    static let groupAsync: EnqueueBlockInGroup = unsafe next("dispatch_group_async")
    static let groupNotify: EnqueueBlockInGroup = unsafe next("dispatch_group_notify")
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
            preconditionFailure("The function \(name), which a field's time needs, is missing. Link tests dynamically.")
        }
        return unsafe unsafeBitCast(symbol, to: Signature.self)
    }

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

/// The loader's information about addresses.
@safe enum Symbols {
    /// The location of an address: the base address and the file of its program or library, and the symbol before it.
    struct Place {
        var image: UInt
        var file: Substring
        var name: String
    }

    private static let find: @convention(c) (DispatchLibrary.Pointer, DispatchLibrary.Pointer) -> Int32 =
        unsafe DispatchLibrary.next("dladdr")

    /// The base address of the program that contains the test kit.
    static let ownImage: UInt = {
        let function: @convention(c) (UnsafeMutableRawPointer?) -> Void = unsafe TestWork.run
        return unsafe place(of: unsafeBitCast(function, to: DispatchLibrary.Pointer.self))?.image ?? 0
    }()

    /// Whether the path of an address's file contains a name. It is called often, so it creates no string.
    static func isIn(_ name: String, _ address: DispatchLibrary.Pointer) -> Bool {
        guard let info = unsafe information(of: address),
            let path = unsafe UnsafePointer<CChar>(bitPattern: info.path)
        else { return false }
        return unsafe strstr(path, name) != nil
    }

    static func place(of address: DispatchLibrary.Pointer) -> Place? {
        guard let info = unsafe information(of: address) else { return nil }
        let path = text(at: info.path)
        let file = path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
        return Place(image: info.image, file: file, name: text(at: info.name))
    }

    /// The path of the file, its base address, and the last symbol's name and address (dladdr(3)).
    private static func information(
        of address: DispatchLibrary.Pointer
    ) -> (path: UInt, image: UInt, name: UInt, address: UInt)? {
        var info: (path: UInt, image: UInt, name: UInt, address: UInt) = (0, 0, 0, 0)
        let status = unsafe withUnsafeMutablePointer(to: &info) { info in
            unsafe find(address, DispatchLibrary.Pointer(info))
        }
        return status != 0 ? info : nil
    }

    private static func text(at address: UInt) -> String {
        unsafe UnsafePointer<CChar>(bitPattern: address).map { unsafe String(cString: $0) } ?? ""
    }
}

/// Finds the caller of a function that the test kit replaces.
@safe enum Callers {
    private typealias Walk = @convention(c) (UnsafeMutablePointer<UInt>, Int32) -> Int32

    private static let walk: Walk = unsafe DispatchLibrary.next("backtrace")
    private static let depth = 24
    /// Libraries that start a thread or a source for their caller.
    private static let doors = ["libdispatch", "libswiftDispatch"]
    private static let thread = "$s10Foundation6ThreadC"
    /// Libraries that start their own threads and sources. All tests of the process share these.
    private static let libraries = ["libFoundation", "lib_Foundation", "libswift", "libcurl", "libstdc++", "libc.so"]

    /// Whether a system library makes the call for itself: `Process` has one thread for all its child processes, and
    /// `URLSession` one queue for all requests. Their work does not belong to one test.
    ///
    /// - Parameter function: the test kit's function that was called.
    static func areOfLibrary(calling function: String) -> Bool {
        let addresses = unsafe [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
            if let start = buffer.baseAddress { count = unsafe Int(walk(start, Int32(depth))) }
        }
        var isOutside = false
        for address in addresses {
            guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address),
                let place = unsafe Symbols.place(of: pointer)
            else { continue }
            if !isOutside {
                // The test kit is in the same program as the app. So the called function is found by its name, which
                // the loader knows.
                isOutside = place.image == Symbols.ownImage && place.name == function
                continue
            }
            if doors.contains(where: { place.file.hasPrefix($0) }) || place.name.hasPrefix(thread) { continue }
            return libraries.contains { place.file.hasPrefix($0) }
        }
        return false
    }
}
