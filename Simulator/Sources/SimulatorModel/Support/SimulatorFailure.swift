// SPDX-License-Identifier: Apache-2.0

/// Why the simulator does not do what it was asked.
public struct SimulatorFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// A name for programs, such as `no-such-tag`.
    public var code: String
    /// Sentences that say what is wrong and what to do.
    public var message: String
    /// Where tags differed that answered at once, for programs that send frames.
    var collision: [String: JSON]?

    /// Creates a failure.
    public init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }

    static func invalid(_ message: String) -> SimulatorFailure { SimulatorFailure("invalid-request", message) }
}
