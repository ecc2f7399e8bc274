// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// A key in its own memory, which is overwritten when the last reference to it is released. It is never printed.
///
/// A value made from the key, such as the array in ``bytes``, is a separate copy and is not overwritten.
@safe public final class SecretBytes: @unchecked Sendable {
    // Sendable because the memory is only written in `init` and `deinit`, when no other thread has a reference.
    private let memory: UnsafeMutableRawBufferPointer

    /// Copies a key directly, without an intermediate copy.
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

/// A value that `print`, `dump` and a debugger's summary don't show, such as the keys of a virtual card.
@propertyWrapper
public struct Hidden<Value: Hashable & Sendable>: Sendable, Hashable {
    /// The hidden value.
    public var wrappedValue: Value

    /// Hides a value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension Hidden: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the value.
    public var description: String { "not shown" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Comparisons whose time does not depend on the data, so that an attacker can't find a secret byte by byte.
public enum ConstantTime {
    /// Returns whether two codes are equal. The time still depends on their lengths.
    @inline(never)
    public static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (first, second) in zip(left, right) { difference |= first ^ second }
        return difference == 0
    }
}
