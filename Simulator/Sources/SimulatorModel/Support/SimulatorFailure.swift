// SPDX-License-Identifier: Apache-2.0

/// Why the simulator did not perform a request.
public struct SimulatorFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// A code for programs, such as `no-such-tag`.
    public var code: String
    /// Sentences that say what is wrong and what to do.
    public var message: String
    /// The position of a collision between tags that answered at the same time. For programs that send frames.
    var collision: [String: JSON]?

    /// Creates a failure.
    public init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }

    static func invalid(_ message: String) -> SimulatorFailure { SimulatorFailure("invalid-request", message) }
}

extension JSON {
    /// The value of a member that may be missing or null.
    ///
    /// - Parameters:
    ///   - key: the name of the member.
    ///   - value: returns the value of the expected type; nil for any other type.
    ///   - type: the expected type, for the message of the failure.
    func optional<Value>(
        _ key: String,
        _ value: (JSON) -> Value?,
        _ type: String
    ) throws(SimulatorFailure) -> Value? {
        guard let member = self[key], !member.isNull else { return nil }
        guard let value = value(member) else { throw .invalid("\"\(key)\" must be \(type).") }
        return value
    }
}
