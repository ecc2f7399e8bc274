// SPDX-License-Identifier: Apache-2.0
import SystemLibrary

/// A key in memory of its own, which is overwritten when nobody holds it any more and never printed.
///
/// The bytes never move, so that no copy of them stays behind. What is made of them, such as an array that is taken out, is a
/// copy of its own that is not overwritten.
@safe public final class SecretBytes: @unchecked Sendable {
    // Sendable because the memory is written before and after, and never while, others hold it.
    private let memory: UnsafeMutableRawBufferPointer

    /// Copies a key.
    public init(_ bytes: some Sequence<UInt8>) {
        var bytes = Array(bytes)
        unsafe memory = .allocate(byteCount: bytes.count, alignment: 1)
        unsafe memory.copyBytes(from: bytes)
        unsafe bytes.withUnsafeMutableBytes { unsafe MemoryWipe.wipe($0) }
    }

    deinit {
        unsafe MemoryWipe.wipe(memory)
        unsafe memory.deallocate()
    }

    /// How many bytes there are.
    public var count: Int { unsafe memory.count }

    /// A copy of the bytes.
    public var bytes: [UInt8] { unsafe Array(memory) }

    /// Lends the bytes to a call.
    func withBytes<Result>(_ body: (UnsafePointer<UInt8>?) -> Result) -> Result {
        unsafe body(memory.bindMemory(to: UInt8.self).baseAddress.map { unsafe UnsafePointer($0) })
    }
}

extension SecretBytes: Hashable {
    /// Compares in a time that does not depend on the bytes.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        // mutate: equivalent, because being equal has no direction.
        ConstantTime.areEqual(left.bytes, right.bytes)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many bytes there are, and none of them.
    public var description: String { "\(count) bytes, not shown" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A value that `print`, `dump` and a debugger's summary don't show, such as the keys of a virtual card.
@propertyWrapper
public struct Hidden<Value: Hashable & Sendable>: Sendable, Hashable {
    /// The value.
    public var wrappedValue: Value

    /// Hides a value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension Hidden: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That there is something, and not what.
    public var description: String { "not shown" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
