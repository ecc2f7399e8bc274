// SPDX-License-Identifier: Apache-2.0
import Glibc

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
