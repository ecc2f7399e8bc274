// SPDX-License-Identifier: Apache-2.0

/// The events of a connection, reported in order.
package enum MQTTEvent: Sendable {
    /// The broker accepted the connection. Subscribe to topics now.
    ///
    /// - Parameter hasSession: whether the broker resumed an earlier session.
    case connected(hasSession: Bool)
    /// The connection was lost or could not be made. Unacknowledged messages are not sent again automatically.
    case disconnected(MQTTFailure)
    /// The broker acknowledged the messages published with these numbers.
    case acknowledged([UInt64])
    /// The broker rejected a message, usually because the client lacks permission. The number is nil if none was given.
    case dropped(UInt64?, topic: String, reason: String)
    /// The message is larger than the broker ever accepts. The number is nil if none was given.
    case oversized(UInt64?)
    /// A message arrived for a subscription.
    case message(MQTTMessage)
    /// The broker handled the subscriptions of one call, and refused the listed topics.
    case subscribed(refused: [String])
}

/// A message received for a subscription.
package struct MQTTMessage: Sendable, Hashable {
    package var topic: String
    package var payload: [UInt8]
    /// Whether the broker had retained the message.
    package var isRetained: Bool

    package init(topic: String, payload: [UInt8], isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
    }
}

/// Why there is no connection. Failures with the same code are equal.
package struct MQTTFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// The broker does not respond.
        case unreachable = "broker-unreachable"
        /// The broker refuses the client, its user name or its password.
        case refused = "broker-refused"
        /// The certificate is not trusted, or one of the client's own TLS files is unusable.
        case untrusted = "broker-untrusted"
        /// Another client connected with the same name, so the broker closed this connection.
        case taken = "name-taken"
        /// The connection was lost.
        case lost = "connection-lost"
        /// The machine was suspended.
        case suspended
        /// This program closed the connection.
        case closed
    }

    package var code: Code
    /// A sentence that says what to do.
    package var reason: String
    /// Whether the cause of the loss is known. If so, repeated losses are not blamed on a duplicate name.
    package var isExplained: Bool

    package init(_ code: Code, _ reason: String, isExplained: Bool = false) {
        self.code = code
        self.reason = reason
        self.isExplained = isExplained
    }

    package var description: String { reason }
    package static func == (left: MQTTFailure, right: MQTTFailure) -> Bool { left.code == right.code }
    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
