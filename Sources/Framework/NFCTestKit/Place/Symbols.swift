// SPDX-License-Identifier: Apache-2.0
import Glibc

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
