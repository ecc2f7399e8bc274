// SPDX-License-Identifier: Apache-2.0
package import FleetModel

/// Settings for connecting to a broker.
package struct MQTTSettings: Sendable {
    /// A retained message that the broker publishes when the connection is lost.
    package struct Will: Sendable, Hashable {
        package var topic: String
        package var payload: [UInt8]

        package init(topic: String, payload: [UInt8]) {
            self.topic = topic
            self.payload = payload
        }
    }

    /// The broker's address.
    package var address: BrokerAddress
    /// The client ID. A broker allows one connection per ID.
    package var client: String
    /// Whether the broker keeps subscriptions and their messages while the client is disconnected.
    package var keepsSession = false
    package var user: String?
    package var password: [UInt8]?
    /// The CA file; nil for the system's certificates.
    package var authorities: String?
    package var certificate: String?
    package var key: String?
    package var will: Will?
    /// The maximum number of messages awaiting acknowledgement.
    package var inFlight = 20
    /// The keep-alive interval in seconds.
    package var keepAlive = 30
    /// Whether a lost connection is re-established.
    package var reconnects = true

    /// Describes the user that the broker's access list applies to.
    package var login: String {
        if let user { return "the user \(user)" }
        return certificate == nil ? "clients without a user" : "the user of the client certificate"
    }

    package init(address: BrokerAddress, client: String) {
        self.address = address
        self.client = client
    }
}
