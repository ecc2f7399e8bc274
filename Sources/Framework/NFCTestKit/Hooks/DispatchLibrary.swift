// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// The original functions of libdispatch that the test kit replaces.
///
/// If a program defines functions with these names, libdispatch's Swift interface, Foundation and Swift's tasks call
/// the program's functions instead of the library's. This lets the test kit track each block, each job of a task, and
/// each delay. `Documentation/Explanation/ReplacedFunctions.md` lists the functions.
@safe enum DispatchLibrary {
    typealias Pointer = UnsafeMutableRawPointer
    typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
    typealias Enqueue = @convention(c) (Pointer, Pointer?, Function) -> Void
    typealias EnqueueBlock = @convention(c) (Pointer, Pointer) -> Void
    typealias EnqueueBlockInGroup = @convention(c) (Pointer, Pointer, Pointer) -> Void
    typealias Wait = @convention(c) (Pointer, UInt64) -> Int
    typealias Use = @convention(c) (Pointer) -> Void

    static let async: Enqueue = unsafe next("dispatch_async_f")
    static let asyncBlock: EnqueueBlock = unsafe next("dispatch_async")
    static let barrierAsync: Enqueue = unsafe next("dispatch_barrier_async_f")
    static let barrierAsyncBlock: EnqueueBlock = unsafe next("dispatch_barrier_async")
    static let groupAsync: EnqueueBlockInGroup = unsafe next("dispatch_group_async")
    static let groupNotify: EnqueueBlockInGroup = unsafe next("dispatch_group_notify")
    static let notify: @convention(c) (Pointer, Pointer, Pointer?, Function) -> Void =
        unsafe next("dispatch_group_notify_f")
    static let enter: Use = unsafe next("dispatch_group_enter")
    static let leave: Use = unsafe next("dispatch_group_leave")
    static let after: @convention(c) (UInt64, Pointer, Pointer?, Function) -> Void = unsafe next("dispatch_after_f")
    static let afterBlock: @convention(c) (UInt64, Pointer, Pointer) -> Void = unsafe next("dispatch_after")
    static let time: @convention(c) (UInt64, Int64) -> UInt64 = next("dispatch_time")
    static let makeBlock: @convention(c) (UInt, Pointer) -> Pointer? = unsafe next("dispatch_block_create")
    static let makeBlockOfClass: @convention(c) (UInt, UInt32, Int32, Pointer) -> Pointer? =
        unsafe next("dispatch_block_create_with_qos_class")
    static let createSource: @convention(c) (Pointer, UInt, UInt, Pointer?) -> Pointer? =
        unsafe next("dispatch_source_create")
    static let cancelSource: Use = unsafe next("dispatch_source_cancel")
    static let activate: Use = unsafe next("dispatch_activate")
    static let resume: Use = unsafe next("dispatch_resume")
    static let suspend: Use = unsafe next("dispatch_suspend")
    static let setContext: @convention(c) (Pointer, Pointer?) -> Void = unsafe next("dispatch_set_context")
    static let setFinalizer: @convention(c) (Pointer, Function) -> Void = unsafe next("dispatch_set_finalizer_f")
    static let globalQueue: @convention(c) (Int, UInt) -> Pointer? = unsafe next("dispatch_get_global_queue")
    static let setEventHandler: @convention(c) (Pointer, Pointer?) -> Void =
        unsafe next("dispatch_source_set_event_handler")
    static let setTimer: @convention(c) (Pointer, UInt64, UInt64, UInt64) -> Void =
        unsafe next("dispatch_source_set_timer")
    static let signal: @convention(c) (Pointer) -> Int = unsafe next("dispatch_semaphore_signal")
    static let waitForSemaphore: Wait = unsafe next("dispatch_semaphore_wait")
    static let waitForGroup: Wait = unsafe next("dispatch_group_wait")
    static let copyBlock: @convention(c) (Pointer) -> Pointer? = unsafe next("_Block_copy")
    static let releaseBlock: Use = unsafe next("_Block_release")
    static let retain: Use = unsafe next("dispatch_retain")
    static let release: Use = unsafe next("dispatch_release")
    private static let label: @convention(c) (Pointer?) -> UnsafePointer<CChar>? =
        unsafe next("dispatch_queue_get_label")

    /// Returns the function that would be called if the program did not define this name.
    static func next<Signature>(_ name: String) -> Signature {
        guard let symbol = unsafe symbol(name) else {
            preconditionFailure(
                "The test kit replaces \(name), but the system has no such function. Link tests dynamically."
            )
        }
        return unsafe unsafeBitCast(symbol, to: Signature.self)
    }

    /// Returns the address of ThreadSanitizer's function if it is in use, or else of the library's. -1 is `RTLD_NEXT`.
    fileprivate static func symbol(_ name: String) -> Pointer? {
        unsafe dlsym(nil, "__interceptor_\(name)") ?? dlsym(Pointer(bitPattern: -1), name)
    }

