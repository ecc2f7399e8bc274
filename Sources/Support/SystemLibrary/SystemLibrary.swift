// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A shared library of the system, opened when it is first needed, so that a program runs where it is absent.
///
/// It stays open for as long as the process lives: what it gives stays good.
@safe public struct SystemLibrary: @unchecked Sendable {
    // Sendable because a handle of dlopen may be used from any thread.
    private let handle: UnsafeMutableRawPointer

    /// Opens the first library that is there.
    ///
    /// - Parameter names: file names with their versions, such as `libcrypto.so.3`, the best one first.
    /// - Returns: nil when none is installed.
    public init?(_ names: String...) {
        for name in names {
            if let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) {
                unsafe self.handle = handle
                return
            }
        }
        return nil
    }

    /// A function of the library.
    ///
    /// - Parameters:
    ///   - name: the function's name in C.
    ///   - type: its type, `@convention(c)`. That it is the right one is the caller's promise.
    /// - Returns: nil when the library does not have it.
    @unsafe public func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
        guard let symbol = unsafe dlsym(handle, name) else { return nil }
        return unsafe unsafeBitCast(symbol, to: Function.self)
    }
}
