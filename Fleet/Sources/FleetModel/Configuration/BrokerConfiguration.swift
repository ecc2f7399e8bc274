// SPDX-License-Identifier: Apache-2.0

/// How a program reaches the broker.
package struct BrokerConfiguration: Sendable, Hashable {
    /// The broker as it was named.
    package var broker = "mqtts://localhost"
    /// Whether a connection to another machine may be without encryption.
    package var allowsPlain = false
    /// What topics begin with.
    package var topics = FleetTopics.usual
    /// The file of the authorities; nil for the system's.
    package var authorities: String?
    /// The files of the client's certificate and key.
    package var certificate: String?
    package var key: String?
    /// The user; nil for a default.
    package var user: String?
    /// The file of the password.
    package var passwordFile: String?

    package init() {}

    /// The broker's address.
    package func address() throws(ConfigurationError) -> BrokerAddress {
        try BrokerAddress(broker, allowsPlain: allowsPlain)
    }

    mutating func read(_ table: inout ConfigurationTable) throws(ConfigurationError) {
        broker = try table.string("broker") ?? broker
        allowsPlain = try table.bool("allow_plain") ?? allowsPlain
        if let root = try table.string("topic_root") {
            guard let topics = FleetTopics(root: root) else {
                throw ConfigurationError("topic_root has to be names with / between them.")
            }
            self.topics = topics
        }
        (authorities, certificate, key) = try table.table("tls") { table throws(ConfigurationError) in
            (try table.file("ca"), try table.file("certificate"), try table.file("key"))
        }
        (user, passwordFile) = try table.table("login") { table throws(ConfigurationError) in
            (try table.string("user"), try table.file("password_file"))
        }
        guard (certificate == nil) == (key == nil) else {
            throw ConfigurationError("tls.certificate and tls.key belong together. Name both.")
        }
    }
}