    static var currentLabel: String {
        guard let text = unsafe label(nil) else { return "" }
        return unsafe String(cString: text)
    }

    /// Calls a block. The block's function is at offset 16, after the class and two 32-bit numbers.
    static func call(_ block: Pointer) {
        let function = unsafe block.load(fromByteOffset: 16, as: Function.self)
        unsafe function(block)
    }
}

/// Whether the test kit's functions are called instead of the system's. If not, fields use real time.
@safe package enum ReplacedFunctions {
    /// Returns why the functions can't be replaced; nil when they are replaced. Tests set another closure.
    @TaskLocal package static var probe: @Sendable () -> String? = { problem }

    /// The functions for queues and waits that must be replaced to control a field's time.
    private static let replaced = [
        "dispatch_async", "dispatch_async_f", "dispatch_after", "dispatch_after_f", "dispatch_time",
        "dispatch_semaphore_wait", "dispatch_semaphore_signal", "dispatch_group_wait", "dispatch_group_leave",
    ]
    private static let called = ["_Block_copy", "_Block_release", "dladdr", "backtrace"]

    private static let problem: String? = {
        if let name = (replaced + called).first(where: { unsafe DispatchLibrary.symbol($0) == nil }) {
            return "the system's libraries have no \(name)"
        }
        let original = replaced.first { name in
            // Libraries call the first function with this name in the process.
            let first = unsafe dlsym(nil, name)
            return unsafe first.flatMap { unsafe Symbols.location(of: $0)?.image } != Symbols.ownImage
        }
        return original.map { "the library's own \($0) is called" }
    }()

    private static let printed = PrintedLines()

    /// Checks whether the functions are replaced. If not, reports the reason once on standard error.
    static var areInEffect: Bool {
        guard let problem = probe() else { return true }
        let line = """
            NFCTestKit: fields use real time, because the functions of Dispatch can't be replaced: \(problem). Delays and \
            the limits of sessions take as long as on a phone.

            """
        if printed.add(line) { OutputDescriptor.standardError.write(line) }
        return false
    }
}

/// The loader's information about addresses.
@safe enum Symbols {
    /// The base address and the file of the program or library at an address, and the nearest symbol before it.
    struct Location {
        var image: UInt
        var file: Substring
        var name: String
    }

    private static let find: @convention(c) (DispatchLibrary.Pointer, DispatchLibrary.Pointer) -> Int32 =
        unsafe DispatchLibrary.next("dladdr")

    /// The base address of the program that contains the test kit.
    static let ownImage: UInt = {
        let function: @convention(c) (UnsafeMutableRawPointer?) -> Void = unsafe TestWork.run
        return unsafe location(of: unsafeBitCast(function, to: DispatchLibrary.Pointer.self))?.image ?? 0
    }()

    /// Returns whether the path of an address's file contains a name. Called often, so it creates no string.
    static func isIn(_ name: String, _ address: DispatchLibrary.Pointer) -> Bool {
        guard let info = unsafe information(of: address),
            let path = unsafe UnsafePointer<CChar>(bitPattern: info.path)
        else { return false }
        return unsafe strstr(path, name) != nil
    }

    static func location(of address: DispatchLibrary.Pointer) -> Location? {
        guard let info = unsafe information(of: address) else { return nil }
        let path = text(at: info.path)
        let file = path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
        return Location(image: info.image, file: file, name: text(at: info.name))
    }

    /// Returns the file's path and base address, and the nearest symbol's name and address (dladdr(3)).
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
    /// Libraries that start threads or sources on behalf of their caller.
    private static let doors = ["libdispatch", "libswiftDispatch"]
    private static let thread = "$s10Foundation6ThreadC"
    /// Libraries that start their own threads and sources. All tests of the process share these.
    static let libraries = ["libFoundation", "lib_Foundation", "libswift", "libcurl", "libstdc++", "libc.so"]

    /// Returns whether a system library makes the call for itself, so that the work belongs to no test. For example,
    /// `Process` has one thread for all child processes, and `URLSession` has one queue for all requests.
    static func belongToLibrary(calling function: String) -> Bool {
        let addresses = unsafe [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
            if let start = buffer.baseAddress { count = unsafe Int(walk(start, Int32(depth))) }
        }
        var isPastFunction = false
        for address in addresses {
            guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address),
                let location = unsafe Symbols.location(of: pointer)
            else { continue }
            if !isPastFunction {
                // The test kit is in the same program as the app, so its function is recognized by name.
                isPastFunction = location.image == Symbols.ownImage && location.name == function
                continue
            }
            if doors.contains(where: { location.file.hasPrefix($0) }) || location.name.hasPrefix(thread) { continue }
            return libraries.contains { location.file.hasPrefix($0) }
        }
        return false
    }
}
