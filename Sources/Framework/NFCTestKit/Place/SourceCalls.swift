// SPDX-License-Identifier: Apache-2.0
import NFCSessions

/// Handlers of timers, files and sockets that belong to a test, also if work sets them that it has left behind. These take
/// real time, which can't be counted.
@safe enum SourceHandlers {
    typealias Pointer = DispatchLibrary.Pointer

    /// Keeps a block for as long as its source has it.
    @safe private final class Held {
        let block: Pointer
        init(_ block: Pointer) { unsafe self.block = block }
        deinit { unsafe DispatchLibrary.releaseBlock(block) }
    }

    static func set(_ source: Pointer, _ block: Pointer?) {
        guard let block = unsafe block, let (environment, place) = CurrentTest.owner else {
            return unsafe DispatchLibrary.setEventHandler(source, block)
        }
        place.noteSource()
        guard !Callers.areOfLibrary(calling: "dispatch_source_set_event_handler"),
            let copy = unsafe DispatchLibrary.copyBlock(block)
        else {
            return unsafe DispatchLibrary.setEventHandler(source, block)
        }
        let held = unsafe Held(copy)
        let carrying: @convention(block) () -> Void = {
            place.begins(wasQueued: false)
            CurrentTest.within(CarriedScope(environment, in: CurrentTest.scope, lasts: true)) {
                NFCEnvironment.$scoped.withValue(environment) { unsafe DispatchLibrary.call(held.block) }
            }
            place.ends()
        }
        withExtendedLifetime(carrying) {
            unsafe DispatchLibrary.setEventHandler(source, unsafeBitCast(carrying, to: Pointer.self))
        }
    }
}

@_cdecl("dispatch_source_set_event_handler")
package func carryHandler(_ source: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer?) {
    unsafe SourceHandlers.set(source, block)
}

@_cdecl("dispatch_source_set_timer")
package func noteTimer(_ source: UnsafeMutableRawPointer, _ start: UInt64, _ interval: UInt64, _ leeway: UInt64) {
    CurrentTest.current?.place.noteSource()
    unsafe DispatchLibrary.setTimer(source, start, interval, leeway)
}

/// Foundation's `Timer` calls it.
@_cdecl("CFRunLoopAddTimer")
package func noteRunLoopTimer(_ loop: UnsafeRawPointer?, _ timer: UnsafeRawPointer?, _ mode: UnsafeRawPointer?) {
    CurrentTest.current?.place.noteSource()
    unsafe RunLoopSources.addTimer(loop, timer, mode)
}

/// Foundation's `Process`, ports and streams call it.
@_cdecl("CFRunLoopAddSource")
package func noteRunLoopSource(_ loop: UnsafeRawPointer?, _ source: UnsafeRawPointer?, _ mode: UnsafeRawPointer?) {
    CurrentTest.current?.place.noteSource()
    unsafe RunLoopSources.addSource(loop, source, mode)
}

/// Foundation's own functions that the two above replace.
@safe private enum RunLoopSources {
    typealias Add = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?) -> Void

    static let addTimer: Add = unsafe DispatchLibrary.next("CFRunLoopAddTimer")
    static let addSource: Add = unsafe DispatchLibrary.next("CFRunLoopAddSource")
}
