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

    var description: String { Self.words(for: value) }

    /// Prints bytes in hexadecimal. As plain text, only their number would be printed.
    private static func words(for value: Any) -> String {
        if let bytes = value as? any Collection<UInt8> {
            let shown = bytes.prefix(32).map { byte in
                let digits = String(byte, radix: 16)
                return digits.count < 2 ? "0" + digits : digits
            }
            return "<\(shown.joined(separator: " "))\(bytes.count > 32 ? " …, \(bytes.count) bytes" : "")>"
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { words(for: $0.value) } ?? "nil"
        case .collection: return "[\(mirror.children.map { words(for: $0.value) }.joined(separator: ", "))]"
        default: return String(describing: value)
        }
    }
}
