// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A shared library of the system. It is opened when it is first needed, so a program also runs without it.
///
/// It stays open until the process ends, so its functions stay valid.
@safe package struct SystemLibrary: @unchecked Sendable {
    // Sendable because a handle from `dlopen` may be used from any thread.
    private let handle: UnsafeMutableRawPointer

    /// Opens the first library that is installed.
    ///
    /// - Parameter names: file names with versions, such as `libcrypto.so.3`, the preferred one first.
    /// - Returns: nil when none is installed.
    package init?(_ names: String...) {
        for name in names {
            if let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) {
                unsafe self.handle = handle
                return
            }
        }
        return nil
    }

    /// Returns a function of the library.
    ///
    /// - Parameters:
    ///   - name: the function's name in C.
    ///   - type: its type, `@convention(c)`. The caller must make sure that it is the right one.
    /// - Returns: nil when the library does not have it.
    @unsafe package func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
        guard let symbol = unsafe dlsym(handle, name) else { return nil }
        return unsafe unsafeBitCast(symbol, to: Function.self)
    }
}
