// SPDX-License-Identifier: Apache-2.0

/// What a flow returned.
struct FlowResult: Sendable, CustomStringConvertible {
    private let value: any Sendable
    private let equals: @Sendable (any Sendable) -> Bool

    init<Value: Equatable & Sendable>(_ value: Value) {
        self.value = value
        equals = { ($0 as? Value) == value }
    }

    func isEqual(to other: FlowResult) -> Bool { equals(other.value) }

    var description: String { String(describing: value) }
}
