// SPDX-License-Identifier: Apache-2.0
package import FleetModel

/// How to connect to a broker.
package struct MQTTSettings: Sendable {
    /// A message that the broker publishes when the connection is lost, retained.
    package struct Will: Sendable, Hashable {
        package var topic: String
        package var payload: [UInt8]

        package init(topic: String, payload: [UInt8]) {
            self.topic = topic
            self.payload = payload
        }
    }

    /// The broker.
    package var address: BrokerAddress
    /// Who this is. A broker has one connection of each.
    package var client: String
    /// Whether the broker keeps the subscriptions, and messages for them, while the client is away.
    package var keepsSession = false
    package var user: String?
    package var password: [UInt8]?
    /// The file of the authorities; nil for the system's.
    package var authorities: String?
    package var certificate: String?
    package var key: String?
    package var will: Will?
    /// The most messages that wait for their acknowledgement.
    package var inFlight = 20
    /// How often the connection is checked, in seconds.
    package var keepAlive = 30
    /// Whether a lost connection is made again.
    package var reconnects = true

    package init(address: BrokerAddress, client: String) {
        self.address = address
        self.client = client
    }
}
