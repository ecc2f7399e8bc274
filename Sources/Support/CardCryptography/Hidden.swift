// SPDX-License-Identifier: Apache-2.0

/// A value that `print`, `dump` and a debugger's summary don't show, such as the keys of a virtual card.
@propertyWrapper
public struct Hidden<Value: Hashable & Sendable>: Sendable, Hashable {
    /// The value.
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
