// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Who calls a function in front of which the test kit stands.
@safe enum Callers {
    private typealias Walk = @convention(c) (UnsafeMutablePointer<UInt>, Int32) -> Int32

    private static let walk: Walk = unsafe DispatchLibrary.next("backtrace")
    private static let depth = 24
    /// What begins a thread or a source for whoever calls it.
    private static let doors = ["libdispatch", "libswiftDispatch"]
    private static let thread = "$s10Foundation6ThreadC"
    /// Libraries that begin threads and sources of their own, which all tests of the process share.
    private static let libraries = ["libFoundation", "lib_Foundation", "libswift", "libcurl", "libstdc++", "libc.so"]

    /// Whether a library of the system calls for itself: `Process` has one thread for all programs that it begins, `URLSession` one
    /// queue for all requests. What that does is of no one test.
    ///
    /// - Parameter function: the function of the test kit that was called.
    static func areOfLibrary(calling function: String) -> Bool {
        var addresses = [UInt](repeating: 0, count: depth)
        let count = unsafe addresses.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe walk($0, Int32(depth)) } ?? 0
        }
        var isOutside = false
        for address in addresses.prefix(Int(count)) {
            guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address),
                let place = unsafe Symbols.place(of: pointer)
            else { continue }
            if !isOutside {
                // The test kit is in the same program as the app: what is called is known by its name, which the loader has.
                isOutside = place.image == Symbols.ownImage && place.name == function
                continue
            }
            if doors.contains(where: { place.file.hasPrefix($0) }) || place.name.hasPrefix(thread) { continue }
            return libraries.contains { place.file.hasPrefix($0) }
        }
        return false
    }
}
