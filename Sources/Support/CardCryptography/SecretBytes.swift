// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// A key in its own memory, which is overwritten when the last reference to it is released. It is never printed.
///
/// The bytes never move, so no copy of them stays behind. But a value that is made from them, such as the array in
/// ``bytes``, is a separate copy, and is not overwritten.
@safe public final class SecretBytes: @unchecked Sendable {
    // Sendable because the memory is only written in `init` and `deinit`, when no other thread has a reference.
    private let memory: UnsafeMutableRawBufferPointer

    /// Copies a key, straight from where it is: no other copy of it is made on the way.
    public init(_ bytes: some Collection<UInt8>) {
        unsafe memory = .allocate(byteCount: bytes.count, alignment: 1)
        unsafe memory.copyBytes(from: bytes)
    }

    deinit {
        unsafe ocn_wipe(memory.baseAddress, UInt(memory.count))
        unsafe memory.deallocate()
    }

    /// The number of bytes.
    public var count: Int { unsafe memory.count }

    /// A copy of the bytes.
    public var bytes: [UInt8] { unsafe Array(memory) }

    /// Calls a function with a pointer to the bytes.
    func withBytes<Result>(_ body: (UnsafePointer<UInt8>?) -> Result) -> Result {
        unsafe body(memory.bindMemory(to: UInt8.self).baseAddress.map { unsafe UnsafePointer($0) })
    }
}

extension SecretBytes: Hashable {
    /// Compares in constant time.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        ConstantTime.areEqual(left.bytes, right.bytes)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of bytes, without their values.
    public var description: String { "\(count) bytes, not shown" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
