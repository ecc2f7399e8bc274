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

/// What the loader knows of addresses.
@safe enum Symbols {
    /// Where an address is: the beginning and the file of its program or library, and the last name before it.
    struct Place {
        var image: UInt
        var file: Substring
        var name: String
    }

    private static let find: @convention(c) (DispatchLibrary.Pointer, DispatchLibrary.Pointer) -> Int32 =
        unsafe DispatchLibrary.next("dladdr")

    /// The program that has the test kit.
    static let ownImage: UInt = {
        let function: @convention(c) (UnsafeMutableRawPointer?) -> Void = unsafe CarriedWork.run
        return unsafe place(of: unsafeBitCast(function, to: DispatchLibrary.Pointer.self))?.image ?? 0
    }()

    /// Whether an address is in a file with this in its path. Asked often: it makes no text.
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

    /// The path of the file, its address, and the last symbol's name and address (dladdr(3)).
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
