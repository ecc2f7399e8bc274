// SPDX-License-Identifier: Apache-2.0

/// How to connect to the broker.
package struct BrokerConfiguration: Sendable, Hashable {
    /// The broker's address as configured.
    package var broker = "mqtts://localhost"
    /// Whether unencrypted connections to other machines are allowed.
    package var allowsPlain = false
    /// The topics' root.
    package var topics = FleetTopics.usual
    /// The CA file; nil for the system's certificates.
    package var authorities: String?
    /// The files of the client's certificate and key.
    package var certificate: String?
    package var key: String?
    /// The user name; nil for the default.
    package var user: String?
    /// The path of the password file.
    package var passwordFile: String?

    package init() {}

    /// Parses the broker's address.
    package func address() throws(ConfigurationError) -> BrokerAddress {
        try BrokerAddress(broker, allowsPlain: allowsPlain)
    }

    mutating func read(_ table: inout ConfigurationTable) throws(ConfigurationError) {
        broker = try table.string("broker") ?? broker
        allowsPlain = try table.bool("allow_plain") ?? allowsPlain
        if let root = try table.string("topic_root") {
            guard let topics = FleetTopics(root: root) else {
                throw ConfigurationError("topic_root must be names separated by /.")
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
            throw ConfigurationError("tls.certificate needs tls.key, and the other way round. Name both.")
        }
    }
}
