// SPDX-License-Identifier: Apache-2.0

/// What a connection reports, in order.
package enum MQTTEvent: Sendable {
    /// The broker has accepted the connection. Subscriptions have to be made now.
    ///
    /// - Parameter hasSession: whether the broker has kept a session.
    case connected(hasSession: Bool)
    /// The connection was lost, or could not be made. Nothing that was not acknowledged is sent again.
    case disconnected(MQTTFailure)
    /// The broker has acknowledged the messages that were published with these numbers.
    case acknowledged([UInt64])
    /// The broker does not take a message, because this client may not publish it. The number is nil when none was given.
    case dropped(UInt64?, reason: String)
    /// The broker takes no message of this size, also later. The number is nil when none was given.
    case oversized(UInt64?)
    /// A message of a subscription.
    case message(MQTTMessage)
    /// The broker has made all subscriptions of a call; it refused those in the list.
    case subscribed(refused: [String])
}

/// A message of a subscription.
package struct MQTTMessage: Sendable, Hashable {
    package var topic: String
    package var payload: [UInt8]
    /// Whether the broker had kept it.
    package var isRetained: Bool

    package init(topic: String, payload: [UInt8], isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
    }
}

/// Why there is no connection. Two failures with the same code are equal.
package struct MQTTFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// Nobody answers.
        case unreachable = "broker-unreachable"
        /// The broker refuses the client, its user or its password.
        case refused = "broker-refused"
        /// The certificate can't be trusted, or a file of the own one can't be used.
        case untrusted = "broker-untrusted"
        /// Another client has connected under the same name, so the broker has ended this connection.
        case taken = "name-taken"
        /// The connection was lost.
        case lost = "connection-lost"
        /// The machine was suspended.
        case suspended
        /// It was closed from here.
        case closed
    }

    package var code: Code
    /// A sentence that says what to do.
    package var reason: String
    /// Whether the cause of a loss is known, so that no other one is supposed when it happens again and again.
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
